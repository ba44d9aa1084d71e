"""Compiled functions that Python calls, kept on disk between processes.

An entry is looked for in the folder of this version of the sources (lanes.cache), among the kernels that came with the
wheel (lanes.shipped), and in the folders of earlier versions; it is compiled if it is in none.  Numba's own cache
watches the one file a function stands in; file names here hold a digest of all sources that the function can reach
(lanes.reach), so an entry may call any of them, and an edit elsewhere does not compile it again.  What one process
compiles (lanes.claims) others wait for; a second process helps with what most scenes need (lanes.ahead).
"""

from __future__ import annotations

import logging
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from llvmlite import binding
from numba.core.caching import _Cache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.errors import TypingError
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.core.typed_passes import NativeLowering

from pliant.lanes import ahead, claims, shipped
from pliant.lanes import cache as folders
from pliant.lanes.counting import lowered
from pliant.lanes.first_kernels import as_text, place_of
from pliant.lanes.inner import link, tree_of
from pliant.lanes.pipeline import LeanCompiler
from pliant.lanes.reach import reach_digest
from pliant.lanes.wrapper import EntryLower

logger = logging.getLogger("pliant")


@dataclass(frozen=True)
class Use:
    """A compiled function that this process has loaded or compiled."""

    file: str
    name: str
    origin: str  # "compiled", "cache" or "wheel"
    seconds: float
    size: int  # bytes on disk; 0 if it could not be kept


USES: list[Use] = []  # in order of first use


def entry(**options: Any) -> Callable[[Callable], EntryFunction]:
    """A decorator like numba.njit(cache=True, **options) that keeps what it compiles in Pliant's cache.

    With _nrt=False it does not count references to arrays, which is less to compile; it can make and return none.
    """

    def decorate(function: Callable) -> EntryFunction:
        return EntryFunction(function, targetoptions={"nopython": True, "boundscheck": None, **options})

    return decorate


class EntryLibrary(JITCodeLibrary):
    """LLVM code that is optimised once, when all that it calls is part of it, and made machine code.

    It is not loaded into the process: the machine code is, as if it had been found on disk, and this is forgotten.
    """

    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self):
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
        link(self._final_module, tree_of(self._linking_libraries))
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._compiled_object = self._codegen._tm.emit_object(self._final_module)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class EntryLowering(NativeLowering):
    """Numba's lowering with such a library, with arguments that are handed on whole, and with counts where needed."""

    _name = "entry_lowering"

    @property
    def lowering_class(self):
        return EntryLower

    def run_pass(self, state):
        return lowered(self._lower, state)

    def _lower(self, state):
        state.library = EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        return super().run_pass(state)


class EntryCompiler(LeanCompiler):
    """Numba's compiler with the lowering above."""

    lowering = EntryLowering


class EntryFunction(CPUDispatcher):
    """A function that Python calls, compiled by the passes of lanes.pipeline, with a cache of its own."""

    def __init__(self, py_func, locals=None, targetoptions=None, pipeline_class=EntryCompiler):
        super().__init__(py_func, locals, {"no_cfunc_wrapper": True, **(targetoptions or {})}, pipeline_class)
        self._cache = EntryCache(py_func, f"{py_func.__module__}.{py_func.__qualname__}")

    def shown_as(self, name: str) -> None:
        """What people are shown in place of the function's own name."""
        self._cache.name = name

    def file_for(self, types: tuple) -> str:
        """Name of the file with its machine code for arguments of these types."""
        return self._cache.file(types)

    def get_call_template(self, args, kws):
        """What Numba asks for a call in compiled code."""
        raise TypingError(f"{self._cache.name} is an entry, which Python calls: compiled code calls inner functions")

    def compile(self, sig):
        """Numba's, without its clocks, which count every call of LLVM."""
        with global_compiler_lock:
            args, return_type = normalize_signature(sig)
            result = self.overloads.get(tuple(args))
            if result is not None:
                return result.entry_point
            try:
                result = self._cache.load_overload(sig, self.targetctx)
                if result is None:
                    from pliant.lanes.compiling import compiling_quickly  # of no use where all is found compiled

                    with compiling_quickly():
                        compiled = self._compiler.compile(args, return_type)
                        content = _packed(compiled)
                    self._cache.save_overload(sig, b"" if compiled.library.has_dynamic_globals else content)
                    result = _unpacked(self.targetctx, content)
            except BaseException:  # Ctrl-C too: other processes would wait for this one
                self._cache.give_up(sig)
                raise
            self.add_overload(result)
            return result.entry_point


class EntryCache(_Cache):
    """What Numba asks for the machine code of one function, under its compiler lock."""

    def __init__(self, function: Callable, name: str):
        self.function, self.name = function, name
        self._started: dict[str, float] = {}

    @property
    def cache_path(self) -> str:
        return str(folders.generation_folder())

    def load_overload(self, sig, target_context) -> CompileResult | None:
        started = time.perf_counter()
        file = self.file(sig)
        _take_over(file)
        found = _find(file)
        ahead.HELPER.report(self._place(sig), found is None)
        if found is None:
            folders.announce_compiling(self.name)
            while found is None and not claims.claim(folders.generation_folder() / file):
                if not ahead.HELPER.compile_meanwhile():
                    claims.wait(folders.generation_folder() / file)
                found = _find(file)
        if found is None:
            self._started[file] = started
            target_context.refresh()
            return None
        origin, data = found
        result = _unpacked(target_context, data)
        USES.append(Use(file, self.name, origin, time.perf_counter() - started, len(data)))
        return result

    def _place(self, sig) -> str:
        label = folders.label_of(self.function.__module__)
        return place_of(label, self.function.__qualname__, map(as_text, sig if isinstance(sig, tuple) else sig.args))

    def save_overload(self, sig, data: bytes) -> None:
        """Keep machine code; none if it holds addresses of this process."""
        file = self.file(sig)
        seconds = time.perf_counter() - self._started.pop(file)
        USES.append(Use(file, self.name, "compiled", seconds, len(data)))
        if data:
            folders.write_atomically(folders.generation_folder() / file, data)
        claims.release(folders.generation_folder() / file)

    def give_up(self, sig) -> None:
        """Let other processes compile what this one does not."""
        self._started.pop(self.file(sig), None)
        claims.release(folders.generation_folder() / self.file(sig))

    def file(self, sig) -> str:
        """Of machine code, in the folder."""
        types = sig if isinstance(sig, tuple) else sig.args
        key = folders.digest(reach_digest(Path(self.function.__code__.co_filename)), *map(str, types))
        return f"{self.function.__module__}.{self.function.__qualname__}-{key}.nbc"

    def enable(self) -> None:
        pass

    def disable(self) -> None:
        pass

    def flush(self) -> None:
        pass


def _packed(result: CompileResult) -> bytes:
    """Machine code and what Python needs to call it. Numba would add LLVM code, for callers that are compiled: of an
    entry there are none, and reading it takes most of the time of loading.
    """
    result.library._ensure_finalized()
    module = result.library._final_module
    symbols = [value.name for value in (*module.functions, *module.global_variables) if not value.is_declaration]
    code = (result.library.name, "object", (result.library._compiled_object, _no_code()))
    result.fndesc.typemap = result.fndesc.calltypes = None  # all of Numba's form of the text
    environments = result._find_referenced_environments()
    used = tuple(environment for environment in environments if environment.consts)  # others would import their modules
    about = (result.fndesc, result.environment, result.signature, result.objectmode, result.lifted, "")
    return dumps((symbols, (code, *about, result.reload_init, used)))


def _unpacked(target_context, data: bytes) -> CompileResult:
    """Loaded without what Numba's compiler has to know (`refresh`), which would take longer than all else."""
    rtsys.initialize(target_context)
    symbols, reduced = pickle.loads(data)
    target_context.codegen()._engine._defined_symbols.update(symbols)
    return CompileResult._rebuild(target_context, *reduced)


@cache
def _no_code() -> bytes:
    return binding.parse_assembly("").as_bitcode()


def _find(file: str) -> tuple[str, bytes] | None:
    """Machine code and where it was found."""
    for origin, folder in (("cache", folders.generation_folder()), ("wheel", shipped.folder())):
        data = None if folder is None else _read(folder / file)
        if data is not None:
            return origin, data
    return None


def _take_over(file: str) -> None:
    """Keep what an earlier version of the sources compiled, if nothing that it can reach has changed."""
    place = folders.generation_folder() / file
    earlier = None if place.exists() else folders.find_earlier(file)
    if earlier is not None:
        data = _read(earlier)
        if data is not None:
            folders.write_atomically(place, data)


def _read(path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
