"""Worker threads that stay inside compiled code and meet at a barrier.

A parallel region a colour costs 5 to 40 microseconds; with ten colours and a small mesh that is most of the time.
Here each thread runs the whole loop over iterations and colours without the interpreter lock, and the threads meet
after every colour: they spin for a moment, then give up their time slice, so that a busy machine is not made worse.
Which thread solves a pack does not change its result, so any number of threads gives the same bits.
"""

from __future__ import annotations

import os
import platform
import threading
import weakref
from collections.abc import Callable

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant.lanes.entry import entry
from pliant.lanes.inner import inner

SPINS_BEFORE_YIELD = 2000
SPINS_BEFORE_SLEEP = 3000
WORTH_WAKING = 2e5  # nanoseconds of work for which other threads are woken
_YIELD = types.ExternalFunction("sched_yield" if os.name == "posix" else "SwitchToThread", types.int32())


def _pointer(context, builder, array_type, array):
    return context.make_array(array_type)(context, builder, array).data


@intrinsic
def _atomic_add(typingctx, array, value):
    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature.args[0], args[0])
        return builder.atomic_rmw("add", pointer, args[1], "seq_cst")

    return types.int64(array, types.int64), codegen


@intrinsic
def _atomic_load(typingctx, array):
    def codegen(context, builder, signature, args):
        return builder.load_atomic(_pointer(context, builder, signature.args[0], args[0]), "acquire", 8)

    return types.int64(array), codegen


@intrinsic
def _pause(typingctx):
    """Tell the CPU that this is a waiting loop, where there is an instruction for it."""

    def codegen(context, builder, signature, args):
        machine = platform.machine().lower()
        if machine in ("x86_64", "amd64"):
            name, values = "llvm.x86.sse2.pause", []
        elif machine in ("arm64", "aarch64"):
            name, values = "llvm.aarch64.hint", [ir.IntType(32)(1)]
        else:
            return context.get_dummy_value()
        kind = ir.FunctionType(ir.VoidType(), [v.type for v in values])
        builder.call(builder.module.declare_intrinsic(name, (), kind), values)
        return context.get_dummy_value()

    return types.void(), codegen


@inner(nogil=True)
def barrier_wait(barrier, arrivals):
    """Wait until the threads have arrived `arrivals` times in all."""
    _atomic_add(barrier, 1)
    spins = 0
    while _atomic_load(barrier) < arrivals:
        _pause()
        spins += 1
        if spins > SPINS_BEFORE_YIELD:
            _YIELD()


@entry(nogil=True)
def spin(flag, spins):
    """Until flag[0] is 1, but not for long."""
    for _ in range(spins):
        if _atomic_load(flag) == 1:
            return
        _pause()


@inner(nogil=True, _nrt=False)
def next_part(counter):
    """A number that no other thread has been given yet: 0, 1, 2 ... of a counter that nobody meets at."""
    return _atomic_add(counter, 1)


@inner(nogil=True)
def share(first, last, thread, threads):
    """The part of first..last that belongs to a thread."""
    n = last - first
    return first + n * thread // threads, first + n * (thread + 1) // threads


class Worker:
    """A thread that waits for tasks.  A lock wakes it in half the time that a pool of the standard library takes."""

    def __init__(self) -> None:
        self.task: tuple[Callable, tuple] | None = None
        self.error: BaseException | None = None
        self.is_done = np.ones(1, np.int64)
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
        spin(self.is_done, SPINS_BEFORE_SLEEP)  # most are done in a moment, and waking up takes longer
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


def _dismiss(workers: list[Worker]) -> None:
    for worker in workers:
        worker.dismiss()


class Team:
    """A fixed number of threads that run one compiled function together; the caller is thread 0."""

    def __init__(self, threads: int):
        self.threads = threads
        self._workers: list[Worker] = []

    def run(self, function: Callable, *arguments) -> None:
        """function(thread, threads, barrier, *arguments) on every thread; returns when all are done."""
        barrier = np.zeros(1, np.int64)
        if self.threads > 1 and not self._workers:
            self._workers = [Worker() for _ in range(self.threads - 1)]
            weakref.finalize(self, _dismiss, self._workers)
        for thread, worker in enumerate(self._workers, 1):
            worker.start(function, thread, self.threads, barrier, *arguments)
        try:
            function(0, self.threads, barrier, *arguments)
        finally:
            for worker in self._workers:
                worker.wait()

    def run_for(self, nanoseconds: float, function: Callable, *arguments) -> None:
        """`run`, but on the caller's thread alone if it needs only about so long: waking the others takes longer."""
        if nanoseconds < WORTH_WAKING:
            function(0, 1, np.zeros(1, np.int64), *arguments)
        else:
            self.run(function, *arguments)
