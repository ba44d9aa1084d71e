"""What holds for the energy of every element of sheets, rods and nets."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant.elements import reference
from pliant.materials import SOLID_LAWS

MEMBRANES = [f"triangle {name}" for name in SOLID_LAWS]
ELASTIC = ["spring", "rope", *MEMBRANES, "fibre", "hinge", "fold pair", "straight rod", "bent rod"]
ALWAYS_POSITIVE = ["spring", "rope", "fibre", "hinge", "fold pair", "plate square", "straight rod", "bent rod"]
QUADRATIC = ["pair", "plate square", "rest height"]

every_element = pytest.mark.parametrize("name", [*ELASTIC, *QUADRATIC])
differentiable = pytest.mark.parametrize("name", [*ELASTIC, *QUADRATIC, "bound"])
STEP = 1e-5


def differences(function, case, x: np.ndarray) -> np.ndarray:
    """Derivatives of function(x) (N, ...) in the vertices of each element: (N, 3 k, ...), by central differences."""
    k = case.elements.shape[1]
    columns = []
    for vertex in range(k):
        for axis in range(3):
            shift = np.zeros_like(x)
            shift[case.elements[:, vertex], axis] = STEP
            columns.append((function(x + shift) - function(x - shift)) / (2 * STEP))
    return np.stack(columns, axis=1)


@differentiable
def test_gradient_is_the_derivative_of_the_energy(name: str, sheet_case) -> None:
    case = sheet_case(name)
    gradient = case.gradient(case.x).reshape(len(case.elements), -1)
    assert np.abs(gradient).max() > 0.1
    np.testing.assert_allclose(
        differences(case.energy, case, case.x), gradient, rtol=0, atol=1e-8 * np.abs(gradient).max()
    )


@differentiable
def test_hessian_is_the_derivative_of_the_gradient(name: str, sheet_case) -> None:
    case = sheet_case(name)
    hessian = case.hessian(case.x)
    size = np.abs(hessian).max(axis=(1, 2), keepdims=True) + 1e-3
    measured = differences(lambda x: case.gradient(x).reshape(len(x) // case.elements.shape[1], -1), case, case.x)
    assert np.max(np.abs(measured - hessian) / size) < 1e-7
    assert np.max(np.abs(hessian - hessian.swapaxes(1, 2)) / size) < 1e-13


@every_element
def test_rigid_motion_changes_nothing(name: str, sheet_case) -> None:
    """Energy stays, forces turn along; forces and their moments sum to zero."""
    case = sheet_case(name)
    turn, shift = Rotation.from_rotvec([0.4, -1.1, 0.7]), np.array([3.0, -2.0, 1.0])
    moved = turn.apply(case.x) + shift
    energy, gradient = case.energy(case.x), case.gradient(case.x)
    np.testing.assert_allclose(case.energy(moved), energy, rtol=0, atol=1e-13 * np.abs(energy).max())
    size = np.abs(gradient).max()
    turned = turn.apply(gradient.reshape(-1, 3)).reshape(gradient.shape)
    np.testing.assert_allclose(case.gradient(moved), turned, rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(gradient.sum(axis=1), 0, atol=1e-12 * size)
    np.testing.assert_allclose(np.cross(case.x[case.elements], gradient).sum(axis=1), 0, atol=1e-11 * size)


@pytest.mark.parametrize("name", [name for name in ELASTIC if name != "straight rod"])
def test_rest_state_has_neither_energy_nor_force(name: str, sheet_case) -> None:
    case = sheet_case(name)
    np.testing.assert_allclose(case.energy(case.rest), 0, atol=1e-13)
    np.testing.assert_allclose(case.gradient(case.rest), 0, atol=1e-12)


def diagonal_blocks(case, x: np.ndarray) -> np.ndarray:
    """(N, k, 3, 3) of the exact Hessian."""
    n, k = case.elements.shape
    hessian = case.hessian(x).reshape(n, k, 3, k, 3)
    return np.stack([hessian[:, i, :, i] for i in range(k)], axis=1)


@pytest.mark.parametrize("name", ["spring", "rope", "fibre", *MEMBRANES])
def test_vertex_blocks_leave_out_negative_stiffness_only(name: str, sheet_case) -> None:
    """They equal the Hessian's where that is positive along the directions they treat, and never are below it."""
    case = sheet_case(name)
    blocks, exact = case.vertex_blocks(case.x), diagonal_blocks(case, case.x)
    size = np.abs(exact).max()
    added = np.linalg.eigvalsh(blocks - exact)
    assert added.min() > -1e-12 * size
    changed = added.max(axis=-1) > 1e-12 * size
    assert changed.any() == (name != "rope")  # a slack rope has no stiffness to leave out
    assert not changed.all()


@pytest.mark.parametrize("name", ALWAYS_POSITIVE)
def test_vertex_blocks_are_never_indefinite(name: str, sheet_case) -> None:
    case = sheet_case(name)
    values = np.linalg.eigvalsh(case.vertex_blocks(case.x))
    assert values.min() > -1e-12 * values.max()


def test_pairs_have_their_exact_blocks(sheet_case) -> None:
    case = sheet_case("pair")
    np.testing.assert_array_equal(case.vertex_blocks(case.x), diagonal_blocks(case, case.x))


def assert_blocks_exact(case, x: np.ndarray) -> None:
    exact = diagonal_blocks(case, x)
    np.testing.assert_allclose(case.vertex_blocks(x), exact, rtol=0, atol=1e-11 * np.abs(exact).max())


@pytest.mark.parametrize("name", ["hinge", "fold pair", "bent rod"])
def test_gauss_newton_blocks_are_exact_at_rest(name: str, sheet_case) -> None:
    """Without a moment, the second derivative of the angle does not matter."""
    case = sheet_case(name)
    assert_blocks_exact(case, case.rest)


def test_blocks_of_a_straight_rod_are_exact(sheet_case) -> None:
    """It resists alike in both directions across: K / l^2 at an end, K (1/l_1 + 1/l_2)^2 in the middle."""
    case = sheet_case("straight rod")
    along = np.array([2.0, -3.0, 6.0]) / 7
    x = np.tile(np.outer([0.0, 0.5, 2.5], along), (len(case.elements), 1))
    assert_blocks_exact(case, x)
    across = np.eye(3) - np.outer(along, along)
    expected = np.array([4.0, 2.5**2, 0.25])[:, None, None] * across
    stiffness = case.block.stiffness[:, None, None, None]
    np.testing.assert_allclose(
        case.vertex_blocks(x) / stiffness, np.broadcast_to(expected, (len(stiffness), 3, 3, 3)), atol=1e-12
    )


@pytest.mark.parametrize("name", [name for name in ELASTIC if name not in MEMBRANES])
def test_measures_have_the_energy_of_the_views(name: str, sheet_case) -> None:
    """k/2 C^2 and k C dC, which constraint solvers use, are the energy and the gradient."""
    case = sheet_case(name)
    alone = replace(case.element, views=())
    np.testing.assert_allclose(reference.energies(alone, case.block, case.x), case.energy(case.x), rtol=1e-12)
    gradient = case.gradient(case.x)
    np.testing.assert_allclose(
        reference.gradients(alone, case.block, case.x), gradient, rtol=0, atol=1e-12 * np.abs(gradient).max()
    )


@pytest.mark.parametrize("name", [name for name in (*ELASTIC, "pair", "bound") if name not in MEMBRANES])
def test_hessians_equal_the_differentiated_forces(name: str, sheet_case) -> None:
    """What an element file writes out, and what numbers with derivatives make of its lane functions."""
    case = sheet_case(name)
    exact = case.hessian(case.x)
    for element in (case.element, replace(case.element, views=()) if case.element.measure else case.element):
        found = reference.differentiated_hessians(element, case.block, case.x)
        np.testing.assert_allclose(found, exact, rtol=0, atol=1e-10 * np.abs(exact).max())
