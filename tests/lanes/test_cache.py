"""Generated code is compiled once, found by later processes, and never stale. Each test runs real processes."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.lanes import cache, reach

PACKAGE = Path(pliant.__file__).parent

# One stretched cell under gravity, a few steps; prints the bits of the positions.
SIMULATE = """
import sys
import numpy as np
import pliant as pl
mesh = pl.shapes.box(cells=1)
scene = pl.Scene()
body = scene.add_solid(mesh, pl.StableNeoHookean({mu}, 3e4))
body.pin(mesh.points[:, 2] > 0.4)
body.set_positions(mesh.points * [1.2, 0.9, 1.1])
simulation = pl.Simulation(scene, pl.VBD(iterations=10), threads=1)
simulation.advance()
sys.stdout.write(simulation.positions.tobytes().hex())
"""

# A small generated module that calls a function of another room, and the text of a law.
SMALL = """
import sys
from pliant.lanes.cache import load_module
from pliant.materials import StableNeoHookean
from pliant.materials.calculus import law_code
text = '''
from pliant.lanes.entry import entry
from pliant.lanes.vectors import dot
@entry()
def norm2(x, y, z):
    return dot((x, y, z), (x, y, z))
'''
norm2 = load_module("small", text, "a small test").norm2
energy = law_code(StableNeoHookean).functions.energy_density(5.0, 9.0, 1.0, 1.0, 1.0)
sys.stdout.write(f"{norm2(1.0, 2.0, 3.0)} {energy}")
"""


def run(code: str, cache_folder: Path, source: Path = PACKAGE.parent) -> tuple[str, str]:
    """Run Python code with a cache folder and Pliant from `source`: standard output and standard error."""
    folders = {"PLIANT_CACHE_DIR": str(cache_folder), "PYTHONPATH": str(source), "TMPDIR": str(cache_folder.parent)}
    environment = os.environ | folders | {"PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-c", code]
    result = subprocess.run(
        command, env=environment, cwd=cache_folder.parent, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout, result.stderr


def positions(output: str) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(output)).reshape(-1, 3)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the package to be edited; its folder."""
    shutil.copytree(PACKAGE, tmp_path / "copy" / "pliant", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "copy"


def edit(source: Path, file: str, old: str, new: str) -> None:
    path = source / "pliant" / file
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_edited_sources_are_seen(copied: Path, tmp_path: Path) -> None:
    """A function that generated code calls, and the formula of a law: an edit of either gives the new result."""
    cache = tmp_path / "cache"
    assert run(SMALL, cache, copied)[0] == "14.0 1.0"
    again, messages = run(SMALL, cache, copied)
    assert again == "14.0 1.0"
    assert "compiling" not in messages
    edit(copied, "lanes/vectors.py", "return a[0] * b[0] + a[1] * b[1]", "return a[0] * b[0] + 10 * a[1] * b[1]")
    edit(copied, "materials/stable_neo_hookean.py", "return mu / 2 * (I - 3)", "return mu * (I - 3)")
    edited, messages = run(SMALL, cache, copied)
    assert edited == "50.0 2.0"
    assert messages.count("compiling what this scene needs") == 1
    assert len([path for path in cache.iterdir() if path.is_dir()]) == 2


@pytest.mark.slow
def test_second_process_finds_the_compiled_kernel(tmp_path: Path) -> None:
    """The first process reports once that it compiles, the second does not compile, and both give the same bits."""
    code = SIMULATE.format(mu="2e4")
    first, said_first = run(code, tmp_path / "cache")
    second, said_second = run(code, tmp_path / "cache")
    assert said_first.count("compiling") == 1
    assert len(list((tmp_path / "cache").glob("*/vbd_*.sweep-*.nbc"))) == 1
    assert "compiling" not in said_second
    assert first == second
    assert np.isfinite(positions(first)).all()


@pytest.mark.slow
def test_edited_law_moves_bodies_otherwise(copied: Path, tmp_path: Path) -> None:
    """A law edited to use 2 mu gives what the law as it was gives for twice the mu, with one cache folder."""
    cache = tmp_path / "cache"
    before = positions(run(SIMULATE.format(mu="2e4"), cache, copied)[0])
    file, formula = "materials/stable_neo_hookean.py", "return mu / 2 * (I - 3) - mu * (J - 1) + (lam + mu) / 2"
    doubled = positions(run(SIMULATE.format(mu="4e4"), cache, copied)[0])
    edit(copied, file, formula, "mu = 2 * mu\n        " + formula)
    after = positions(run(SIMULATE.format(mu="2e4"), cache, copied)[0])
    assert np.abs(after - before).max() > 1e-3
    np.testing.assert_allclose(after, doubled, atol=1e-5)


FINGERPRINT = "from pliant.lanes.cache import fingerprint; print(fingerprint())"


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("model/obstacles.py", "FRICTION, ROW_LENGTH = 12, 13, 15, 16", "FRICTION, ROW_LENGTH = 12, 13, 16, 17"),
        ("geometry/surface.py", "TET_FACES = ((0, 2, 1), (0, 1, 3)", "TET_FACES = ((0, 1, 2), (0, 1, 3)"),
    ],
    ids=["obstacles", "surface"],
)
def test_constants_frozen_into_contact_code_change_the_fingerprint(
    copied: Path, tmp_path: Path, file: str, old: str, new: str
) -> None:
    before, _ = run(FINGERPRINT, tmp_path / "cache", copied)
    assert run(FINGERPRINT, tmp_path / "cache", copied)[0] == before
    edit(copied, file, old, new)
    assert run(FINGERPRINT, tmp_path / "cache", copied)[0] != before


def imported(path: Path) -> set[str]:
    """Modules of Pliant that a file imports, wherever in it, and their packages."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "pliant":
            names |= {f"{node.module}", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if alias.name.split(".")[0] == "pliant"}
    return (names | {name.rpartition(".")[0] for name in names}) - {"pliant"}


def module_name(path: Path) -> str:
    return ".".join(["pliant", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")


def test_fingerprint_covers_all_that_compiled_code_can_reach() -> None:
    """What the rooms that write kernels import, and what that imports; no room beyond compiles for Pliant's cache."""
    files = {module_name(path): path for path in PACKAGE.rglob("*.py")}
    covered = {module_name(path) for path in cache.sources()}
    reached = {name for name in files if name.split(".")[1:2] in (["kernels"], ["contact"])}
    queue = list(reached)
    while queue:
        found = {name for name in imported(files[queue.pop()]) if name in files} - reached
        reached |= found
        queue += found
    assert "pliant.model.obstacles" in reached
    without_code = {f"pliant.{name}" for name in ("arguments", "errors", "garbage", "progress", "sparse", "state")}
    assert reached - without_code <= covered
    beyond = [path.read_text() for name, path in files.items() if name not in covered]
    assert not [text for text in beyond if "lanes.inner import" in text or "import load_module" in text]


def test_reach_follows_every_import_statement() -> None:
    """A pattern, which is fast, finds all that Python's parser finds (and imports in texts of generated code)."""
    for path in PACKAGE.rglob("*.py"):
        named = {name for name in reach.imported(path.read_text()) if reach.file_of(name) is not None}
        parsed = {name for name in imported(path) if reach.file_of(name) is not None}
        packages = {name.rpartition(".")[0] for name in named}  # which parsed names come with
        assert parsed <= named | packages, path


def test_an_edit_changes_the_digest_of_what_reaches_it_and_nothing_else(tmp_path: Path) -> None:
    """a imports b, inside a function; c stands alone.  Nothing of them is a package."""
    text = {"a_of_reach": "def f():\n    from b_of_reach import (\n        g,\n    )\n", "b_of_reach": "g = 1\n"}
    for name, content in {**text, "c_of_reach": "h = 1\n"}.items():
        (tmp_path / f"{name}.py").write_text(content)
    print_digests = "; ".join(
        [
            "import sys; from pathlib import Path; from pliant.lanes.reach import reach_digest",
            f"folder = Path({str(tmp_path)!r}); sys.path.append(str(folder))",
            "print(*(reach_digest(folder / (name + '_of_reach.py')) for name in 'abc'))",
        ]
    )
    before = run(print_digests, tmp_path / "cache")[0].split()
    (tmp_path / "b_of_reach.py").write_text("g = 2\n")
    after = run(print_digests, tmp_path / "cache")[0].split()
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, False, True]


@pytest.mark.slow
def test_an_edit_out_of_reach_compiles_nothing_again(copied: Path, tmp_path: Path) -> None:
    """A scene without contact does not notice an edit of contact detection; the code is taken over, bit for bit."""
    cache_folder = tmp_path / "cache"
    before, _ = run(SIMULATE.format(mu="2e4"), cache_folder, copied)
    edit(copied, "contact/detector.py", "annotations\n", "annotations\n\nEDITED = True\n")
    after, messages = run(SIMULATE.format(mu="2e4"), cache_folder, copied)
    assert len(list(cache_folder.glob("*/last_used"))) == 2
    assert "compiling" not in messages
    assert after == before


SLOW_MODULE = """
import threading, time
from pliant.lanes.cache import load_module
text = "import time; time.sleep(0.5); answer = 42"
found = []
def load():
    found.append(load_module("slow", text, "a slow module").answer)
threads = [threading.Thread(target=load) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(found)
"""


def test_threads_see_a_generated_module_only_when_it_has_run(tmp_path: Path) -> None:
    assert run(SLOW_MODULE, tmp_path / "cache")[0].strip() == "[42, 42, 42, 42]"


TWO_SIMULATIONS = """
import threading
import numpy as np
import pliant as pl

def simulate(law):
    mesh = pl.shapes.box(cells=1)
    scene = pl.Scene()
    body = scene.add_solid(mesh, law(2e4, 3e4))
    body.pin(mesh.points[:, 2] > 0.4)
    body.set_positions(mesh.points * [1.2, 0.9, 1.1])
    simulation = pl.Simulation(scene, pl.VBD(iterations=10), threads=2)
    simulation.advance()
    return simulation.positions.tobytes()

laws = [pl.StableNeoHookean, pl.NeoHookean, pl.StableNeoHookean]
results = [None] * len(laws)
def work(k):
    results[k] = simulate(laws[k])
threads = [threading.Thread(target=work, args=(k,)) for k in range(len(laws))]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(results == [simulate(law) for law in laws], results[0] == results[2], results[0] != results[1])
"""


@pytest.mark.slow
def test_simulations_in_threads_give_the_bits_of_simulations_in_turn(tmp_path: Path) -> None:
    """Three at once with an empty cache, two of them of the same law."""
    assert run(TWO_SIMULATIONS, tmp_path / "cache")[0].strip() == "True True True"


RATIO = "return area, -(dot(area, a) * inverse_6v)"
SOLVE = "x, doubtful = solve_by_cofactors(H, f)"
NO_MOTION = "return (f[0] - f[0], f[0] - f[0], f[0] - f[0]), f[0] == 0.0"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [("elements/tet.py", RATIO, RATIO + " + 0.1"), ("kernels/local_solve.py", SOLVE, NO_MOTION)],
    ids=["element", "kernel"],
)
def test_edited_physics_moves_bodies_otherwise(copied: Path, tmp_path: Path, file: str, old: str, new: str) -> None:
    """An element that sees 0.1 more volume, and a local solve that never moves."""
    cache = tmp_path / "cache"
    before = positions(run(SIMULATE.format(mu="2e4"), cache, copied)[0])
    edit(copied, file, old, new)
    after, messages = run(SIMULATE.format(mu="2e4"), cache, copied)
    assert "compiling" in messages
    assert np.abs(positions(after) - before).max() > 1e-3


PRUNE = """
import os, time
from pliant.lanes import cache
cache.cached_text("note", "key", lambda: "text")
root = cache.cache_folder()
for name, days in (("old", 40), ("young", 1)):
    (root / name).mkdir()
    stamp = root / name / "last_used"
    stamp.write_text("")
    os.utime(stamp, (time.time() - days * 86400,) * 2)
names = lambda: sorted("this" if f.name == cache.fingerprint() else f.name for f in cache.generations())
print(names(), cache.prune(30), names(), cache.prune(-1), names(), cache.size_in_bytes() > 0)
"""


def test_prune_removes_old_generations_only(tmp_path: Path) -> None:
    """Those not used for so many days, never the current one."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "mine.txt").write_text("not a generation")
    printed, _ = run(PRUNE, tmp_path / "cache")
    assert printed.strip() == "['old', 'this', 'young'] 1 ['this', 'young'] 1 ['this'] True"
    assert (tmp_path / "cache" / "mine.txt").exists()


CLEAR = """
from pliant.lanes import cache
one = cache.cached_text("note", "key", lambda: "first")
same = cache.cached_text("note", "key", lambda: "second")
other = cache.cached_text("note", "other key", lambda: "third")
cleared = cache.clear(), cache.generations(), cache.size_in_bytes()
print(one, same, other, cleared, cache.cached_text("note", "key", lambda: "fourth"), len(cache.generations()))
"""


def test_clear_removes_everything(tmp_path: Path) -> None:
    """Texts are kept by key until the cache is cleared, and made again after."""
    printed, _ = run(CLEAR, tmp_path / "cache")
    assert printed.strip() == "first first third (1, [], 0) fourth 1"


def test_unwritable_cache_is_reported_and_replaced(tmp_path: Path) -> None:
    """A cache path that is a file: one warning with the remedy, and the result all the same."""
    blocked = tmp_path / "cache"
    blocked.write_text("in the way")
    printed, messages = run(SMALL, blocked)
    assert printed == "14.0 1.0"
    assert messages.count("cannot be written") == 1
    assert "Set PLIANT_CACHE_DIR" in messages
    assert blocked.read_text() == "in the way"
    assert len(list(tmp_path.glob("pliant-*/small_*.py"))) == 1
