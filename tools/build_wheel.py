"""Build a wheel that carries the machine code of the gallery's scenes: `make wheel`.

    python tools/build_wheel.py [--scenes jelly stack] [--levels x86-64-v3] [--frames 3] [--folder dist] [--sdist]

The code of a level that this computer can run, x86-64-v3 at least, is compiled by running each scene to its end, or
for the frames given; later frames may call more functions, as those with the first contact do.  For x86-64-v4 on a
computer without AVX-512, the scenes run as x86-64-v3 on vectors 512 bits wide; then the functions they called are
compiled again for x86-64-v4, without being run.  All of this uses a copy of the sources, so that they may be edited.
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
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
BITS = {"x86-64-v3": 256, "x86-64-v4": 512}  # width of vectors

# Runs scenes as `pliant run` does and prints the names of the files of machine code they used.
RUN = """
import json, sys, tempfile
from pathlib import Path
from pliant.lanes import host
bits, frames, *scenes = sys.argv[1:]  # 0 frames: all
host.vector_bits = lambda: int(bits)
from pliant.cli.run import run
from pliant.lanes.entry import USES
for scene in scenes:
    print("  " + scene, file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        run(scene, Path(folder), frames=int(frames) or None, quiet=True)
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
BEST = "from pliant.lanes.shipped import level; print(level() or '')"
FEATURES = "import sys; from pliant.lanes.shipped import LEVELS; print(','.join('+' + n for n in LEVELS[sys.argv[1]]))"
GALLERY = "from pliant.scenes.gallery import entries; print(' '.join(e.name for e in entries()))"


@dataclass(frozen=True)
class Copy:
    """A copy of what the wheel is built from, beside the checkout: that stays as it is, and may be edited meanwhile."""

    folder: Path

    def python(self, code: str, *arguments: str, **environment: str) -> str:
        """Run code in a process of its own; what it printed."""
        full = os.environ | {"PYTHONPATH": str(self.folder / "src"), "PYTHONSAFEPATH": "1"} | environment
        return subprocess.run(
            [sys.executable, "-c", code, *arguments], env=full, stdout=subprocess.PIPE, text=True, check=True
        ).stdout.strip()

    def compiling_for(self, level: str, cache: Path) -> dict[str, str]:
        features = self.python(FEATURES, level)
        return {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": features, "PLIANT_CACHE_DIR": str(cache)}


def copy_of_sources(copy: Path) -> Copy:
    without = shutil.ignore_patterns("__pycache__", "*.egg-info", "compiled")
    shutil.copytree(ROOT / "src", copy / "src", ignore=without)
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    (copy / "README.md").write_text(description((ROOT / "README.md").read_text(encoding="utf-8")), encoding="utf-8")
    return Copy(copy)


def description(readme: str) -> str:
    """The README as package indexes show it: without pictures and links whose paths lead into the repository."""
    without_pictures = re.sub(r"(?m)^(?:!\[[^\]]*\]\((?!https?:)[^)]*\) ?)+\n(\n\*.*\*\n)?\n?", "", readme)
    return re.sub(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)[^)]*\)", r"\1", without_pictures)


def compile_level(copy: Copy, level: str, scenes: list[str], frames: int, work: Path) -> None:
    """Machine code of the scenes for a level, in a folder named as where the package looks for it."""
    run_as = min(level, copy.python(BEST))  # names of levels are in their order
    if run_as not in BITS:
        raise SystemExit("This computer cannot run code of x86-64-v3: build the wheel on another, or pass --levels.")
    print(f"{level}: running {len(scenes)} scenes as {run_as}", flush=True)
    running = copy.compiling_for(run_as, work / run_as)
    used = json.loads(copy.python(RUN, str(BITS[level]), str(frames), *scenes, **running))
    folder = generation(work / run_as)
    texts = folder.glob("*.txt")
    if run_as != level:
        copy.python(COMPILE, str(folder), json.dumps(used), **copy.compiling_for(level, work / level))
        folder = generation(work / level)
    target = work / "compiled" / level / copy.python(FINGERPRINT, level)
    target.mkdir(parents=True)
    for path in [*texts, *(folder / file for file in used)]:
        shutil.copy(path, target)
    size = sum(path.stat().st_size for path in target.iterdir())
    print(f"{level}: {len(used)} functions, {size / 1e6:.1f} MB", flush=True)


def generation(cache: Path) -> Path:
    """The one folder of compiled code in a cache."""
    (folder,) = (path.parent for path in cache.glob("*/last_used"))
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description="Build a wheel with compiled kernels.")
    parser.add_argument("--scenes", nargs="+", help="gallery scenes whose kernels are compiled; all by default")
    parser.add_argument("--levels", nargs="*", default=["x86-64-v3", "x86-64-v4"])
    parser.add_argument("--frames", type=int, default=0, help="frames to run of each scene; all by default")
    parser.add_argument("--folder", default=str(ROOT / "dist"))
    parser.add_argument("--sdist", action="store_true", help="pack the sources too, and check both by twine")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        copy = copy_of_sources(work / "copy")
        scenes = options.scenes or copy.python(GALLERY).split()
        for level in options.levels:
            compile_level(copy, level, scenes, options.frames, work)
        compiled = copy.folder / "src" / "pliant" / "compiled"
        if options.levels:
            shutil.move(work / "compiled", compiled)
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", options.folder, str(copy.folder)]
        subprocess.run(command, check=True)
        if options.sdist:
            shutil.rmtree(compiled, ignore_errors=True)  # machine code is no source
            pack_sources(copy.folder, Path(options.folder))


def pack_sources(copy: Path, folder: Path) -> None:
    """An sdist beside the wheel; twine checks what both say of themselves."""
    build = [sys.executable, "-m", "build", "--sdist", "--outdir", str(folder), str(copy)]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    made = sorted(str(path) for path in folder.glob("pliant-*") if path.suffix in (".whl", ".gz"))
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *made], check=True)


if __name__ == "__main__":
    main()
