"""The passes of Numba's compiler that Pliant's functions need, and no others.

Most of the time that a kernel takes to compile is Numba's own Python code, not LLVM.  Many of its passes look for what
our functions do not have (`with` blocks, closures, object mode, functions inlined before their types are known), each
by walking all instructions; and around each pass events are made and types are printed that nobody reads.  The passes
that are left are Numba's, and so is the machine code that comes out.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import CodeType
from typing import Any

from numba.core import typed_passes, untyped_passes
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import NativeLowering

PASSES = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.DeadBranchPrune,
    untyped_passes.GenericRewrites,
    untyped_passes.ReconstructSSA,
    untyped_passes.DeadBranchPrune,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.IRLegalization,
)


class LeanPasses(PassManager):
    """Runs passes one after the other, without a record of events and times."""

    def _runPass(self, index: int, step: Any, state: Any) -> None:
        step.analysis = self._analysis
        step.run_pass(state)


def lean_passes(steps: Iterable[type]) -> LeanPasses:
    passes = LeanPasses("nopython")
    passes.passes = [(step, step.name()) for step in steps]
    passes.finalize()
    return passes


class LeanFlags(Flags):
    """Options of a function. Numba compares them in every look-up of a type: here by those that are not defaults."""

    __slots__ = ()

    def __hash__(self) -> int:
        return 0  # Numba's own is one for all options, too

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Flags):
            return NotImplemented
        return self._values == other._values or _chosen(self) == _chosen(other)


def _chosen(flags: Flags) -> dict[str, Any]:
    return {name: value for name, value in flags._values.items() if value != flags.options[name].default}


class LeanCompiler(CompilerBase):
    """Numba's compiler with these passes; with all of Numba's for functions that hold closures or comprehensions."""

    lowering: type = NativeLowering

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        super().__init__(typingctx, targetctx, library, args, return_type, LeanFlags(flags), locals)

    def define_pipelines(self) -> list[PassManager]:
        if any(isinstance(value, CodeType) for value in self.state.func_id.code.co_consts):
            whole = DefaultPassBuilder.define_nopython_pipeline(self.state)
            return [lean_passes(self.lowering if step is NativeLowering else step for step, _ in whole.passes)]
        return [lean_passes([*PASSES, self.lowering, typed_passes.NoPythonBackend])]
