"""Functions that compiled code calls: the same results from compiled code and from Python, and nothing superfluous."""

import numpy as np
import pytest
from numba import njit

from pliant.lanes.inner import InnerFunction, InnerLibrary, inner


@inner(error_model="numpy")
def ratio(a, b):
    return a / b


@inner(forceinline=True)
def scaled(values, k, factor):
    return values[k] * factor


@njit
def sum_scaled(values, factor):
    return scaled(values, 0, factor) + scaled(values, 1, factor) + scaled(values, len(values) - 1, factor)


@inner()
def item(pair, k):
    return pair[k]


@njit
def items(pair):
    return item(pair, 0), item(pair, 1)


def test_compiled_code_and_python_get_the_same() -> None:
    values = np.array([1.0, 2.0, 5.0])
    assert sum_scaled(values, 3.0) == 24.0
    assert scaled(values, 2, 3.0) == 15.0
    assert ratio(1.0, 0.0) == np.inf
    assert ratio(3, 2) == 1.5


def test_an_inner_function_has_no_machine_code_of_its_own() -> None:
    sum_scaled(np.ones(3, np.float32), 2.0)
    results = list(scaled.dispatcher.overloads.values())
    assert isinstance(scaled, InnerFunction)
    assert results
    for result in results:
        assert isinstance(result.library, InnerLibrary)
        with pytest.raises(RuntimeError, match="no compiled object"):
            result.library._get_compiled_object()


def test_one_function_serves_all_whole_numbers() -> None:
    """f(x, 0), f(x, 1) and f(x, i) are one."""
    sum_scaled(np.ones(3, np.float64), 2.0)
    doubles = [arguments for arguments in scaled.dispatcher.overloads if "float64" in str(arguments[0])]
    assert len(doubles) == 1


def test_a_number_that_decides_a_type_is_kept() -> None:
    """The items of a pair of unlike things: which one it is has to be known."""
    values, count = items((np.ones(2), 3))
    np.testing.assert_array_equal(values, [1.0, 1.0])
    assert count == 3


def test_errors_of_inner_functions_reach_the_caller() -> None:
    @inner()
    def refuse(a):
        if a < 0:
            raise ValueError("negative")
        return a

    @njit
    def call(a):
        return refuse(a)

    assert call(1) == 1
    with pytest.raises(ValueError, match="negative"):
        call(-1)
