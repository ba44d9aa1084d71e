"""A wheel with compiled kernels: installed beside no source, the first frame of its scenes compiles nothing."""

import json
import os
import re
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from pliant.scenes.gallery import entries

ROOT = Path(__file__).parents[2]
SCENE = "jelly"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a package installed from a wheel that carries the kernels of one scene."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "tools/build_wheel.py", "--scenes", SCENE, "--folder", str(folder / "dist")]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (folder / "dist").glob("pliant-*.whl")
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        str(folder / "site"),
        str(wheel),
    ]
    subprocess.run(install, check=True, capture_output=True)
    return folder / "site"


def first_frame(site: Path, cache: Path, **environment: str) -> dict:
    """What `pliant info --compile` reports with an empty cache and the installed package."""
    chosen = {"PYTHONPATH": str(site), "PYTHONSAFEPATH": "1", "PLIANT_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "pliant", "info", SCENE, "--compile", "--json"]
    result = subprocess.run(
        command, env=os.environ | chosen | environment, cwd=site, capture_output=True, text=True, check=True
    )
    return json.loads(result.stdout)


def supports(level: str) -> bool:
    from pliant.lanes.host import cpu_features
    from pliant.lanes.shipped import LEVELS

    return cpu_features().issuperset(LEVELS[level])


# Calls one small function and prints the name of its file.
CALL = """
import numpy as np
from pliant.kernels.bounds import middle_of
from pliant.lanes.entry import USES
middle_of(np.zeros((2, 3)), np.ones(2, dtype=bool), np.zeros(3))
print(USES[0].file)
"""


@pytest.mark.skipif(not supports("x86-64-v3"), reason="needs a CPU of the level x86-64-v3")
def test_what_ran_as_one_level_is_compiled_for_another(tmp_path: Path) -> None:
    """As for x86-64-v4 on a computer without AVX-512: the function is not called again."""
    build = SimpleNamespace(**runpy.run_path(str(ROOT / "tools/build_wheel.py")))
    sources = build.Copy(ROOT)
    for_v3, for_v4 = (sources.compiling_for(level, tmp_path / level) for level in ("x86-64-v3", "x86-64-v4"))
    file = sources.python(CALL, **for_v3)
    kept = build.generation(tmp_path / "x86-64-v3")
    sources.python(build.COMPILE, str(kept), json.dumps([file]), **for_v4)
    made = (build.generation(tmp_path / "x86-64-v4") / file).read_bytes()
    assert len(made) > 1000
    assert made != (kept / file).read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(not supports("x86-64-v3"), reason="needs a CPU of the level x86-64-v3")
def test_first_frame_from_the_wheel_compiles_nothing(installed: Path, tmp_path: Path) -> None:
    facts = first_frame(installed, tmp_path / "cache")
    assert facts["compiled"]["functions"] == 0
    assert facts["cache"]["functions"] == 0
    assert facts["wheel"]["functions"] >= 10
    assert any("sweep" in function["name"] for function in facts["functions"])


# Runs the scene as `pliant run` does; prints where its code came from, and a digest of its last state.
STATE = """
import hashlib, json, sys
from pathlib import Path
import pliant
from pliant.cli.run import run
from pliant.lanes.entry import USES
scene, folder = sys.argv[1:]
run(scene, Path(folder), frames=20, quiet=True)
origins = sorted({use.origin for use in USES})
last = pliant.Simulation.resume(Path(folder) / "run.npz")
bits = hashlib.sha256(last.positions.tobytes() + last.velocities.tobytes()).hexdigest()
print(json.dumps({"origins": origins, "bits": bits}))
"""


@pytest.mark.slow
@pytest.mark.skipif(not supports("x86-64-v3"), reason="needs a CPU of the level x86-64-v3")
def test_a_run_from_the_wheel_has_the_bits_of_the_checkout(installed: Path, tmp_path: Path) -> None:
    """Code for a level of CPUs computes what code for this CPU does; later frames and outputs compile nothing."""

    def state(sources: Path, **environment: str) -> dict:
        chosen = {"PYTHONPATH": str(sources), "PYTHONSAFEPATH": "1"} | environment
        run = [sys.executable, "-c", STATE, SCENE, str(tmp_path / "out")]
        done = subprocess.run(run, env=os.environ | chosen, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    from_wheel = state(installed, PLIANT_CACHE_DIR=str(tmp_path / "cache"))
    assert from_wheel["origins"] == ["wheel"]
    assert from_wheel["bits"] == state(ROOT / "src")["bits"]


@pytest.mark.slow
def test_a_wheel_holds_every_level(installed: Path) -> None:
    """The same functions for both levels, and as many files of derivatives."""
    counts = {path.name: len(list(path.glob("*/*.nbc"))) for path in (installed / "pliant" / "compiled").iterdir()}
    assert set(counts) == {"x86-64-v3", "x86-64-v4"}
    assert counts["x86-64-v3"] == counts["x86-64-v4"] >= 10


@pytest.mark.slow
def test_edited_sources_do_not_use_the_wheels_kernels(installed: Path, tmp_path: Path) -> None:
    """A wheel whose sources were edited after it was built compiles again."""
    path = installed / "pliant" / "lanes" / "vectors.py"
    text = path.read_text()
    path.write_text(text + "\n# edited\n")
    try:
        facts = first_frame(installed, tmp_path / "cache")
    finally:
        path.write_text(text)
    assert facts["wheel"]["functions"] == 0
    assert facts["compiled"]["functions"] >= 10


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel without machine code, and the sources, as twine passes them."""
    pytest.importorskip("build", reason="the extra package is not installed")
    pytest.importorskip("twine", reason="the extra package is not installed")
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "tools/build_wheel.py", "--levels", "--sdist", "--folder", str(folder)]
    said = subprocess.run(build, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert said.count("PASSED") == 2
    assert {path.suffix for path in folder.iterdir()} == {".whl", ".gz"}
    return folder


@pytest.fixture(scope="module")
def plain(dist: Path) -> Path:
    (wheel,) = dist.glob("pliant-*.whl")
    return wheel


class Environment:
    """A new environment with nothing but a wheel and what it requires."""

    def __init__(self, folder: Path, python: str, wheel: Path | str):
        self.folder = folder
        self._python = folder / "env" / "bin" / "python"
        self._variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        subprocess.run([python, "-m", "venv", str(folder / "env")], env=self._variables, check=True)
        install = [str(self._python), "-m", "pip", "install", "--quiet", str(wheel)]
        subprocess.run(install, env=self._variables, check=True)

    def pliant(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "pliant", *arguments)

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        options = {"capture_output": True, "text": True, "check": False}
        return subprocess.run([str(self._python), *arguments], env=self._variables, cwd=self.folder, **options)


@pytest.fixture(scope="module")
def clean(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("clean"), sys.executable, plain)


@pytest.mark.slow
@pytest.mark.parametrize("name", [entry.name for entry in entries()])
def test_the_gallery_runs_in_a_clean_environment(clean: Environment, name: str) -> None:
    done = clean.pliant("run", name, "--frames", "2", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["frames"] == 2


@pytest.mark.slow
def test_a_clean_environment_has_the_whole_gallery_and_explains_its_errors(clean: Environment) -> None:
    """The package holds the files of all scenes, and what `pliant explain` prints."""
    assert clean.python("-c", "import pliant; print(pliant.__file__)").stdout.startswith(str(clean.folder))
    listed = [entry["name"] for entry in json.loads(clean.pliant("gallery", "--json").stdout)]
    assert listed == [entry.name for entry in entries()]
    refused = clean.pliant("run", "nowhere.toml")
    entry = refused.stderr.strip().rsplit(" ", 1)[-1]
    assert f"pliant explain {entry}" in refused.stderr
    assert clean.pliant("explain", entry).returncode == 0


@pytest.mark.slow
def test_the_sources_make_the_same_package(dist: Path, plain: Path, tmp_path: Path) -> None:
    """A wheel built from the sdist has the files of the wheel."""
    (sources,) = dist.glob("pliant-*.tar.gz")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(sources)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("pliant-*.whl")
    names = [set(zipfile.ZipFile(path).namelist()) for path in (wheel, plain)]
    assert names[0] == names[1]


def interpreter(version: str) -> str:
    """The Python of a version that is on the path, or that pyenv has."""
    ask = [f"python{version}", "-c", "import sys; print(sys.executable)"]
    try:
        done = subprocess.run(
            ask, env=os.environ | {"PYENV_VERSION": version}, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        pytest.skip(f"Python {version} is not installed")
    if done.returncode:
        pytest.skip(f"Python {version} does not start: {done.stderr}")
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_wheel_runs_on_every_python_that_it_names(plain: Path, version: str, tmp_path: Path) -> None:
    python = interpreter(version)
    clean = Environment(tmp_path, python, plain)
    for scene in ("cantilever", "curtain"):
        done = clean.pliant("run", scene, "--frames", "2", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["frames"] == 2
    assert version in clean.pliant("info").stdout


def filling() -> str:
    """The code of the page on meshes of one's own, to where a surface is filled with tets."""
    page = (ROOT / "docs/tutorials/own-mesh.md").read_text()
    code = "".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    return code[: code.index("scene = ")] + "print(filled.volume / mesh.volume)\n"


@pytest.mark.slow
def test_the_extra_mesh_brings_all_that_it_needs(plain: Path, tmp_path: Path) -> None:
    """In a clean environment: fTetWild keeps the surface within a thousandth of the diagonal."""
    clean = Environment(tmp_path, sys.executable, f"{plain}[mesh]")
    done = clean.python("-c", filling())
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) == pytest.approx(1.0, rel=0.02)
