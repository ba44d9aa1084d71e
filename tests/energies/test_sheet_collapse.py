"""Collapsed elements: forces and blocks stay finite and take their limits."""

import numpy as np
import pytest

from pliant.elements.hinge import Hinges
from pliant.elements.rod_bend import RodBends
from pliant.elements.sheet import Sheets
from pliant.elements.spring import Springs
from pliant.lanes.types import DTYPES, PRECISIONS
from pliant.materials import SOLID_LAWS

WIDTH = 8
NOBODY = np.zeros((1, 0), int)  # elements that the fixture one_element numbers
every_precision = pytest.mark.parametrize("precision", PRECISIONS)


@pytest.fixture
def run(view_kernels, columns_of):
    """A function: ten numbers of an element from the corner that an order begins with, the same in every lane."""

    def compute(case, precision: str, view: int, order: tuple[int, ...]) -> np.ndarray:
        columns = [np.repeat(values, WIDTH, axis=0) for values in columns_of(case, case.x, view, order)]
        rows = view_kernels(case, precision, WIDTH).run(view, columns)
        np.testing.assert_array_equal(rows, np.repeat(rows[:1], WIDTH, axis=0))
        return rows[0]

    return compute


@every_precision
def test_spring_of_no_length(precision: str, run, one_element) -> None:
    """No direction, so no force, and the energy k/2 l0^2; with l0 = 0 it is an isotropic spring."""
    one = np.ones(1)
    case = one_element(Springs(NOBODY, 2 * one, 3 * one, one), np.zeros((2, 3)))
    np.testing.assert_array_equal(run(case, precision, 0, (0, 1)), [6.0, *[0] * 9])
    np.testing.assert_array_equal(case.gradient(case.x), 0)
    case = one_element(Springs(NOBODY, 0 * one, 3 * one, one), np.zeros((2, 3)))
    np.testing.assert_array_equal(run(case, precision, 0, (0, 1)), [0, 0, 0, 0, 3, 0, 0, 3, 0, 3])
    np.testing.assert_array_equal(case.vertex_blocks(case.x), [[3 * np.eye(3)] * 2])


@every_precision
def test_collapsed_membrane_equals_numpy(precision: str, run, one_element) -> None:
    """A triangle pulled into a line pushes along the line; nothing divides by its area."""
    x = np.array([[0.0, 0, 0], [0.5, 0, 0], [1.5, 0, 0]])
    b, area, parameters = np.array([[[-1.0, -1], [1, 0], [0, 1]]]), np.array([0.5]), np.array([[1.3, 0.7]])
    case = one_element(Sheets(NOBODY, SOLID_LAWS["StVenantKirchhoff"], b, area, parameters), x)
    got = run(case, precision, 0, (0, 1, 2))
    eps = 50 * float(np.finfo(DTYPES[precision]).eps)
    assert got[0] == pytest.approx(case.energy(x)[0], rel=eps)
    np.testing.assert_allclose(got[1:4], -case.gradient(x)[0, 0], atol=eps)
    block = case.vertex_blocks(x)[0, 0]
    np.testing.assert_allclose(got[4:], block[np.triu_indices(3)], atol=eps * np.abs(block).max())


@every_precision
def test_collapsed_hinge_is_finite(precision: str, run, one_element) -> None:
    """A wing on the edge: it has no side to bend to, so it feels nothing; the rest of the hinge stays finite."""
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 0, 0], [0.5, -1, 0.2]])
    case = one_element(Hinges(NOBODY, np.array([0.3]), np.array([2.0])), x)
    gradient = case.gradient(x)[0]
    np.testing.assert_array_equal(gradient[2], 0)
    assert np.abs(gradient[3]).max() > 0.1
    eps = 50 * float(np.finfo(DTYPES[precision]).eps)
    for view, order in ((0, (2, 0, 1, 3)), (1, (0, 1, 2, 3))):
        got = run(case, precision, view, order)
        np.testing.assert_allclose(got[1:4], -gradient[order[0]], atol=eps)
        assert np.isfinite(got).all()


@every_precision
@pytest.mark.parametrize("rest", [0.0, 0.4])
@pytest.mark.parametrize("end", [1.7, 0.4], ids=["straight", "folded back"])
def test_rod_without_a_plane(end: float, rest: float, precision: str, run, one_element) -> None:
    """Straight or folded back onto itself: no force, and the same blocks as NumPy, positive semidefinite."""
    x = np.outer([0.0, 1.0, end], [0.6, 0.0, 0.8])
    case = one_element(RodBends(NOBODY, np.array([rest]), np.array([2.0])), x)
    eps = 200 * np.finfo(DTYPES[precision]).eps
    np.testing.assert_allclose(case.gradient(x), 0, atol=1e-11)
    blocks = case.vertex_blocks(x)[0]
    assert np.linalg.eigvalsh(blocks).min() > -1e-9
    for view, order in ((0, (0, 1, 2)), (1, (1, 0, 2)), (0, (2, 1, 0))):
        got = run(case, precision, view, order)
        expected = blocks[order[0]][np.triu_indices(3)]
        np.testing.assert_allclose(got[1:4], 0, atol=eps * 1e4)
        np.testing.assert_allclose(got[4:], expected, atol=1e4 * eps * max(1, np.abs(blocks).max()))
