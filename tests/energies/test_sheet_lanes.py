"""Compiled vertex functions give the forces, blocks and energies of the NumPy energies: in floats and in lanes."""

import numpy as np
import pytest

from pliant.lanes.types import DTYPES, PRECISIONS, WIDTHS
from pliant.materials import SOLID_LAWS

KINDS = [("double", 1), *((precision, width) for precision in PRECISIONS for width in WIDTHS)]  # width 1: plain floats
every_kind = pytest.mark.parametrize(("precision", "width"), KINDS)


def relative(x: np.ndarray, vertex: int, *others: int) -> np.ndarray:
    """(n, 3 len(others)) positions of other vertices relative to one; x (n, k, 3)."""
    return (x[:, others] - x[:, [vertex]]).reshape(len(x), -1)


# For each element: which compiled function sees which of its vertices, and the numbers it is given, from the positions
# (n, k, 3) and the case's data, one column a number.


def spring_numbers(x, data):
    return [("spring", i, [relative(x, i, 1 - i), *data]) for i in range(2)]


def pair_numbers(x, data):
    unused = np.zeros(len(x))
    return [("pair", i, [relative(x, i, 1 - i), *data, unused, unused]) for i in range(2)]


def fibre_numbers(x, data):
    beta, stiffness = data
    return [
        ("fibre", i, [relative(x, i, j, k), beta[:, j], beta[:, k], stiffness])
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    ]


def triangle_numbers(x, data):
    gradients, areas, _, parameters = data
    law_numbers = np.zeros((len(x), 4))
    law_numbers[:, : parameters.shape[1]] = parameters
    return [
        ("membrane", i, [relative(x, i, j, k), gradients[:, j], gradients[:, k], areas, law_numbers])
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    ]


def hinge_numbers(x, data):
    unused = np.zeros(len(x))
    views = (
        ("hinge_edge", 0, 1, 2, 3),
        ("hinge_edge", 1, 0, 3, 2),
        ("hinge_wing", 2, 0, 1, 3),
        ("hinge_wing", 3, 1, 0, 2),
    )
    return [(name, i, [relative(x, i, *others), *data, unused]) for name, i, *others in views]


def joint_numbers(x, data):
    unused = np.zeros(len(x))
    views = (("joint_end", 0, 1, 2), ("joint_middle", 1, 0, 2), ("joint_end", 2, 1, 0))
    return [(name, i, [relative(x, i, *others), *data, unused]) for name, i, *others in views]


NUMBERS = {
    "spring": spring_numbers,
    "rope": spring_numbers,
    "pair": pair_numbers,
    "fibre": fibre_numbers,
    "triangle StVenantKirchhoff": triangle_numbers,
    "hinge": hinge_numbers,
    "straight joint": joint_numbers,
    "bent joint": joint_numbers,
}


def computed(module, name: str, columns: list, precision: str, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Energies (n,), forces (n, 3) and blocks (n, 3, 3) of a compiled loop."""
    table = np.column_stack(columns).astype(DTYPES[precision])
    n, count = table.shape
    out = np.full(10 * n, np.nan, DTYPES[precision])
    getattr(module, name)(table.reshape(-1, width, count).transpose(0, 2, 1).ravel(), out)
    rows = out.reshape(-1, 10, width).transpose(0, 2, 1).reshape(n, 10).astype(float)
    return rows[:, 0], rows[:, 1:4], rows[:, [4, 5, 6, 5, 7, 8, 6, 8, 9]].reshape(n, 3, 3)


def assert_equal_to_numpy(case, x: np.ndarray, module, views, precision: str, width: int, tolerance: float) -> None:
    """To a multiple of the precision's rounding, of the largest number among the elements."""
    bound = tolerance * np.finfo(DTYPES[precision]).eps
    energy, gradient, blocks = case.energy(x), case.gradient(x), case.vertex_blocks(x)
    for name, i, columns in views:
        got = computed(module, name, columns, precision, width)
        for mine, expected in zip(got, (energy, -gradient[:, i], blocks[:, i]), strict=True):
            np.testing.assert_allclose(mine, expected, rtol=0, atol=bound * np.abs(expected).max())


@every_kind
@pytest.mark.parametrize("name", NUMBERS)
def test_vertex_functions_equal_numpy(name: str, precision: str, width: int, sheet_case, sheet_kernels) -> None:
    """Energy, minus gradient and vertex block, seen from every vertex of the element."""
    case = sheet_case(name)
    views = NUMBERS[name](case.x[case.elements], case.data)
    assert_equal_to_numpy(case, case.x, sheet_kernels(precision, width), views, precision, width, 400)


@pytest.mark.parametrize("law", SOLID_LAWS)
def test_membranes_of_every_law_equal_numpy(law: str, sheet_case, sheet_kernels) -> None:
    """Any law of solids is a membrane."""
    case = sheet_case(f"triangle {law}")
    views = triangle_numbers(case.x[case.elements], case.data)
    assert_equal_to_numpy(case, case.x, sheet_kernels("double", 4, law), views, "double", 4, 4000)
