"""The passes that compile Pliant's functions are Numba's, in Numba's order, and leave no trace in the process."""

import contextlib
import gc
from pathlib import Path

import numpy as np
import pytest
from numba import types
from numba.core import analysis, errors
from numba.core.compiler import DefaultPassBuilder, Flags, run_frontend
from numba.core.compiler_machinery import PassManager
from numba.core.postproc import PostProcessor
from numba.core.registry import cpu_target
from numba.core.typed_passes import NativeLowering, NoPythonBackend

from pliant.garbage import COLLECT_AFTER
from pliant.lanes import cache
from pliant.lanes.compiling import CHANGES, compiling_quickly
from pliant.lanes.entry import EntryCompiler, entry
from pliant.lanes.inner import inner
from pliant.lanes.pipeline import PASSES, LeanFlags
from pliant.lanes.variables import uses_and_definitions, variables_in


class State:
    """What Numba looks at when it lists its passes."""

    func_ir = None
    flags = Flags()


def passes_of_numba() -> list[type]:
    passes: PassManager = DefaultPassBuilder.define_nopython_pipeline(State())
    return [step for step, _ in passes.passes]


def test_the_passes_are_numbas_in_its_order() -> None:
    rest = iter(passes_of_numba())
    for step in (*PASSES, NativeLowering, NoPythonBackend):
        assert step in rest, f"{step.__name__} is not among Numba's passes, or earlier"


@inner(nogil=True)
def _scaled(x, factor):
    return x * factor


def test_functions_compile_with_them_and_with_closures_by_all_passes() -> None:
    @entry(nogil=True)
    def plain(x):
        return _scaled(x, 3.0) + 1.0

    @entry(nogil=True)
    def with_comprehension(n):
        return sum([_scaled(i, 2.0) for i in range(n)])

    assert plain(2.0) == 7.0
    assert with_comprehension(4) == 12.0
    assert plain._compiler.pipeline_class is EntryCompiler


def test_an_error_names_the_function_and_what_is_wrong() -> None:
    @entry(nogil=True)
    def wrong(x):
        return x + "a"

    with pytest.raises(errors.TypingError, match="No implementation of function"):
        wrong(1.0)
    assert not list(Path(wrong._cache.cache_path).glob("*wrong*.claim")), "other processes wait for this one"


@pytest.mark.parametrize("chosen", [{}, {"nrt": True}, {"forceinline": True, "nrt": True}, {"nrt": False}])
@pytest.mark.parametrize("other", [{}, {"nrt": True}, {"forceinline": True}, {"forceinline": False, "nrt": False}])
def test_flags_are_equal_as_numbas_are(chosen, other) -> None:
    def made(kind, values):
        flags = kind()
        for name, value in values.items():
            setattr(flags, name, value)
        return flags

    is_equal = made(Flags, chosen) == made(Flags, other)
    assert (made(LeanFlags, chosen) == made(LeanFlags, other)) is is_equal
    assert (made(LeanFlags, chosen) == made(Flags, other)) is is_equal
    assert hash(made(LeanFlags, chosen)) == hash(made(LeanFlags, other))
    assert made(LeanFlags, chosen).copy() == made(LeanFlags, chosen)


def test_what_compiling_changes_in_the_process_is_taken_back() -> None:
    threshold, before = gc.get_threshold(), [getattr(place, name) for place, name, _ in CHANGES]
    with contextlib.suppress(ValueError), compiling_quickly():
        assert gc.get_threshold()[0] == COLLECT_AFTER
        assert errors.termcolor().errmsg("a message") == "a message"
        assert all(getattr(place, name) is value for place, name, value in CHANGES)
        raise ValueError
    assert gc.get_threshold() == threshold
    assert [getattr(place, name) for place, name, _ in CHANGES] == before


def test_variables_of_statements_are_those_that_numba_finds() -> None:
    def text(values, limit):
        total, k = 0.0, 0
        while k < limit:
            if values[k] > total:
                total += values[k] * float(k)
            k, first = k + 1, (values[k], total)
            total = min(*first)
        return total, {"a": k}

    blocks = run_frontend(text).blocks
    for block in blocks.values():
        for statement in block.body:
            found = statement.list_vars()
            assert variables_in(statement, vars(statement)) == found
    assert uses_and_definitions(blocks) == analysis.compute_use_defs(blocks)
    assert sum(map(len, uses_and_definitions(blocks).defmap.values())) > 10


def test_compiled_code_may_not_call_an_entry() -> None:
    @entry(nogil=True)
    def called(x):
        return x + 1.0

    @entry(nogil=True)
    def caller(x):
        return called(x)

    with pytest.raises(errors.TypingError, match="called is an entry, which Python calls"):
        caller(1.0)


def _loop_with_branches(values, limit):
    total, k = 0.0, 0
    while k < limit:
        if values[k] > total:
            total += values[k] * float(k)
        else:
            values[k] = total
        k += 1
    return total


def _lines_after_postprocessing(text) -> list[str]:
    function = run_frontend(text)
    PostProcessor(function).run(emit_dels=True)
    return [str(statement) for _, block in sorted(function.blocks.items()) for statement in block.body]


def test_variables_end_where_numba_ends_them() -> None:
    expected = _lines_after_postprocessing(_loop_with_branches)
    with compiling_quickly():
        assert _lines_after_postprocessing(_loop_with_branches) == expected
    assert sum(line.startswith("del ") for line in expected) > 10


def test_blocks_of_with_and_of_try_are_read_as_by_numba() -> None:
    def managed(values):
        with opened:  # noqa: F821
            total = values[0]
        return total

    def guarded(values):
        try:
            total = values[0]
        except Exception:
            total = 0.0
        return total

    def lines(text):
        blocks = run_frontend(text).blocks
        return [str(statement) for _, block in sorted(blocks.items()) for statement in block.body]

    expected = [lines(text) for text in (managed, guarded, _loop_with_branches)]
    assert any("enter_with" in line for line in expected[0])
    with compiling_quickly():
        assert [lines(text) for text in (managed, guarded, _loop_with_branches)] == expected


def test_types_have_numbas_hashes_and_models() -> None:
    array = types.Array(types.float64, 2, "C")
    kinds = [types.float32, array, types.UniTuple(array, 3), types.Tuple((array, types.int64)), types.literal(3)]
    hashes = [hash(kind) for kind in kinds]
    manager = cpu_target.target_context.data_model_manager
    models = [manager[kind] for kind in kinds]
    with compiling_quickly():
        for _ in range(2):
            assert [hash(kind) for kind in kinds] == hashes
            assert [manager[kind] for kind in kinds] == models
        again = types.Tuple((types.Array(types.float64, 2, "C"), types.int64))
        assert again is kinds[3]
        assert hash(types.UniTuple(array, 17)) == hash(types.UniTuple(array, 17).key)


def test_warnings_of_numba_are_shown(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(cache, "generation_folder", lambda: tmp_path)  # where nothing is compiled yet

    @entry()
    def product(a, b):
        return np.dot(a, b)

    a = np.arange(6.0)
    with pytest.warns(errors.NumbaPerformanceWarning, match="contiguous"):
        assert product(a[::2], a[::2]) == 0.0 + 4.0 + 16.0
