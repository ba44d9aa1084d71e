"""Arguments that are handed on whole arrive as they were; errors and owners of arrays are not lost on the way."""

import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit, typeof, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime import _nrt_python
from numba.core.runtime.nrt import rtsys

from pliant.lanes import cache
from pliant.lanes.entry import EntryLibrary, entry
from pliant.lanes.inner import inner

plain = inner(error_model="numpy", _nrt=False)
allocating = inner(error_model="numpy", _nrt=True)


class Table(NamedTuple):
    values: np.ndarray
    places: np.ndarray
    scale: float
    is_used: bool


@plain
def _weighted(table, first, nothing, pair, factor=2.0):
    total = 0.0
    for k in range(first, len(table.places)):
        total += table.values[table.places[k], 1] * table.scale
    return (total * factor if table.is_used else pair[0]), pair[1] is not nothing


@plain
def _through(tables, first, nothing, pair):
    a, _ = _weighted(tables[0], first, nothing, pair)
    b, differs = _weighted(tables[1], first, nothing, pair, 3.0)
    return a, b, differs


@plain
def _sum_of_all(factor, *vectors):
    total = 0.0
    for vector in vectors:
        total += factor * vector[0] + vector[1]
    return total


@entry(error_model="numpy")
def sum_of_three(a, b, c):
    return _sum_of_all(2.0, a, b, c)


def test_any_number_of_arguments_arrives() -> None:
    assert sum_of_three((1.0, 2.0), (3.0, 4.0), (5.0, 6.0)) == 30.0


@entry(error_model="numpy")
def sums(tables, first, nothing, pair):
    return _through(tables, first, nothing, pair)


@pytest.mark.parametrize("is_used", [True, False])
def test_nested_tuples_arrays_and_defaults_arrive(is_used) -> None:
    values = np.arange(12.0).reshape(4, 3)
    tables = (
        Table(values, np.array([3, 0, 2]), 0.5, is_used),
        Table(np.asfortranarray(values)[::2], np.array([1, 1, 0]), 2.0, True),
    )
    found = sums(tables, 1, None, (7.0, 1))
    expected = (2.0 * 0.5 * (1.0 + 7.0) if is_used else 7.0, 3.0 * 2.0 * (7.0 + 1.0), True)
    assert found == expected


def test_references_to_arrays_are_neither_lost_nor_kept() -> None:
    values, places = np.ones((4, 3)), np.array([0, 1])
    tables = (Table(values, places, 1.0, True), Table(values, places, 1.0, True))
    sums(tables, 0, None, (7.0, 1))
    before = sys.getrefcount(values), sys.getrefcount(places)
    for _ in range(100):
        sums(tables, 0, None, (7.0, 1))
    assert (sys.getrefcount(values), sys.getrefcount(places)) == before


@allocating
def _doubled(values):
    result = np.empty_like(values)
    for k in range(len(values)):
        result[k] = 2.0 * values[k]
    return result


@entry()
def doubled_twice(values):
    return _doubled(_doubled(values))


def test_arrays_made_on_the_way_are_freed() -> None:
    values = np.arange(1000.0)
    assert np.array_equal(doubled_twice(values), 4.0 * values)
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        for _ in range(10):
            doubled_twice(values)
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free >= 20


def test_an_array_is_not_returned_to_a_function_that_would_not_free_it() -> None:
    @entry(_nrt=False)
    def leaks(values):
        return _doubled(values)[0]

    with pytest.raises(TypeError, match="_doubled returns arrays to a function that does not free them"):
        leaks(np.ones(3))


@plain
def _positive(x):
    if x < 0.0:
        raise ValueError("negative")
    return x


@plain
def _root(x):
    return _positive(x) ** 0.5


@entry()
def root_of_all(values):
    total = 0.0
    for k in range(len(values)):
        total += _root(values[k])
    return total


def test_errors_pass_through_all_callers() -> None:
    assert root_of_all(np.array([4.0, 9.0])) == 5.0
    with pytest.raises(ValueError, match="negative"):
        root_of_all(np.array([4.0, -1.0]))


@plain
def _square(x):
    return x * x


@plain
def _found(x):
    return x if x > 0.0 else None


@entry()
def square_or_less(x):
    return -1.0 if _found(x) is None else _square(x)


def test_only_functions_that_raise_are_asked_whether_they_failed() -> None:
    assert [square_or_less(x) for x in (3.0, -3.0)] == [9.0, -1.0]

    def fails(function) -> set[bool]:
        with global_compiler_lock:  # a caller that was found in the cache has compiled nothing
            function.dispatcher.compile((types.float64,))
        return {result.metadata["fails"] for result in function.dispatcher.overloads.values()}

    assert fails(_square) == {False}
    assert fails(_positive) == fails(_root) == {True}


def test_numbas_own_functions_serve_other_peoples_code_too() -> None:
    """min and np.zeros were compiled without machine code for an entry; a plain njit function calls them the same."""

    @entry()
    def ours(n):
        return np.zeros((n, 2)).sum() + min(n, 7)

    @njit
    def theirs(n):
        return np.zeros((n, 2)).sum() + min(n, 7) + _square(float(n))

    assert ours(3) == 3.0
    assert theirs(3) == 12.0


@inner()
def _scale(rows, places, factor):
    for k in range(len(places)):
        row = rows[places[k]]
        for i in range(len(row)):
            row[i] *= factor


@inner()
def _gather(rows, places):
    return rows[places]


@entry()
def scale_and_sum(rows, places, factor):
    _scale(rows, places, factor)
    return _gather(rows, places).sum()


def test_only_functions_that_make_or_return_arrays_count_references() -> None:
    rows, places = np.ones((3, 2)), np.array([0, 2])
    assert scale_and_sum(rows, places, 3.0) == 12.0
    assert rows.tolist() == [[3.0, 3.0], [1.0, 1.0], [3.0, 3.0]]

    def counts(function, *arguments) -> bool:
        with global_compiler_lock:
            function.dispatcher.compile(tuple(map(typeof, arguments)))
        (result,) = function.dispatcher.overloads.values()
        return any(symbol.name == "NRT_decref" for symbol in result.library._final_module.functions)

    assert not counts(_scale, rows, places, 3.0)
    assert counts(_gather, rows, places)


@entry()
def first_of(arrays, k):
    return arrays[k], len(arrays)


def test_an_array_that_is_returned_outlives_its_owner() -> None:
    arrays = (np.arange(5.0), np.arange(3.0))
    before = sys.getrefcount(arrays[1])
    for _ in range(10):
        assert first_of(arrays, 1)[0][2] == 2.0
    after = sys.getrefcount(arrays[1])
    assert after <= before + 1  # pytest keeps parts of what it has asserted
    tails = [_tail_of(np.arange(1000.0) + k) for k in range(3)]
    assert [tail[0] for tail in tails] == [990.0, 991.0, 992.0]


@entry()
def _tail_of(values):
    return values[-10:]


def test_an_entry_keeps_machine_code_and_no_llvm_code() -> None:
    """Whether it was compiled by this process or found on disk."""
    root_of_all(np.array([4.0, 9.0]))
    for result in root_of_all.overloads.values():
        assert result.library._finalized
        assert not list(result.library._final_module.functions)


def test_reading_arguments_is_left_as_it_is_written(monkeypatch, tmp_path) -> None:
    """LLVM's passes took a sixth of their time for it."""
    monkeypatch.setattr(cache, "generation_folder", lambda: tmp_path)  # where nothing is compiled yet
    modules = []
    add = EntryLibrary.add_ir_module
    monkeypatch.setattr(EntryLibrary, "add_ir_module", lambda self, module: (modules.append(module), add(self, module)))

    @entry(error_model="numpy")
    def scaled_sum(table, factor):
        return table.values[0, 1] * table.scale * factor

    assert scaled_sum(Table(np.array([[1.0, 2.0]]), np.zeros(1, np.int64), 3.0, True), 0.5) == 3.0
    written = [function for module in modules for function in module.functions if not function.is_declaration]
    unoptimised = {function.name for function in written if "optnone" in function.attributes}
    assert {name for name in unoptimised if name.startswith("read")} >= {"read", "read.1", "read.2"}
    kernels = {function.name for function in written} - unoptimised
    assert len(kernels) == 1, "the function itself, and nothing else, is optimised"
    assert "scaled_sum" in kernels.pop()
