"""A second process that compiles what a scene will need, while the first one compiles what it needs now.

The first process reports which functions it asks for and which modules it has generated; the second compiles what
scenes of the gallery that asked for the same needed next (lanes.first_kernels).  Where the first would wait for the
second, it compiles what comes after that, so that both come to what is known last, the scene's own sweep, as soon as
they can.  Where nothing was ever compiled it starts before the first function is asked for, with what every scene
needs.  What the list lacks, or has too much, costs time alone.
PLIANT_COMPILE_PROCESSES=1 keeps to one process.
"""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import IO, TYPE_CHECKING

from numba.core.compiler_lock import global_compiler_lock

from pliant.lanes import cache as folders
from pliant.lanes import claims, shipped
from pliant.lanes.first_kernels import Kernel, first_kernels, numba_type
from pliant.lanes.host import core_count

if TYPE_CHECKING:
    from pliant.lanes.entry import EntryFunction

WORTH_IT = 2  # functions to compile for which a process is started
VARIABLE = "PLIANT_COMPILE_PROCESSES"
PROGRAM = """
from pliant.garbage import kept
with kept():
    from pliant.lanes.ahead import compile_ahead
compile_ahead()
"""


class Helper:
    """The second process as the first sees it. Used under Numba's compiler lock."""

    def __init__(self) -> None:
        self._asked: list[str] = []
        self._told: set[str] = set()  # labels of generated modules that the process knows
        self._missed = 0
        self._process: subprocess.Popen | None = None

    def begin(self) -> None:
        """That a simulation is made: starts the process at once if there is no compiled function yet."""
        with global_compiler_lock:
            if self._process is None and _is_wanted() and shipped.folder() is None and not folders.is_filled():
                self._start()

    def report(self, place: str, is_missing: bool) -> None:
        """That a function is asked for, and whether it has to be compiled; starts the process when it is worth it."""
        self._asked.append(place)
        self._missed += is_missing
        if self._process is not None:
            self._send([place])
        elif is_missing and self._missed >= WORTH_IT and _is_wanted():
            self._start()

    def compile_meanwhile(self) -> bool:
        """Compile what all scenes like this one need next, while the second process compiles what it needs now; whether
        there was anything to do. What is less sure would keep the scene waiting.
        """
        if self._process is None:
            return False
        listed = first_kernels()
        for number in listed.needed_after(set(self._asked), share=1.0):
            kernel = listed.kernels[number]
            if kernel.place not in self._asked and kernel.can_be_imported(folders.GENERATED):
                with contextlib.suppress(Exception):  # the list may have another signature than the function has now
                    if _compile(kernel, folders.GENERATED):
                        return True
        return False

    def _start(self) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        environment = os.environ | {VARIABLE: "1"}
        self._process = subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, text=True, **pipes)
        self._send(self._asked)

    def _send(self, places: list[str]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        generated = {label: name for label, name in folders.GENERATED.items() if label not in self._told}
        self._told |= set(generated)
        with contextlib.suppress(OSError):  # it has ended
            self._process.stdin.write("".join(f"{label} {name}\n" for label, name in generated.items()))
            self._process.stdin.write("".join(f"{place}\n" for place in places))
            self._process.stdin.flush()


HELPER = Helper()


def _is_wanted() -> bool:
    return os.environ.get(VARIABLE) != "1" and core_count() > 1


class Asked:
    """What the first process has asked for, read by a thread."""

    def __init__(self, lines: IO[str]):
        self.places: set[str] = set()
        self.generated: dict[str, str] = {}  # names of generated modules by label
        self.has_ended = False
        self._changed = threading.Condition()
        threading.Thread(target=self._read, args=(lines,), daemon=True).start()

    def _read(self, lines: IO[str]) -> None:
        for line in lines:
            with self._changed:
                if " " in line:
                    label, name = line.split()
                    self.generated[label] = name
                else:
                    self.places.add(line.strip())
                self._changed.notify_all()
        with self._changed:
            self.has_ended = True
            self._changed.notify_all()

    def wait(self, count: int) -> None:
        """Until more than so many places are known, or the first process has ended."""
        with self._changed:
            self._changed.wait_for(lambda: len(self.places) > count or self.has_ended)


def compile_ahead() -> None:
    """The second process: until the first has ended."""
    listed = first_kernels()
    asked = Asked(sys.stdin)
    done: set[int] = set()
    gc.disable()  # a search takes up to 0.6 s, and the process ends soon
    while not asked.has_ended:
        known = set(asked.places)
        generated = dict(asked.generated)
        possible = (number for number in listed.needed_after(known) if number not in done)
        number = next((k for k in possible if listed.kernels[k].can_be_imported(generated)), None)
        if number is None:
            asked.wait(len(known))
        else:
            done.add(number)
            with contextlib.suppress(Exception):  # a generated module may lack what those of scenes alike have
                _compile(listed.kernels[number], generated)


def _compile(kernel: Kernel, generated: dict[str, str]) -> bool:
    """Compile a function, unless that is done or another process does it; whether this process did."""
    function = entry_of(module_of(kernel, generated), kernel.name)
    kinds = tuple(map(numba_type, kernel.types))
    file = function.file_for(kinds)
    if _is_there(file) or claims.is_held(folders.generation_folder() / file):
        return False
    function.compile(kinds)
    return True


def _is_there(file: str) -> bool:
    shipping = shipped.folder()
    places = [folders.generation_folder(), *([shipping] if shipping else [])]
    return any((place / file).exists() for place in places) or folders.find_earlier(file) is not None


def module_of(kernel: Kernel, generated: Mapping[str, str]) -> ModuleType:
    """Where a function stands; generated: names of generated modules by label."""
    name = generated.get(kernel.module)
    return import_module(kernel.module) if name is None else folders.load_written(name, kernel.module)


def entry_of(module: ModuleType, name: str) -> EntryFunction:
    """The function of a module as Python calls it."""
    from pliant.lanes.compiled import cached
    from pliant.lanes.inner import InnerFunction

    function = getattr(module, name)
    return cached(function) if isinstance(function, InnerFunction) else function
