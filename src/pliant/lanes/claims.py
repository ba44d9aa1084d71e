"""Which process is compiling what: a function is compiled by one process at a time, for which others wait.

A claim is a small file beside that of the machine code, with the computer and the number of the process. Those of
processes that are gone, of other computers and of long ago do not count.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from pathlib import Path

LONGEST = 300.0  # seconds that a function may take to compile
PAUSE = 0.02  # seconds between two looks


def claim(file: Path) -> bool:
    """Whether this process may compile the function of a file; if so, others know of it."""
    place = _place(file)
    if _is_held(place):
        return False
    try:
        place.unlink(missing_ok=True)
        handle = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        return False
    except OSError:
        return True  # a folder that cannot be written: nobody else can either
    with os.fdopen(handle, "w") as text:
        text.write(_owner())
    return True


def release(file: Path) -> None:
    """Let others compile the function of a file, if this process has claimed it."""
    place = _place(file)
    with contextlib.suppress(OSError):
        if place.read_text() == _owner():
            place.unlink(missing_ok=True)


def _owner() -> str:
    return f"{socket.gethostname()} {os.getpid()}"


def wait(file: Path) -> None:
    """Until another process has compiled the function of a file, or has given up."""
    place = _place(file)
    while not file.exists() and _is_held(place):
        time.sleep(PAUSE)


def is_held(file: Path) -> bool:
    """Whether another process is compiling the function of a file."""
    return _is_held(_place(file))


def _place(file: Path) -> Path:
    return file.with_name(file.name + ".claim")


def _is_held(place: Path) -> bool:
    """Whether another process that lives on this computer holds a claim."""
    try:
        host, number = place.read_text().split()
        age = time.time() - place.stat().st_mtime
    except (OSError, ValueError):
        return place.exists() and _is_new(place)  # being written
    if host != socket.gethostname() or int(number) == os.getpid() or age > LONGEST:
        return False
    return _lives(int(number))


def _is_new(place: Path) -> bool:
    try:
        return time.time() - place.stat().st_mtime < 1.0
    except OSError:
        return False


def _lives(process: int) -> bool:
    if os.name == "nt":
        return True  # signal 0 would end it; age tells
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
