"""A thread that waits for tasks."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from pliant.kernels.atomics import SPINS, adapted, spin


class Worker:
    """A thread that waits for tasks.  A lock wakes it in half the time that a pool of the standard library takes."""

    def __init__(self) -> None:
        self.task: tuple[Callable, tuple] | None = None
        self.error: BaseException | None = None
        self.is_done = np.ones(1, np.int64)
        self._spins = SPINS
        self._go, self._done = threading.Lock(), threading.Lock()
        self._go.acquire()
        threading.Thread(target=self._serve, name="pliant", daemon=True).start()

    def start(self, function: Callable, *arguments) -> None:
        """Let the thread run a function."""
        self.task, self.error, self.is_done[0] = (function, arguments), None, 0
        self._done.acquire(blocking=False)
        self._go.release()

    def wait(self) -> None:
        """Until the task is done, also if somebody presses Ctrl-C: the task works on arrays of the caller."""
        interrupt = None
        self._spins = adapted(self._spins, spin(self.is_done, self._spins))  # waking up takes longer than most tasks
        while not self.is_done[0]:
            try:
                self._done.acquire()
            except KeyboardInterrupt as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt
        if self.error is not None:
            raise self.error

    def dismiss(self) -> None:
        """End the thread."""
        self.task = None
        self._go.release()

    def _serve(self) -> None:
        while True:
            self._go.acquire()
            if self.task is None:
                return
            function, arguments = self.task
            try:
                function(*arguments)
            except BaseException as error:  # goes to the thread that waits
                self.error = error
            del function, arguments
            self.task, self.is_done[0] = None, 1
            self._done.release()


def dismiss_all(workers: list[Worker]) -> None:
    """End threads."""
    for worker in workers:
        worker.dismiss()
