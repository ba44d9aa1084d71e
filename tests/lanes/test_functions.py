"""Physics functions run on floats, arrays and traced numbers, and give what compiled code gives."""

import operator

import numpy as np
import pytest
from numba import njit

from pliant.elements.hinge import add_at_edge, hinge_measure
from pliant.elements.rod_bend import add_at_middle
from pliant.elements.spring import add_spring
from pliant.elements.triangle import add_membrane
from pliant.lanes import inverse_cube_root, maximum, number, select, sqrt
from pliant.lanes.angles import atan2
from pliant.lanes.functions import LaneFunction, physics
from pliant.lanes.traced import OPERATIONS, Traced
from pliant.lanes.vectors import positive_part, solve_symmetric
from pliant.materials import StVenantKirchhoff
from pliant.materials.calculus import law_code

FUNCTIONS = {
    "sqrt": np.sqrt,
    "absolute": np.abs,
    "log": np.log,
    "exp": np.exp,
    "atan2": np.arctan2,
    "inverse_cube_root": inverse_cube_root,
    "reciprocal": lambda a: 1 / a,
    "select": lambda mask, a, b: a if mask else b,
}


class Symbol(Traced):
    """A number as the text of how it is computed."""

    def __init__(self, text: str):
        self.text = text

    def apply(self, operation, *operands):
        texts = [operand.text if isinstance(operand, Symbol) else repr(float(operand)) for operand in operands]
        return Symbol(f"{operation}({', '.join(texts)})")

    def repeat(self, step, most, start, constants):
        raise AssertionError("no function of these tests has a loop")

    def evaluate(self, values: dict[str, float]) -> float:
        known = {name: getattr(operator, name, None) for name in OPERATIONS} | FUNCTIONS
        return eval(self.text, {"__builtins__": {}, **known}, values)


def flat(result) -> list:
    """Numbers of nested tuples, one after another."""
    return [n for part in result for n in flat(part)] if isinstance(result, tuple) else [result]


@physics
def of_spring(x, y, z, rest, k, compression):
    return add_spring((x, y, z), (x, y, z, x, y, z), (x, y, z), rest, k, compression)


@physics
def of_hinge(x, y, z, rest, k, s):
    one, zero = number(1.0, x), number(0.0, x)
    return add_at_edge((zero, zero, zero), (s, s, s, s, s, s), (one, x, y), (z, one, s), (x, -one, z), rest, k)


@physics
def of_hinge_measure(x, y, z, rest, k, s):
    one, zero = number(1.0, x), number(0.0, x)
    return hinge_measure(((zero, zero, s), (one, x, y), (z, one, s), (x, -one, z)), rest, k)


@physics
def of_rod(x, y, z, rest, k, s):
    zero = number(0.0, x)
    return add_at_middle((zero, zero, zero), (s, s, s, s, s, s), (x, y, z), (z, s, x), rest, k)


derivatives = physics(law_code(StVenantKirchhoff).functions.derivatives)


@physics
def of_membrane(x, y, z, a, mu, lam):
    zero, one = number(0.0, x), number(1.0, x)
    gradients = (-one, zero), (zero, one)
    return add_membrane(
        (zero, zero, zero), (x, y, z, x, y, z), (x, y, z), (z, a, x), *gradients, a, (mu, lam), derivatives
    )


@physics
def of_primitives(x, y, z, a, b, c):
    return select((x < y) | (z >= a), x, y), maximum(a, b), atan2(x, -y), inverse_cube_root(c), sqrt(z * z), -abs_(x)


@physics
def abs_(x):
    return select(x < 0.0, -x, x)


CHOSEN = {f.__name__: f for f in (of_spring, of_hinge, of_hinge_measure, of_rod, of_membrane, of_primitives)}
VALUES = np.random.default_rng(5).uniform(0.2, 1.3, (7, 6))


@pytest.mark.parametrize("name", CHOSEN)
def test_one_text_gives_the_same_everywhere(name: str) -> None:
    """Compiled, on floats, on arrays of NumPy, and written down by a tracer."""
    function = CHOSEN[name]

    @njit(error_model="numpy")
    def compiled(x, y, z, a, b, c):
        return function(x, y, z, a, b, c)

    expected = np.array([flat(compiled(*row)) for row in VALUES])
    plain = np.array([flat(function(*map(float, row))) for row in VALUES], float)
    np.testing.assert_allclose(plain, expected, rtol=1e-13, atol=1e-14)
    arrays = np.stack(np.broadcast_arrays(*flat(function(*VALUES.T))), axis=1)
    np.testing.assert_allclose(arrays, expected, rtol=1e-13, atol=1e-14)
    names = "uvwrst"
    symbols = flat(function(*map(Symbol, names)))
    for row, numbers in zip(VALUES, expected, strict=True):
        known = dict(zip(names, row.tolist(), strict=True))
        traced = [s.evaluate(known) if isinstance(s, Symbol) else s for s in symbols]
        np.testing.assert_allclose(traced, numbers, rtol=1e-13, atol=1e-14)


def test_calls_below_run_as_python_too() -> None:
    """A function with a loop and others below it: the eigenvalues of a matrix and its solution."""
    A = np.random.default_rng(2).normal(size=(3, 3))
    A = A + A.T
    H = tuple(A[np.triu_indices(3)])
    values, vectors = np.linalg.eigh(A)
    expected = (vectors * np.maximum(values, 0)) @ vectors.T
    np.testing.assert_allclose(positive_part(H), expected[np.triu_indices(3)], atol=1e-13)
    x, singular = solve_symmetric(H, (1.0, 2.0, 3.0), 1e-12)
    np.testing.assert_allclose(A @ x, [1, 2, 3], atol=1e-12)
    assert not singular


def test_a_lane_function_is_an_object_with_its_name_and_both_forms() -> None:
    assert isinstance(add_spring, LaneFunction)
    assert (add_spring.__module__, add_spring.__name__) == ("pliant.elements.spring", "add_spring")
    assert "force" in add_spring.__doc__
    assert add_spring.compiled.py_func is add_spring.python


def test_every_operation_reaches_a_tracer() -> None:
    """From either side; so that none is computed behind its back."""
    a = Symbol("a")
    for name, text in {
        "add": (2.0 + a, a + 2.0),
        "sub": (2.0 - a, a - 2.0),
        "mul": (2.0 * a, a * 2.0),
        "truediv": (2.0 / a, a / 2.0),
        "lt": (a < 2.0, a < 2.0),
        "and_": (a & a, a & a),
    }.items():
        assert all(one.text.startswith(f"{name}(") for one in text)
    assert (np.float64(2.0) * a).text == "mul(2.0, a)"
    assert (2.0 - a).text == "sub(2.0, a)"
