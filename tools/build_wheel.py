"""Build a wheel that carries the machine code of the gallery's scenes: `make wheel`.

    python tools/build_wheel.py [--scenes jelly stack] [--levels x86-64-v3] [--folder dist] [--sdist]

The code of x86-64-v3 is compiled by running the first frames of each scene.  That of x86-64-v4, which this computer
may not be able to run, is compiled for the functions that the same scenes call when they run on 512 bits wide vectors.
With --sdist the sources are packed too, and both are checked by twine (extra `package`).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
RUN_LEVEL = "x86-64-v3"  # what this computer runs
FRAMES = 3

# Runs scenes and prints the names of the files of machine code they used.
RUN = """
import json, sys
from pliant.lanes import host
bits, frames, *scenes = sys.argv[1:]
host.vector_bits = lambda: int(bits)
from pliant.lanes.entry import USES
from pliant.scenes.plans import open_plan
for scene in scenes:
    simulation = open_plan(scene).simulation()
    for _ in range(int(frames)):
        simulation.advance()
print(json.dumps(sorted({use.file for use in USES})))
"""

# Compiles the functions whose machine code for another CPU lies in a folder, without running them.
COMPILE = """
import importlib, json, pickle, sys
from pathlib import Path
from pliant.lanes.ahead import entry_of
from pliant.lanes.cache import load_module
folder, files = Path(sys.argv[1]), json.loads(sys.argv[2])
for file in files:
    module_name, function = file.rsplit("-", 1)[0].rsplit(".", 1)
    source = folder / f"{module_name}.py"
    if source.exists():
        module = load_module(module_name.rsplit("_", 1)[0], source.read_text(), module_name)
        assert module.__name__ == module_name
    else:
        module = importlib.import_module(module_name)
    signature = pickle.loads((folder / file).read_bytes())[1][3]  # of (symbols, what Numba keeps of a function)
    entry_of(module, function).compile(signature.args)
"""

FINGERPRINT = "import sys; from pliant.lanes.cache import fingerprint; print(fingerprint(sys.argv[1]))"
FEATURES = "import sys; from pliant.lanes.shipped import LEVELS; print(','.join('+' + n for n in LEVELS[sys.argv[1]]))"
GALLERY = "from pliant.scenes.gallery import entries; print(' '.join(e.name for e in entries()))"


def python(code: str, *arguments: str, **environment: str) -> str:
    """Run code of this checkout in a process of its own; what it printed."""
    full = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONSAFEPATH": "1"} | environment
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], env=full, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()


def copy_of_sources(copy: Path) -> Path:
    """What a wheel is built from, beside the checkout: that stays as it is."""
    without = shutil.ignore_patterns("__pycache__", "*.egg-info", "compiled")
    shutil.copytree(ROOT / "src", copy / "src", ignore=without)
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    (copy / "README.md").write_text(description((ROOT / "README.md").read_text(encoding="utf-8")), encoding="utf-8")
    return copy


def description(readme: str) -> str:
    """The README as package indexes show it: without pictures and links whose paths lead into the repository."""
    without_pictures = re.sub(r"(?m)^!\[[^\]]*\]\((?!https?:)[^)]*\)\n(\n\*.*\*\n)?\n?", "", readme)
    return re.sub(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)[^)]*\)", r"\1", without_pictures)


def compiling_for(level: str, cache: Path) -> dict[str, str]:
    features = python(FEATURES, level)
    return {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": features, "PLIANT_CACHE_DIR": str(cache)}


def compile_level(level: str, scenes: list[str], work: Path, place: Path) -> None:
    """Machine code of the scenes for a level, in the folder where the package looks for it."""
    running = compiling_for(RUN_LEVEL, work / "run")
    bits = "512" if level == "x86-64-v4" else "256"
    used: set[str] = set()
    for scene in scenes:
        print(f"{level}: {scene}", flush=True)
        used.update(json.loads(python(RUN, bits, str(FRAMES), scene, **running)))
    (folder,) = (path.parent for path in (work / "run").glob("*/last_used"))
    if level != RUN_LEVEL:
        python(COMPILE, str(folder), json.dumps(sorted(used)), **compiling_for(level, work / level))
        texts = folder.glob("*.txt")
        (folder,) = (path.parent for path in (work / level).glob("*/last_used"))
    else:
        texts = folder.glob("*.txt")
    target = place / level / python(FINGERPRINT, level)
    target.mkdir(parents=True)
    for path in [*texts, *(folder / file for file in used)]:
        shutil.copy(path, target)
    size = sum(path.stat().st_size for path in target.iterdir())
    print(f"{level}: {len(used)} functions, {size / 1e6:.1f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Build a wheel with compiled kernels.")
    parser.add_argument("--scenes", nargs="+", help="gallery scenes whose kernels are compiled; all by default")
    parser.add_argument("--levels", nargs="*", default=["x86-64-v3", "x86-64-v4"])
    parser.add_argument("--folder", default=str(ROOT / "dist"))
    parser.add_argument("--sdist", action="store_true", help="pack the sources too, and check both by twine")
    options = parser.parse_args()
    scenes = options.scenes or python(GALLERY).split()
    with tempfile.TemporaryDirectory() as work:
        copy = copy_of_sources(Path(work) / "copy")
        for level in options.levels:
            compile_level(level, scenes, Path(work), copy / "src" / "pliant" / "compiled")
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", options.folder, str(copy)]
        subprocess.run(command, check=True)
        if options.sdist:
            shutil.rmtree(copy / "src" / "pliant" / "compiled", ignore_errors=True)  # machine code is no source
            pack_sources(copy, Path(options.folder))


def pack_sources(copy: Path, folder: Path) -> None:
    """An sdist beside the wheel; twine checks what both say of themselves."""
    build = [sys.executable, "-m", "build", "--sdist", "--outdir", str(folder), str(copy)]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    made = sorted(str(path) for path in folder.glob("pliant-*") if path.suffix in (".whl", ".gz"))
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *made], check=True)


if __name__ == "__main__":
    main()
