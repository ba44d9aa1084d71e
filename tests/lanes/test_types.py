"""What fits together and what does not is known before anything runs; uncompiled, the same names work on arrays."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from pliant import lanes
from pliant.lanes import load, make_zero, select, store

single_8, single_4, double_8 = make_zero("single", 8), make_zero("single", 4), make_zero("double", 8)


def test_lanes_of_different_width_or_precision_do_not_mix() -> None:
    """Adding them is a typing error, as is choosing between them."""

    @njit
    def widths():
        return select(single_8() + single_4() < 0.0, 1, 0)

    @njit
    def precisions():
        return select(single_8() + double_8() < 0.0, 1, 0)

    @njit
    def choice(out):
        store(out, 0, select(single_8() < 0.0, single_8(), double_8()))

    for function, arguments in ((widths, ()), (precisions, ()), (choice, (np.zeros(8),))):
        with pytest.raises(TypingError, match="No implementation of function"):
            function(*arguments)


# Defect of lanes.memory: load, store, gather3, load3 and store3 do not compare the array's precision with the lanes':
# a load reads other bits, a store of doubles writes past the end. Remove the mark when it is mended.
def test_lanes_of_another_precision_than_the_array_are_refused() -> None:
    """Single lanes are not read from an array of doubles."""

    @njit
    def copied(a, out):
        store(out, 0, load(a, 0, single_8()))

    with pytest.raises(TypingError):
        copied(np.ones(8), np.zeros(8, np.float32))


def test_plain_functions_work_on_arrays() -> None:
    """Not compiled, every function takes NumPy arrays or floats."""
    a, b = np.array([1.0, -2.0, np.nan, 4.0]), np.array([2.0, -3.0, 0.0, 4.0])
    np.testing.assert_array_equal(lanes.select(a < b, a, b), [1, -3, 0, 4])
    np.testing.assert_array_equal(lanes.minimum(a, b), [1, -3, 0, 4])
    np.testing.assert_array_equal(lanes.maximum(a, b), [2, -2, 0, 4])
    np.testing.assert_array_equal(lanes.absolute(a), np.abs(a))
    assert lanes.count(a < b) == 1
    assert (lanes.sqrt(4.0), lanes.log(1.0), lanes.exp(0.0)) == (2.0, 0.0, 1.0)
    assert (lanes.lane_sum(3.0), lanes.lane_least(3.0), lanes.number(0.5, 3.0), lanes.width_of(3.0)) == (3, 3, 0.5, 1)
