"""Generated code on disk: compiled once, found again by every later process, never stale.

Numba finds a compiled function again only when it sits in a real file, and trusts it as long as that one file is
unchanged, whatever the function calls.  So every kernel is a generated module in a folder named after a fingerprint of
all it may depend on: the sources of the rooms whose functions it calls, the versions of Python, Numba and LLVM, and the
CPU.  A change of any of these is a new folder.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

from pliant.lanes.host import cpu_features, cpu_name

ROOMS = ("lanes", "materials", "elements", "kernels", "contact")  # whose sources a kernel may call
KEEP_DAYS = 30.0

logger = logging.getLogger("pliant")


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


@cache
def fingerprint() -> str:
    """Names everything a generated module depends on beside its own text."""
    import llvmlite
    import numba

    package = Path(__file__).parent.parent
    sources = [path.read_text() for room in ROOMS for path in sorted((package / room).glob("**/*.py"))]
    return digest(
        *sources,
        platform.python_version(),
        numba.__version__,
        llvmlite.__version__,
        cpu_name(),
        ",".join(sorted(cpu_features())),
    )


@cache
def _generation_folder() -> Path:
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
        )
        return folder
    prune(older_than_days=KEEP_DAYS)
    return folder


def _write_atomically(path: Path, text: str) -> None:
    """Other processes see the whole file or none."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    os.replace(temporary, path)


def cached_text(name: str, key: str, produce: Callable[[], str]) -> str:
    """The text made by `produce`, or the one made earlier from the same key."""
    path = _generation_folder() / f"{name}_{digest(key)}.txt"
    if not path.exists():
        _write_atomically(path, produce())
    return path.read_text()


def load_module(name: str, text: str, description: str) -> ModuleType:
    """Import generated source as a real module, so that Numba can cache what it compiles of it."""
    full_name = f"{name}_{digest(text)}"
    if full_name in sys.modules:
        return sys.modules[full_name]
    path = _generation_folder() / f"{full_name}.py"
    if not path.exists():
        _write_atomically(path, text)
    if not any((path.parent / "__pycache__").glob(f"{full_name}.*.nbc")):
        logger.info("compiling %s (once; kept in %s)", description, path.parent)
    spec = importlib.util.spec_from_file_location(full_name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"the generated module {path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[full_name] = module
    spec.loader.exec_module(module)
    return module


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
    _generation_folder.cache_clear()
    return len(folders)
