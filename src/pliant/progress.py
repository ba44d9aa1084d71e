"""Loops that show how far they are and can be stopped without losing anything."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

logger = logging.getLogger("pliant")

Item = TypeVar("Item")


def track(items: Collection[Item], label: str | None) -> Iterator[Item]:
    """The items one by one, with a bar on standard error if there is a label."""
    if label is None:
        yield from items
        return
    from rich.progress import track as show

    yield from show(items, label, console=_console(), total=len(items))


def frame_loop(advance: Callable[[], object], n: int, save: Callable[[], str], label: str | None) -> Iterator[int]:
    """Call `advance` n times, yielding after each; on Ctrl-C finish the frame, save, say so and raise
    KeyboardInterrupt.
    """
    with _interrupt_flag() as interrupted:
        try:
            with progress_bar(label, n) as tick:
                for frame in range(n):
                    advance()
                    tick()
                    if interrupted.is_set():
                        return
                    yield frame
                    if interrupted.is_set():
                        return
        finally:
            if interrupted.is_set():
                logger.warning("%s", save(), extra={"entry": "stopped"})


@contextmanager
def _interrupt_flag() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into a flag and raise it at the end; a second one interrupts at once.

    Signals only reach the main thread.
    """
    flag = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return
    before = signal.getsignal(signal.SIGINT)

    def on_interrupt(number, frame):
        flag.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, before)
        if flag.is_set():
            signal.raise_signal(signal.SIGINT)


@contextmanager
def progress_bar(label: str | None, n: int) -> Iterator[Callable[[], None]]:
    """A bar with frames per second and time left, on standard error; nothing without a label."""
    if label is None:
        yield lambda: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Speed(ProgressColumn):
        def render(self, task):
            return Text("  -- frames/s" if task.speed is None else f"{task.speed:5.1f} frames/s")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Speed(), TimeRemainingColumn())
    with Progress(*columns, console=_console()) as bar:
        task = bar.add_task(label, total=n)
        yield lambda: bar.advance(task)


def _console() -> Console:
    """Standard error. In a notebook a bar is a widget where ipywidgets is installed, and else one line at the end."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_jupyter and not find_spec("ipywidgets"):
        return Console(stderr=True, force_jupyter=False, force_terminal=False)
    return console
