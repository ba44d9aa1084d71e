"""Worker threads that stay inside compiled code and wait for each other at a barrier.

A parallel region per colour costs 5 to 40 microseconds; with ten colours and a small mesh that is most of the time.
Here each thread runs the whole loop over iterations and colours without the interpreter lock, and the threads wait for
each other after every colour.  Which thread solves a pack does not change its result, so any number of threads gives
the same bits, and the number may change from one run to the next: a team chooses it by the time that runs take.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.kernels.atomics import FEWEST_SPINS, SPINS, atomic_add, atomic_load, pause, sleep_while, wake_all
from pliant.kernels.thread_choice import ThreadChoice
from pliant.kernels.worker import Worker, dismiss_all
from pliant.lanes.inner import inner
from pliant.lanes.steady import SteadyCalls

WORTH_WAKING = 2e5  # nanoseconds of work for which other threads are woken
ARRIVALS, SLEEPERS, HASTE = 0, 1, 8  # places in a barrier; HASTE: by how much threads spin less than SPINS


def new_barrier() -> np.ndarray:
    """Numbers by which threads wait for each other, or take parts: all zero."""
    return np.zeros(16, np.int64)


@inner(nogil=True, _nrt=False)
def barrier_wait(barrier, arrivals):
    """Wait until the threads have arrived `arrivals` times in all.

    Who spins in vain falls asleep, and all spin for half as long from then on: another thread waits for a core.  Every
    wait that ends while spinning brings back a quarter of what is lacking.
    """
    if atomic_add(barrier, ARRIVALS, 1) + 1 >= arrivals:
        if atomic_load(barrier, SLEEPERS) > 0:
            wake_all(barrier)
        return
    haste = barrier[HASTE]
    for _ in range(SPINS - haste):
        if atomic_load(barrier, ARRIVALS) >= arrivals:
            if haste > 0:
                barrier[HASTE] = haste - haste // 4 - 1
            return
        pause()
    barrier[HASTE] = min((SPINS + haste) // 2, SPINS - FEWEST_SPINS)
    atomic_add(barrier, SLEEPERS, 1)
    seen = atomic_load(barrier, ARRIVALS)
    while seen < arrivals:
        sleep_while(barrier, seen)
        seen = atomic_load(barrier, ARRIVALS)
    atomic_add(barrier, SLEEPERS, -1)


@inner(nogil=True, _nrt=False)
def next_part(counter):
    """A number that no other thread has been given yet: 0, 1, 2 ... of a barrier at which nobody waits."""
    return atomic_add(counter, ARRIVALS, 1)


@inner(nogil=True)
def share(first, last, thread, threads):
    """The part of first..last that belongs to a thread."""
    n = last - first
    return first + n * thread // threads, first + n * (thread + 1) // threads


class Team:
    """Threads that run one compiled function together; the caller is thread 0.

    threads: how many run; if `adaptive`, at most how many: then each function runs on as many as are fastest.
    is_steady: tuples that a function gets have parts of the same types in every call (lanes.steady).
    """

    def __init__(self, threads: int, adaptive: bool = False, is_steady: bool = False):
        self.threads = threads
        self._steady = SteadyCalls() if is_steady else None
        self.is_adaptive = adaptive and threads > 1
        self._choices: dict[Callable, ThreadChoice] = {}
        self._workers: list[Worker] = []
        self._barrier = new_barrier()

    def run(
        self,
        function: Callable,
        *arguments: Any,
        amount: float | Callable[[], float] = 1.0,
        shares: Callable[[int], Any] | None = None,
    ) -> None:
        """function(thread, threads, barrier, *arguments) on every thread; returns when all are done.

        amount: of work, in any unit, say iterations: times are compared per amount. A function is called afterwards.
        shares: shares(threads) goes before the other arguments, for what depends on the number of threads.
        """
        threads = self.thread_count(function)
        if shares is not None:
            arguments = (shares(threads), *arguments)
        if not self.is_adaptive:
            self._run_on(threads, function, arguments)
            return
        began = time.perf_counter()
        self._run_on(threads, function, arguments)
        seconds = time.perf_counter() - began
        self._choices[function].record(seconds, amount() if callable(amount) else amount)

    def run_for(self, nanoseconds: float, function: Callable, *arguments: Any) -> None:
        """`run`, but on the caller's thread alone if it needs only about so long: waking the others takes longer."""
        if nanoseconds < WORTH_WAKING or self.threads == 1:
            self._run_on(1, function, arguments)
        else:
            self.run(function, *arguments, amount=nanoseconds)

    def call(self, function: Callable, *arguments: Any) -> Any:
        """function(*arguments), on the caller's thread."""
        if self._steady is not None:
            function = self._steady.point_of(function, arguments)
        return function(*arguments)

    def thread_count(self, function: Callable) -> int:
        """On how many threads the next run of a function is."""
        if not self.is_adaptive:
            return self.threads
        choice = self._choices.get(function)
        if choice is None:
            choice = self._choices[function] = ThreadChoice(self.threads)
        return choice.count

    def _run_on(self, threads: int, function: Callable, arguments: tuple) -> None:
        barrier = self._barrier
        barrier[ARRIVALS] = barrier[SLEEPERS] = 0
        if self._steady is not None:
            function = self._steady.point_of(function, (0, threads, barrier, *arguments))
        if threads == 1:
            function(0, 1, barrier, *arguments)
            return
        if not self._workers:
            self._workers = [Worker() for _ in range(self.threads - 1)]
            weakref.finalize(self, dismiss_all, self._workers)
        workers = self._workers[: threads - 1]
        for thread, worker in enumerate(workers, 1):
            worker.start(function, thread, threads, barrier, *arguments)
        try:
            function(0, threads, barrier, *arguments)
        finally:
            for worker in workers:
                worker.wait()
