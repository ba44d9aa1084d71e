"""Variables and arrays as values: the same results as Python's, and no memory where none is needed."""

from typing import NamedTuple

import numpy as np
import pytest
from llvmlite import ir

from pliant.lanes.builder import FoldingBuilder, drop_unused, source
from pliant.lanes.compiling import compiling_quickly
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner


class Table(NamedTuple):
    values: np.ndarray  # (n, 2)
    places: np.ndarray


@inner(error_model="numpy")
def first_of(table, k):
    return table.values[table.places[k], 0] + table.values[table.places[k], 1]


@entry(error_model="numpy")
def walk(table, limit):
    """Variables that are assigned in branches, in loops, once before them, and not on every way."""
    total, last, values = 0.0, -1, table.values
    k = 0
    while k < len(table.places):
        value = values[table.places[k], 0] + values[table.places[k], 1]
        if value > limit:
            last, extra = k, 2.0 * value
        else:
            k += 1
            continue
        row = values[table.places[k]]
        total += extra + row[1] - values[0, 0]
        k += 1
    return total, last


@entry(error_model="numpy")
def swapped(values, times):
    """Arrays that change their names in a loop, views that are written to, and arrays that are made."""
    a, b = values, np.zeros(len(values))
    for k in range(times):
        part = b[1:]
        part[k % len(part)] += a[0] + k
        a, b = b, a
    made = np.empty((2, len(values)))
    made[0], made[1] = a, b
    return made.reshape(-1)[1:], part


def _table() -> Table:
    random = np.random.default_rng(0)
    return Table(random.normal(size=(7, 2)), random.permutation(7))


@pytest.mark.parametrize("limit", [-10.0, 0.0, 0.3, 10.0])
def test_variables_of_several_blocks_are_those_of_python(limit: float) -> None:
    assert walk(_table(), limit) == walk.py_func(_table(), limit)


@pytest.mark.parametrize("times", [1, 2, 5])
def test_arrays_of_several_blocks_are_those_of_python(times: int) -> None:
    values = np.arange(4.0)
    expected_values = values.copy()
    expected = swapped.py_func(expected_values, times)
    found = swapped(values, times)
    assert np.array_equal(values, expected_values)
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other)


def test_a_part_of_an_array_in_a_tuple_needs_no_memory() -> None:
    with compiling_quickly():
        first_of.dispatcher.compile((_type_of_table(), _int64()))
    (compiled,) = first_of.dispatcher.overloads.values()
    text = str(compiled.library._final_module)
    assert "alloca" not in text
    assert text.count(" store ") == 1, "the result"
    assert text.count(" load ") == 4, "two places and two numbers"


def _type_of_table():
    from numba import typeof

    return typeof(_table())


def _int64():
    from numba import types

    return types.int64


def _function() -> tuple[ir.Function, FoldingBuilder]:
    i64 = ir.IntType(64)
    pair = ir.LiteralStructType([i64, ir.ArrayType(i64, 2)])
    kind = ir.FunctionType(i64, [pair, i64, i64.as_pointer()])
    function = ir.Function(ir.Module(), kind, "f")
    return function, FoldingBuilder(function.append_basic_block(), False)


def test_parts_of_a_tuple_that_was_made_are_what_was_put_in() -> None:
    function, builder = _function()
    pair, number, _ = function.args
    whole = builder.insert_value(builder.insert_value(pair, number, 0), number, (1, 1))
    assert source(whole, (0,)) == (number, ())
    assert source(whole, (1, 1)) == (number, ())
    assert source(whole, (1, 0)) == (pair, (1, 0))
    assert source(whole, (1,)) == (whole, (1,)), "a part that was changed in a part"
    assert builder.extract_value(whole, 0) is number
    inside = builder.extract_value(pair, 1)
    assert builder.extract_value(inside, 0) is builder.extract_value(pair, (1, 0)), "once in a block"


def test_known_numbers_are_not_computed() -> None:
    function, builder = _function()
    number, zero, one = function.args[1], ir.IntType(64)(0), ir.IntType(64)(1)
    assert builder.add(number, zero) is builder.mul(one, number) is number
    is_less = builder.icmp_signed("<", zero, one)
    assert builder.select(is_less, number, zero) is number
    assert builder.select(builder.icmp_signed("<", one, zero), zero, number) is number
    assert not builder.block.instructions


def test_what_nobody_uses_is_dropped_and_effects_stay() -> None:
    function, builder = _function()
    pair, number, place = function.args
    builder.add(builder.mul(number, number), builder.extract_value(pair, 0))
    builder.load(place)
    used = builder.sub(number, builder.extract_value(pair, 0))
    builder.store(used, place)
    builder.ret(used)
    drop_unused(function)
    assert [part.opname for part in builder.block.instructions] == ["extractvalue", "sub", "store", "ret"]
