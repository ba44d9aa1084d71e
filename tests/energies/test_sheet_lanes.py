"""Compiled views give the forces, blocks and energies of the NumPy energies: in floats and in lanes."""

import numpy as np
import pytest

from pliant.lanes.types import DTYPES, PRECISIONS, WIDTHS
from pliant.materials import SOLID_LAWS

KINDS = [("double", 1), *((precision, width) for precision in PRECISIONS for width in WIDTHS)]  # width 1: plain floats
QUICK = [("double", 1), ("single", 8), ("double", 4)]  # floats, and what AVX2 has: the others compile for a minute
every_kind = pytest.mark.parametrize(
    ("precision", "width"), [pytest.param(*kind, marks=[pytest.mark.slow] * (kind not in QUICK)) for kind in KINDS]
)
NAMES = ("spring", "rope", "pair", "fibre", "triangle StVenantKirchhoff", "hinge", "straight rod", "bent rod", "bound")
BLOCK = [4, 5, 6, 5, 7, 8, 6, 8, 9]


def assert_equal_to_numpy(case, kernels, columns_of, tolerance: float) -> None:
    """To a multiple of the precision's rounding, of the largest number among the elements; from every corner."""
    x, element = case.x, case.element
    bound = tolerance * np.finfo(kernels.dtype).eps
    energy, gradient, blocks = case.energy(x), case.gradient(x), case.vertex_blocks(x)
    if element.diagonal:  # a constant that kernels keep elsewhere
        blocks = blocks - getattr(case.block, element.diagonal)[:, None, None, None] * np.eye(3)
    seen = []
    for number, view in enumerate(element.views):
        for order in view.orders:
            i = order[0]
            seen.append(i)
            rows = kernels.run(number, columns_of(case, x, number, order))
            got = rows[:, 0], rows[:, 1:4], rows[:, BLOCK].reshape(-1, 3, 3)
            for mine, expected in zip(got, (energy, -gradient[:, i], blocks[:, i]), strict=True):
                np.testing.assert_allclose(mine, expected, rtol=0, atol=bound * np.abs(expected).max())
    assert sorted(seen) == list(range(element.corners))


@every_kind
@pytest.mark.parametrize("name", NAMES)
def test_views_equal_numpy(name: str, precision: str, width: int, sheet_case, view_kernels, columns_of) -> None:
    """Energy, minus gradient and vertex block, seen from every vertex of the element."""
    case = sheet_case(name)
    assert_equal_to_numpy(case, view_kernels(case, precision, width), columns_of, 400)


@pytest.mark.parametrize(
    ("name", "precision"),
    [*(("fold pair", precision) for precision in PRECISIONS), ("rest height", "single"), ("plate square", "double")],
)
def test_views_of_folds_equal_numpy(name: str, precision: str, sheet_case, view_kernels, columns_of) -> None:
    """And padding adds nothing."""
    case = sheet_case(name)
    kernels = view_kernels(case, precision, 8)
    assert_equal_to_numpy(case, kernels, columns_of, 400)
    for number, view in enumerate(case.element.views):
        columns = [0 * values for values in columns_of(case, case.x, number, view.orders[0])]
        np.testing.assert_array_equal(kernels.run(number, columns), 0)


@pytest.mark.parametrize("law", SOLID_LAWS)
def test_membranes_of_every_law_equal_numpy(law: str, sheet_case, view_kernels, columns_of) -> None:
    """Any law of solids is a membrane."""
    case = sheet_case(f"triangle {law}")
    assert_equal_to_numpy(case, view_kernels(case, "double", 4), columns_of, 4000)


@pytest.mark.parametrize("precision", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_padding_adds_nothing(name: str, precision: str, sheet_case, view_kernels, columns_of) -> None:
    """Neighbours at the vertex itself, all constants zero."""
    case = sheet_case(name)
    kernels = view_kernels(case, precision, 8)
    for number, view in enumerate(case.element.views):
        columns = [0 * np.nan_to_num(values) for values in columns_of(case, case.x, number, view.orders[0])]
        np.testing.assert_array_equal(kernels.run(number, columns), 0)
