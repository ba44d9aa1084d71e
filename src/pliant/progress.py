"""Loops that show how far they are and can be stopped without losing anything."""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
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
    """Call `advance` n times, yielding after each; on Ctrl-C finish the frame, save, report it and raise
    KeyboardInterrupt. SIGTERM does the same and raises SystemExit.
    """
    with stop_flag() as stopped:
        try:
            with progress_bar(label, n) as tick:
                for frame in range(n):
                    advance()
                    tick()
                    if stopped.is_set():
                        return
                    yield frame
                    if stopped.is_set():
                        return
        finally:
            if stopped.is_set():
                logger.warning("%s", save(), extra={"entry": "stopped"})


@contextmanager
def stop_flag() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C or SIGTERM into a flag and raise it at the end; a second one acts at once.

    Signals only reach the main thread.
    """
    flag = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    before = {number: handler for number, handler in handlers.items() if handler is not None}  # None: not of Python
    received: list[signal.Signals] = []

    def restore():
        for number, handler in before.items():
            signal.signal(number, handler)

    def on_signal(number, frame):
        received.append(signal.Signals(number))
        flag.set()
        restore()

    for number in before:
        signal.signal(number, on_signal)
    try:
        yield flag
    finally:
        restore()
        if received and before[received[0]] is signal.SIG_DFL:
            raise SystemExit(128 + received[0])  # the default action would not close what is recorded
        if received:
            signal.raise_signal(received[0])


@contextmanager
def status_line(seconds: float) -> Iterator[Callable[[str], None]]:
    """A function that shows what goes on, in a line on standard error, once so many seconds have passed; nothing where
    that is no terminal.
    """
    began, shown = time.perf_counter(), None

    def tell(words: str) -> None:
        nonlocal shown
        if shown is None and time.perf_counter() - began >= seconds and sys.stderr.isatty():
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (BarColumn(bar_width=12), TextColumn("{task.description}"), TimeElapsedColumn())
            shown = Progress(*columns, console=_console(), transient=True)
            shown.start()
            shown.add_task(words, total=None)
        if shown is not None:
            shown.update(shown.task_ids[0], description=words)

    try:
        yield tell
    finally:
        if shown is not None:
            shown.stop()


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
