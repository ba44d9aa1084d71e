"""Numbers that several threads change at once, and ways to wait until one has changed: what barriers are made of.

Who waits spins for a moment and then sleeps in the kernel (a futex on Linux), so that a thread which has lost its core
gets this one.  Where there is no futex, a waiting thread gives up its time slice again and again.
"""

from __future__ import annotations

import os
import platform
import sys

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant.lanes.entry import entry
from pliant.lanes.inner import inner

_MACHINE = platform.machine().lower()
_IS_X86 = _MACHINE in ("x86_64", "amd64")
_IS_ARM = _MACHINE in ("arm64", "aarch64")
SPINS = 4000 if _IS_X86 else 40000  # looks at a number: 100 us, as long as falling asleep and waking up may take
FEWEST_SPINS = SPINS // 200  # where looking has been in vain lately

_FUTEX = {"x86_64": 202, "aarch64": 98}.get(_MACHINE, 0) if sys.platform == "linux" else 0  # of the system call
_WAIT, _WAKE = 128, 129  # FUTEX_WAIT and FUTEX_WAKE of FUTEX_PRIVATE_FLAG
_ALL = 2**31 - 1
_YIELD = types.ExternalFunction("sched_yield" if os.name == "posix" else "SwitchToThread", types.int32())
_SYSTEM_CALL = types.ExternalFunction("syscall", types.int64(*[types.int64] * 7))


def _pointer(context, builder, array_type, array, place):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [place])


@intrinsic
def atomic_add(typingctx, array, place, value):
    """Add to array[place]; what was there before."""

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature.args[0], *args[:2])
        return builder.atomic_rmw("add", pointer, args[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), codegen


@intrinsic
def atomic_load(typingctx, array, place):
    """array[place], as the other threads have left it."""

    def codegen(context, builder, signature, args):
        return builder.load_atomic(_pointer(context, builder, signature.args[0], *args), "seq_cst", 8)

    return types.int64(array, types.int64), codegen


@intrinsic
def _address(typingctx, array):
    def codegen(context, builder, signature, args):
        zero = context.get_constant(types.int64, 0)
        return builder.ptrtoint(_pointer(context, builder, signature.args[0], args[0], zero), ir.IntType(64))

    return types.int64(array), codegen


@intrinsic
def pause(typingctx):
    """Let the CPU know that this is a waiting loop, where there is an instruction for it."""

    def codegen(context, builder, signature, args):
        if _IS_X86:
            name, values = "llvm.x86.sse2.pause", []
        elif _IS_ARM:
            name, values = "llvm.aarch64.hint", [ir.IntType(32)(1)]
        else:
            return context.get_dummy_value()
        kind = ir.FunctionType(ir.VoidType(), [v.type for v in values])
        builder.call(builder.module.declare_intrinsic(name, (), kind), values)
        return context.get_dummy_value()

    return types.void(), codegen


if _FUTEX:

    @inner(nogil=True, _nrt=False)
    def sleep_while(array, seen):
        """Sleep until `wake_all`, unless array[0] is no longer `seen`; may also return without a reason."""
        _SYSTEM_CALL(_FUTEX, _address(array), _WAIT, seen & 0xFFFFFFFF, 0, 0, 0)

    @inner(nogil=True, _nrt=False)
    def wake_all(array):
        """Wake all threads that sleep because of array[0]."""
        _SYSTEM_CALL(_FUTEX, _address(array), _WAKE, _ALL, 0, 0, 0)

else:

    @inner(nogil=True, _nrt=False)
    def sleep_while(array, seen):
        """Give up this time slice."""
        _YIELD()

    @inner(nogil=True, _nrt=False)
    def wake_all(array):
        """Nobody sleeps."""


@entry(nogil=True)
def spin(flag, spins):
    """Whether flag[0] has become 1 within so many looks at it."""
    for _ in range(spins):
        if atomic_load(flag, 0) == 1:
            return True
        pause()
    return False


def adapted(spins: int, was_long_enough: bool) -> int:
    """Looks before the next sleep: half as many after some that were in vain, a quarter more after others."""
    return min(SPINS, spins + spins // 4 + 1) if was_long_enough else max(FEWEST_SPINS, spins // 2)
