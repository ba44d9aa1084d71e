"""Functions that compiled code calls, compiled as far as their callers need and no further.

Numba makes a whole program of every function it meets: wrappers through which Python and C may call it, all of LLVM's
optimisation, machine code.  A kernel is a tree of some hundred small functions that are inlined into one; of each of
them the caller needs the types and the LLVM code alone, and optimises what it has inlined once more.  An inner
function stops there.  That halves the time a kernel takes to compile; the kernel runs the same.

Python may still call an inner function: it is then compiled in full, for that call alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from llvmlite.binding import Linkage, ModuleRef
from numba import _dynfunc, extending, njit, types
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary
from numba.core.compiler_lock import require_global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.typed_passes import NativeLowering

from pliant.lanes.arguments import WholeLower, call_of, can_fail
from pliant.lanes.counting import lowered
from pliant.lanes.pipeline import LeanCompiler
from pliant.lanes.values import ValueLower


def inner(**options: Any) -> Callable[[Callable], InnerFunction]:
    """A decorator like numba.njit(**options) for functions that compiled code calls."""

    def decorate(function: Callable) -> InnerFunction:
        return InnerFunction(function, options)

    return decorate


def overload(function: Callable) -> Callable:
    """numba.extending.overload, for what compiled code calls."""
    return extending.overload(function, jit_options={"pipeline_class": InnerCompiler})


def _any_number(kind: types.Type) -> types.Type:
    return types.unliteral(kind) if isinstance(kind, types.IntegerLiteral) else kind


class InnerLibrary(JITCodeLibrary):
    """LLVM code of one function, to be linked into that of callers: not optimised, no machine code.

    Functions that it calls are not part of it: an entry links each function of its tree once (`tree_of`).
    """

    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self):
        require_global_compiler_lock()
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = "linkonce_odr"  # each caller has its copy, and drops it when all is inlined
        self._finalize_dynamic_globals()
        self._finalized = True

    def _get_module_for_linking(self):
        """With all that it calls, for callers of Numba's own kind."""
        self._ensure_finalized()
        if self._shared_module is None:
            self._shared_module = self._final_module.clone()
            link(self._shared_module, tree_of(self._linking_libraries))
        return self._shared_module


def tree_of(libraries: Iterable[CPUCodeLibrary]) -> list[CPUCodeLibrary]:
    """Libraries and all that inner ones of them call, callers first: LLVM leaves out what nobody calls yet."""
    done: dict[CPUCodeLibrary, None] = {}

    def visit(library: CPUCodeLibrary) -> None:
        if library not in done:
            if isinstance(library, InnerLibrary):
                for called in library._linking_libraries:
                    visit(called)
            done[library] = None

    for library in libraries:
        visit(library)
    return [*reversed(done)]


def link(module: ModuleRef, libraries: Iterable[CPUCodeLibrary]) -> None:
    """Put the code of libraries into a module, without that of libraries they call."""
    for library in libraries:
        own = library._final_module if isinstance(library, InnerLibrary) else library._get_module_for_linking()
        module.link_in(own, preserve=True)


@register_pass(mutates_CFG=True, analysis_only=False)
class SubroutineLowering(NativeLowering):
    """Numba's lowering without wrappers and without machine code, for functions that are called in Numba's way."""

    _name = "subroutine_lowering"

    @property
    def lowering_class(self):
        return ValueLower

    def run_pass(self, state):
        state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.no_compile = state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        super().run_pass(state)
        lowered = state["cr"]
        if lowered.env.consts:
            raise TypeError(f"the inner function {lowered.fndesc.qualname} needs Python objects {lowered.env.consts}")
        # Callers look the function up by this object; nothing calls it, as Python is never shown it.
        key = _dynfunc.make_function(
            lowered.fndesc.lookup_module(), lowered.fndesc.qualname, "", 0, lowered.env, (state.library,)
        )
        lowered.fndesc.typemap = lowered.fndesc.calltypes = None  # they keep Numba's whole form of the text
        self.insert(state, key, lowered.fndesc)
        state.reload_init.extend(state.library._reload_init)
        state["cr"] = lowered._replace(cfunc=key)
        return True

    def insert(self, state, key, fndesc):
        """Tell later functions how to call this one."""
        state.targetctx.insert_user_function(key, fndesc, [state.library])


class InnerLower(WholeLower):
    """Remembers whether the function may fail."""

    def lower(self):
        super().lower()
        self.metadata["fails"] = can_fail(self.function)


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(SubroutineLowering):
    """The same for functions that take their arguments whole."""

    _name = "inner_lowering"

    def run_pass(self, state):
        return lowered(super().run_pass, state)

    @property
    def lowering_class(self):
        return InnerLower

    def insert(self, state, key, fndesc):
        call = call_of(fndesc, state.library, state.metadata["fails"], counted=state.targetctx.enable_nrt)
        state.targetctx._defns[key].append(call, call.signature)


class InnerCompiler(LeanCompiler):
    """Numba's compiler with the lowering above."""

    lowering = InnerLowering


class InnerFunction:
    """A function that compiled code calls without ever being machine code of its own.

    What Numba has to know of it is made when compiled code first names it (lanes.functions): a process that finds all
    its kernels compiled needs none of the thousand inner functions.
    """

    __name__: str

    def __init__(self, function: Callable, options: dict[str, Any]):
        functools.update_wrapper(self, function)
        self.py_func, self.options = function, options

    @cached_property
    def dispatcher(self) -> InnerDispatcher:
        return InnerDispatcher(self.py_func, targetoptions={"nopython": True, "boundscheck": None, **self.options})

    @property
    def _numba_type_(self) -> types.Type:
        return types.Dispatcher(self.dispatcher)

    @cached_property
    def _for_python(self) -> Dispatcher:
        return njit(**self.options)(self.py_func)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """For Python: compiled in full."""
        return self._for_python(*arguments, **named)


class InnerDispatcher(CPUDispatcher):
    """What Numba knows of an inner function."""

    def __init__(self, py_func, locals=None, targetoptions=None, pipeline_class=InnerCompiler):
        super().__init__(py_func, locals, targetoptions, pipeline_class)

    def compile(self, sig):
        """Numba's, without its cache and its clocks, which count every call of LLVM."""
        args, return_type = normalize_signature(sig)
        found = self.overloads.get(tuple(args))
        if found is None:
            found = self._compiler.compile(args, return_type)
            self.overloads[tuple(found.signature.args)] = found
        return found.entry_point

    def get_call_template(self, args, kws):
        """The function for the types of a call: one for all whole numbers, where it does not need to know which.

        Numba would compile f(x, 0), f(x, 1) and f(x, i) as three functions.
        """
        try:
            return super().get_call_template([_any_number(kind) for kind in args], kws)
        except NumbaError:
            return super().get_call_template(args, kws)
