"""Compiled code on disk: compiled once, found again by every later process, never stale.

Numba trusts the machine code of a function as long as the one file it stands in is unchanged, whatever the function
calls.  So compiled code is kept in a folder, a generation, named after a fingerprint of all it may depend on: the
versions of Python, Numba and LLVM, the CPU, and the sources that kernels can reach.  A change of any of these is a new
generation.  After an edit, functions whose own reach (lanes.reach) is unchanged are taken over from earlier ones.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

from pliant.lanes.host import cpu_features, cpu_name

PACKAGE = Path(__file__).parent.parent
# Rooms that kernels never import from: their sources do not change compiled code.
ABOVE_KERNELS = ("cli", "comparison", "io", "relaxations", "scenes", "solvers", "viewer")
KEEP_DAYS = 30.0

#: Generated modules of this process in order of loading: label (name and number) and name with digest.
GENERATED: dict[str, str] = {}

logger = logging.getLogger("pliant")
_lock = threading.RLock()  # a module that runs while it is loaded may load others


def cache_folder() -> Path:
    """Where generated code lives: $PLIANT_CACHE_DIR, or the platform's cache folder for this user."""
    chosen = os.environ.get("PLIANT_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "pliant"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home()))) / "pliant" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))) / "pliant"


def digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def sources() -> list[Path]:
    """Every file whose functions or constants may be part of compiled code."""
    rooms = [path for path in sorted(PACKAGE.iterdir()) if path.is_dir() and path.name not in ABOVE_KERNELS]
    return [path for room in rooms for path in sorted(room.glob("**/*.py"))]


@cache
def fingerprint(cpu: str | None = None) -> str:
    """Names everything compiled code depends on beside its own text; `cpu`: a level of CPUs, this CPU if None."""
    return f"{platform(cpu)}-{digest(*(path.read_text() for path in sources()))}"


@cache
def platform(cpu: str | None = None) -> str:
    """Names what machine code depends on beside sources: versions and the CPU."""
    import llvmlite
    import numba

    return digest(
        f"{sys.version_info.major}.{sys.version_info.minor}",
        sys.platform,
        numba.__version__,
        llvmlite.__version__,
        cpu or ",".join([cpu_name(), *sorted(cpu_features())]),
    )


@cache
def generation_folder() -> Path:
    """The folder of this fingerprint, made and marked as used."""
    folder = cache_folder() / fingerprint()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "last_used").write_text(str(time.time()))
    except OSError as error:
        folder = Path(tempfile.mkdtemp(prefix="pliant-"))
        logger.warning(
            "The cache folder %s cannot be written (%s): compiled code goes to %s and will be compiled again "
            "next time. Set PLIANT_CACHE_DIR to a folder you can write.",
            cache_folder(),
            error,
            folder,
            extra={"entry": "cache-folder"},
        )
        return folder
    prune(older_than_days=KEEP_DAYS)
    return folder


def write_atomically(path: Path, content: str | bytes) -> None:
    """Other processes see the whole file or none."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    os.replace(temporary, path)


def find_earlier(file: str) -> Path | None:
    """A file of this name made by an earlier version of the sources on this platform."""
    found = (folder / file for folder in cache_folder().glob(f"{platform()}-*"))
    return next((path for path in found if path.exists()), None)


def is_filled() -> bool:
    """Whether any version of the sources has compiled code on this platform."""
    return any(cache_folder().glob(f"{platform()}-*/*.nbc"))


def cached_text(name: str, key: str, produce: Callable[[], str]) -> str:
    """The text made by `produce`, or the one made earlier from the same key."""
    from pliant.lanes import shipped

    file = f"{name}_{digest(key)}.txt"
    for folder in (generation_folder(), shipped.folder()):
        if folder is not None and (folder / file).exists():
            return (folder / file).read_text()
    text = produce()
    write_atomically(generation_folder() / file, text)
    return text


def load_module(name: str, text: str, description: str) -> ModuleType:
    """Import generated source as a real module. Its entries are kept (lanes.entry)."""
    full_name = f"{name}_{digest(text)}"
    path = generation_folder() / f"{full_name}.py"
    if not path.exists():
        write_atomically(path, text)
    with _lock:
        module = load_written(full_name, description)
        if full_name not in GENERATED.values():
            GENERATED[f"{name}#{sum(label.startswith(f'{name}#') for label in GENERATED)}"] = full_name
        return module


def load_written(full_name: str, description: str) -> ModuleType:
    """Import a generated module whose text is in the folder; other threads see it when it is complete."""
    with _lock:
        if full_name not in sys.modules:
            sys.modules[full_name] = _import(full_name, description)
        return sys.modules[full_name]


def label_of(module: str) -> str:
    """The label of a generated module, which scenes alike share; the name of any other."""
    return next((label for label, full_name in GENERATED.items() if full_name == module), module)


def _import(full_name: str, description: str) -> ModuleType:
    """A module in a real file, for messages and debuggers."""
    from pliant.lanes.entry import EntryFunction

    path = generation_folder() / f"{full_name}.py"
    spec = importlib.util.spec_from_file_location(full_name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"the generated module {path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for value in vars(module).values():
        if isinstance(value, EntryFunction) and value.py_func.__module__ == full_name:
            value.shown_as(f"{description}: {value.py_func.__name__}")
    return module


@cache
def _announced(folder: Path) -> None:
    logger.info("compiling what this scene needs (once; kept in %s)", folder)


def announce_compiling(name: str) -> None:
    """Report once per process that code is compiled; each function only to those who ask for details."""
    _announced(generation_folder())
    logger.debug("compiling %s", name)


def generations() -> list[Path]:
    """Folders of generated code, of this and other versions of the sources."""
    root = cache_folder()
    return sorted(path.parent for path in root.glob("*/last_used")) if root.exists() else []


def size_in_bytes() -> int:
    return sum(path.stat().st_size for folder in generations() for path in folder.glob("**/*") if path.is_file())


def prune(older_than_days: float) -> int:
    """Delete generations that no process has used for so long; the number deleted."""
    limit = time.time() - older_than_days * 86400
    stale = [folder for folder in generations() if folder.name != fingerprint() and _last_used(folder) < limit]
    for folder in stale:
        shutil.rmtree(folder, ignore_errors=True)
    return len(stale)


def _last_used(folder: Path) -> float:
    try:
        return (folder / "last_used").stat().st_mtime
    except FileNotFoundError:  # another process has just deleted it
        return time.time()


def clear() -> int:
    """Delete all generated code; the number of generations deleted."""
    folders = generations()
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    generation_folder.cache_clear()
    return len(folders)
