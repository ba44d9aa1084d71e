"""Contact energy and friction: derivatives, balance, bounds; the same numbers from NumPy, floats and lanes."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pliant.contact.contact_set import Contacts, depths
from pliant.contact.response import penalty
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.lanes.cache import load_module
from pliant.lanes.types import DTYPES

SOURCE = Path(__file__).parent / "penalty_kernels.py"
DECLARATION = 'PRECISION, WIDTH = "single", 1\n'
STIFFNESS, SLIP = 3e4, 1e-3
UPPER = np.triu_indices(3)


@pytest.fixture(scope="module")
def penalty_kernels():
    """The module penalty_kernels for a precision and a width."""
    text = SOURCE.read_text()
    assert DECLARATION in text

    @cache
    def load(precision: str, width: int):
        own = text.replace(DECLARATION, f'PRECISION, WIDTH = "{precision}", {width}\n')
        return load_module("penalty_kernels", own, f"contact under test ({precision}, {width})")

    return load


class Case:
    """Random contacts of both kinds, about half of them penetrating, each with four vertices of its own."""

    def __init__(self, k: int = 64, seed: int = 0):
        rng = np.random.default_rng(seed)
        kind = np.tile([VERTEX_TRIANGLE, EDGE_EDGE], k // 2).astype(np.int8)
        s, t, u = rng.random(k), rng.random(k), rng.dirichlet([1, 1, 1], k)
        triangle = np.column_stack([np.ones(k), -u])
        edges = np.column_stack([1 - s, s, t - 1, -t])
        weights = np.where(kind[:, None] == VERTEX_TRIANGLE, triangle, edges)
        normals = rng.normal(size=(k, 3))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        vertices = np.arange(4 * k, dtype=np.int32).reshape(k, 4)
        gap = rng.uniform(0, 0.5, k)
        self.contacts = Contacts(kind, vertices, weights, normals, gap, np.ones(k, bool))
        self.x = rng.normal(size=(4 * k, 3))
        self.dx = rng.normal(size=(4 * k, 3)) * SLIP * rng.choice([0.0, 0.2, 1.0, 30.0], (4 * k, 1))
        self.friction = rng.uniform(0, 1, k)
        self.lam = STIFFNESS * depths(self.contacts, self.x)


@pytest.fixture(scope="module")
def case() -> Case:
    made = Case()
    assert 0.2 < (made.lam > 0).mean() < 0.8
    return made


def differences(function, x: np.ndarray, contacts: Contacts, e: float) -> np.ndarray:
    """Derivative of a function of positions, one value (k, ...) a contact, by the contact's 12 coordinates: (k, 4, 3,
    ...).
    """
    columns = []
    for corner in range(4):
        for axis in range(3):
            step = np.zeros_like(x)
            step[contacts.vertices[:, corner], axis] = e
            columns.append((function(x + step) - function(x - step)) / (2 * e))
    return np.moveaxis(np.array(columns), 0, 1).reshape(len(contacts.kind), 4, 3, *columns[0].shape[1:])


def test_force_and_hessian_are_derivatives(case: Case) -> None:
    """Central differences: exact for a quadratic, away from d = 0."""
    c = case.contacts
    grad = differences(lambda x: penalty.energy(c, x, STIFFNESS), case.x, c, 1e-6)
    np.testing.assert_allclose(-grad, penalty.forces(c, case.x, STIFFNESS), rtol=1e-6, atol=1e-4)
    hess = -differences(lambda x: penalty.forces(c, x, STIFFNESS), case.x, c, 1e-6)  # (k, i, a, j, b)
    np.testing.assert_allclose(hess.transpose(0, 1, 3, 2, 4), penalty.hessians(c, case.x, STIFFNESS), atol=1e-3)


def test_energy_of_a_known_depth() -> None:
    """A vertex 0.2 m under a triangle, to be kept 0.1 m above it: d = 0.3, E = k d^2 / 2, force k d up on the
    vertex.
    """
    x = np.array([[0.2, 0.2, -0.2], [0, 0, 0], [1, 0, 0], [0, 1, 0]])
    c = Contacts(
        np.zeros(1, np.int8),
        np.arange(4, dtype=np.int32)[None],
        np.array([[1, -0.6, -0.2, -0.2]]),
        np.array([[0.0, 0, 1]]),
        np.array([0.1]),
        np.ones(1, bool),
    )
    np.testing.assert_allclose(penalty.energy(c, x, 100.0), [4.5])
    np.testing.assert_allclose(penalty.forces(c, x, 100.0)[0, :, 2], [30, -18, -6, -6])


def test_friction_is_the_gradient_of_its_potential(case: Case) -> None:
    """f = -d(mu lambda f0(|u|))/dx for a constant normal force, stuck and sliding."""
    c = case.contacts
    arguments = (case.lam, case.friction, SLIP)
    grad = differences(lambda dx: penalty.friction_energy(c, dx, *arguments), case.dx, c, 1e-8)
    forces = penalty.friction_forces(c, case.dx, *arguments)
    np.testing.assert_allclose(-grad, forces, rtol=1e-5, atol=1e-5 * np.abs(forces).max())


def test_friction_hessian_is_the_derivative_with_speed_held(case: Case) -> None:
    """Equation 16: the force is linear in u with f1/|u| as the factor, so the Hessian is that of this linear map."""
    c = case.contacts
    hessians = penalty.friction_hessians(c, case.dx, case.lam, case.friction, SLIP)
    moved = np.einsum("kijab,kjb->kia", hessians, case.dx[c.vertices])
    forces = penalty.friction_forces(c, case.dx, case.lam, case.friction, SLIP)
    np.testing.assert_allclose(-moved, forces, atol=1e-9 * np.abs(forces).max())
    blocks = hessians.transpose(0, 1, 3, 2, 4).reshape(-1, 12, 12)
    assert np.linalg.eigvalsh(blocks).min() > -1e-9 * np.abs(blocks).max()


def test_forces_of_a_pair_sum_to_zero(case: Case) -> None:
    """Normal and friction forces, at any state."""
    normal = penalty.forces(case.contacts, case.x, STIFFNESS)
    friction = penalty.friction_forces(case.contacts, case.dx, case.lam, case.friction, SLIP)
    for forces in (normal, friction):
        assert np.abs(forces.sum(axis=1)).max() < 1e-12 * np.abs(forces).max()


def test_friction_opposes_motion_and_is_bounded(case: Case) -> None:
    """Its power is never positive; on the first primitive it is at most mu lambda, and equals it when sliding."""
    c = case.contacts
    forces = penalty.friction_forces(c, case.dx, case.lam, case.friction, SLIP)
    u = penalty.tangential_motion(c, case.dx)
    assert np.einsum("kia,kia->k", forces, case.dx[c.vertices]).max() <= 1e-12
    on_first = np.where(c.weights[:, :, None] > 0, forces, 0).sum(axis=1)
    bound = case.friction * case.lam
    assert (np.linalg.norm(on_first, axis=1) <= bound * (1 + 1e-12)).all()
    sliding = np.linalg.norm(u, axis=1) >= SLIP
    assert sliding.any()
    np.testing.assert_allclose(np.linalg.norm(on_first, axis=1)[sliding], bound[sliding], rtol=1e-12)
    assert np.abs(np.einsum("ka,ka->k", on_first, c.normals)).max() < 1e-9 * bound.max()


def test_smoothing_function() -> None:
    """Equation 15: f1 is 2y - y^2 below the slip and 1 above, f1/u goes to 2/slip at rest; f0' = f1, f0 = u when
    sliding.
    """
    y = np.array([0.0, 1e-9, 0.3, 0.999999, 1.0, 1.000001, 5.0])
    u = y * SLIP
    expected = np.where(y < 1, 2 * y - y * y, 1.0)
    np.testing.assert_allclose(penalty.f1_over_u_array(u, SLIP) * u, expected, rtol=1e-12)
    np.testing.assert_allclose(penalty.f1_over_u_array(u, SLIP)[0], 2 / SLIP)
    e = 1e-6 * SLIP
    slope = (penalty.f0_array(u + e, SLIP) - penalty.f0_array(np.abs(u - e), SLIP)) / (2 * e)
    np.testing.assert_allclose(slope[1:], expected[1:], atol=2e-6)
    np.testing.assert_allclose(penalty.f0_array(u[4:], SLIP), u[4:])


@pytest.mark.parametrize(("precision", "width"), [("double", 1), ("single", 1), ("double", 4), ("single", 8)])
def test_physics_functions_equal_numpy(case: Case, penalty_kernels, precision: str, width: int) -> None:
    """lambda, f and H of one vertex of each contact."""
    c, k, dtype = case.contacts, len(case.lam), DTYPES[precision]
    corner = np.arange(k) % 4
    each = np.arange(k)
    r = np.einsum("ki,kia->ka", c.weights, case.x[c.vertices])
    motion = np.einsum("ki,kia->ka", c.weights, case.dx[c.vertices])
    vectors = np.stack([r, c.normals, motion], axis=1).reshape(k, 9)
    w = c.weights[each, corner]
    scalars = np.stack([w, c.gap, np.full(k, STIFFNESS), case.friction, np.full(k, SLIP)], axis=1)

    def packed(a):
        return a.reshape(-1, width, a.shape[1]).transpose(0, 2, 1).astype(dtype).ravel()

    out = np.empty(10 * k, dtype)
    penalty_kernels(precision, width).measure(packed(vectors), packed(scalars), out)
    out = out.reshape(-1, 10, width).transpose(0, 2, 1).reshape(k, 10).astype(float)
    arguments = (case.lam, case.friction, SLIP)
    f = penalty.forces(c, case.x, STIFFNESS) + penalty.friction_forces(c, case.dx, *arguments)
    H = penalty.hessians(c, case.x, STIFFNESS) + penalty.friction_hessians(c, case.dx, *arguments)
    block = H[each, corner, corner][:, *UPPER]
    rtol = 1e-10 if precision == "double" else 2e-3
    atol = 1e-12 if precision == "double" else 1e-5
    np.testing.assert_allclose(out[:, 0], case.lam, rtol=rtol, atol=atol * case.lam.max())
    np.testing.assert_allclose(out[:, 1:4], f[each, corner], rtol=rtol, atol=atol * np.abs(f).max())
    np.testing.assert_allclose(out[:, 4:], block, rtol=rtol, atol=atol * np.abs(block).max())
