"""Contact energy and friction: derivatives, balance, bounds; the same numbers from NumPy, floats and lanes.

The formulas of VBD's Equations 12 to 16 are written here a second time, in NumPy, as the reference.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pliant.contact.contact_set import depths, joined, obstacle_contacts, pair_contacts
from pliant.contact.response.potential import ContactPotential
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.lanes.cache import load_module
from pliant.lanes.types import DTYPES

SOURCE = Path(__file__).parent / "contact_kernels.py"
DECLARATION = 'PRECISION, WIDTH = "single", 1\n'
SLIP, DAMPING = 0.1, 0.7
UPPER = np.triu_indices(3)


@pytest.fixture(scope="module")
def contact_kernels():
    """The module contact_kernels for a precision and a width."""
    text = SOURCE.read_text()
    assert DECLARATION in text

    @cache
    def load(precision: str, width: int):
        own = text.replace(DECLARATION, f'PRECISION, WIDTH = "{precision}", {width}\n')
        return load_module("contact_kernels", own, f"contact under test ({precision}, {width})")

    return load


class Case:
    """Random contacts of both kinds, about half of them penetrating, each with four vertices and a stiffness of its
    own.
    """

    def __init__(self, k: int = 64, seed: int = 0, damping: float = 0.0):
        rng = np.random.default_rng(seed)
        kind = np.tile([VERTEX_TRIANGLE, EDGE_EDGE], k // 2)
        s, t, u = rng.random(k), rng.random(k), rng.dirichlet([1, 1, 1], k)
        triangle = np.column_stack([np.ones(k), -u])
        edges = np.column_stack([1 - s, s, t - 1, -t])
        weights = np.where(kind[:, None] == VERTEX_TRIANGLE, triangle, edges)
        normals = rng.normal(size=(k, 3))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        thickness = rng.uniform(0, 0.5, k)
        self.contacts = c = pair_contacts(
            kind, np.arange(4 * k).reshape(k, 4), weights, normals, thickness, np.zeros(k)
        )
        self.x = rng.normal(size=(4 * k, 3))
        self.dx = rng.normal(size=(4 * k, 3)) * SLIP * rng.choice([0.0, 0.2, 1.0, 30.0], (4 * k, 1))
        c.friction[:], c.stiffness[:] = rng.uniform(0, 1, k), rng.uniform(1e4, 5e4, k)
        self.potential = ContactPotential(c, SLIP, damping, self.x - self.dx)
        self.potential.refresh(self.x)
        self.lam = c.stiffness * depths(c, self.x)

    def motion(self) -> np.ndarray:
        """u (k, 3), both along and across the normal."""
        return np.einsum("ki,kia->ka", self.contacts.weights, self.dx[self.contacts.vertices])

    def tangential_motion(self) -> np.ndarray:
        n, u = self.contacts.normals, self.motion()
        return u - np.einsum("ka,ka->k", u, n)[:, None] * n

    def damped_depths(self) -> np.ndarray:
        """(k,) max(0, d + c (d - d_t)), where d is not negative yet."""
        c = self.contacts
        along = np.einsum("ka,ka->k", self.motion(), c.normals)
        gap = c.thickness - np.einsum("ki,kia,ka->k", c.weights, self.x[c.vertices], c.normals)
        return np.maximum(gap + self.potential.damping * (gap - np.maximum(gap + along, 0)), 0)

    def reference_force(self) -> np.ndarray:
        """(k, 3) on the first side."""
        c, u = self.contacts, self.tangential_motion()
        friction = c.friction * self.lam * self.f1_over_u(np.linalg.norm(u, axis=1))
        push = c.stiffness * self.damped_depths()
        return push[:, None] * c.normals - friction[:, None] * u

    def reference_block(self) -> np.ndarray:
        """(k, 3, 3) of a vertex of weight 1."""
        c, u = self.contacts, self.tangential_motion()
        along = np.einsum("ka,kb->kab", c.normals, c.normals)
        push = np.where(self.damped_depths() > 0, c.stiffness * (1 + self.potential.damping), 0.0)
        friction = c.friction * self.lam * self.f1_over_u(np.linalg.norm(u, axis=1))
        return push[:, None, None] * along + friction[:, None, None] * (np.eye(3) - along)

    def slips(self) -> np.ndarray:
        """(k,) [m] over which friction rises: at most ten times as stiff as its contact."""
        c = self.contacts
        return np.maximum(SLIP, 2 * c.friction * self.lam / (10 * c.stiffness))

    def f1_over_u(self, u: np.ndarray) -> np.ndarray:
        """(k,) f1(u) / u [1/m] of Equation 15, finite at u = 0."""
        slip = self.slips()
        return np.where(u < slip, (2.0 - u / slip) / slip, 1.0 / np.maximum(u, slip))


@pytest.fixture(scope="module", params=[0.0, DAMPING], ids=["undamped", "damped"])
def case(request: pytest.FixtureRequest) -> Case:
    made = Case(damping=request.param)
    assert 0.2 < (made.lam > 0).mean() < 0.8
    assert 0.2 < (made.slips()[made.lam > 0] > SLIP).mean() < 0.8
    return made


def test_forces_and_blocks_equal_the_reference(case: Case) -> None:
    """Of every contact; blocks at the vertices are those of weight 1 times the squared weights."""
    force, block, c = case.reference_force(), case.reference_block(), case.contacts
    np.testing.assert_allclose(case.potential.forces(case.x), force, rtol=1e-9, atol=1e-12 * np.abs(force).max())
    own = c.weights[:, :, None, None] ** 2 * block[:, None]
    np.testing.assert_allclose(
        case.potential.vertex_blocks(case.x), own.reshape(-1, 3, 3), rtol=1e-9, atol=1e-12 * np.abs(block).max()
    )
    np.testing.assert_allclose(
        case.potential.vertex_stiffness(case.x),
        np.einsum("naa->n", case.potential.vertex_blocks(case.x)) / 3,
        rtol=1e-12,
        atol=1e-12 * np.abs(block).max(),
    )


def test_the_gradient_is_the_derivative_of_the_energy(case: Case) -> None:
    """Central differences along 40 directions, at limits of friction that are held."""
    rng, e = np.random.default_rng(3), 1e-7
    gradient = case.potential.gradient(case.x)
    for _ in range(40):
        d = rng.normal(size=case.x.shape) * (rng.random((len(case.x), 1)) < 0.1)
        slope = (case.potential.energy(case.x + e * d) - case.potential.energy(case.x - e * d)) / (2 * e)
        assert slope == pytest.approx(np.sum(gradient * d), rel=1e-4, abs=1e-4 * np.abs(gradient).max())


def test_the_hessian_is_the_derivative_of_the_gradient_and_positive(case: Case) -> None:
    """Between all pairs of the four vertices, friction's speed not held; no eigenvalue is negative."""
    x, v, e = case.x, case.contacts.vertices, 1e-9
    dense = case.potential.hessian(x).toarray().reshape(len(x), 3, len(x), 3)
    own = np.stack([dense[np.ix_(corners, range(3), corners, range(3))] for corners in v])
    measured = np.empty_like(own)
    for j, b in np.ndindex(4, 3):  # contacts share no vertices, so that all are differentiated at once
        d = np.zeros_like(x)
        d[v[:, j], b] = e
        change = case.potential.gradient(x + d) - case.potential.gradient(x - d)
        measured[:, :, :, j, b] = change[v] / (2 * e)
    np.testing.assert_allclose(own, measured, rtol=0, atol=1e-4 * np.abs(own).max())
    assert np.linalg.eigvalsh(own.reshape(-1, 12, 12)).min() > -1e-9 * np.abs(own).max()


def test_with_speed_held_the_block_is_larger_than_the_hessian(case: Case) -> None:
    """Equation 16 is an upper bound of friction's curvature, which is why steps of a vertex do not overshoot."""
    c, x = case.contacts, case.x
    dense = case.potential.hessian(x).toarray().reshape(len(x), 3, len(x), 3)
    exact = np.stack([dense[i, :, i, :] for i in range(len(x))])
    held = c.weights[:, :, None, None] ** 2 * case.reference_block()[:, None]
    gap = np.linalg.eigvalsh(held.reshape(-1, 3, 3) - exact)
    assert gap.min() > -1e-9 * np.abs(held).max()
    assert gap.max() > 1e-2 * np.abs(held).max()


def test_energy_of_a_known_depth() -> None:
    """A vertex 0.2 m under a triangle, to be kept 0.1 m above it: d = 0.3, E = k d^2 / 2, force k d up on the vertex.
    A second contact, with an obstacle, has another stiffness.
    """
    x = np.array([[0.2, 0.2, -0.2], [0, 0, 0], [1, 0, 0], [0, 1, 0]])
    pair = pair_contacts(
        VERTEX_TRIANGLE,
        np.arange(4)[None],
        np.array([[1, -0.6, -0.2, -0.2]]),
        np.array([[0.0, 0, 1]]),
        np.array([0.1]),
        [1],
    )
    up, at = np.array([[0.0, 0, 1]]), np.array([[0.2, 0.2, 0.0]])
    contacts = joined(pair, obstacle_contacts(0, np.array([0]), at, np.zeros((1, 3)), up, np.zeros(1)))
    contacts.stiffness[:] = 100.0, 1000.0
    potential = ContactPotential(contacts, SLIP, 0.0, x)
    assert potential.energy(x) == pytest.approx(4.5 + 20.0)
    np.testing.assert_allclose(potential.forces(x)[:, 2], [30, 200])
    np.testing.assert_allclose(potential.vertex_forces(x)[:, 2], [230, -18, -6, -6])


def test_forces_of_a_pair_sum_to_zero(case: Case) -> None:
    """Normal and friction forces, at any state."""
    forces = case.potential.vertex_forces(case.x)[case.contacts.vertices]
    assert np.abs(forces.sum(axis=1)).max() < 1e-12 * np.abs(forces).max()


def test_friction_opposes_motion_and_is_bounded() -> None:
    """Its power is never positive; on the first primitive it is at most mu lambda, and equals it when sliding."""
    case = Case()
    c, u = case.contacts, case.tangential_motion()
    friction = case.potential.forces(case.x) - case.lam[:, None] * c.normals
    assert np.einsum("ka,ka->k", friction, u).max() <= 1e-9
    bound, size = c.friction * case.lam, np.linalg.norm(friction, axis=1)
    assert (size <= bound * (1 + 1e-9) + 1e-9).all()
    sliding = np.linalg.norm(u, axis=1) >= case.slips()
    assert sliding.any()
    np.testing.assert_allclose(size[sliding], bound[sliding], rtol=1e-9, atol=1e-9)
    assert np.abs(np.einsum("ka,ka->k", friction, c.normals)).max() < 1e-9 * bound.max()


@pytest.mark.parametrize(("precision", "width"), [("double", 1), ("single", 1), ("double", 4), ("single", 8)])
def test_physics_functions_equal_numpy(contact_kernels, precision: str, width: int) -> None:
    """lambda, f and H of one vertex of each contact."""
    case = Case()
    c, k, dtype = case.contacts, len(case.lam), DTYPES[precision]
    corner, each = np.arange(k) % 4, np.arange(k)
    r = np.einsum("ki,kia->ka", c.weights, case.x[c.vertices])
    vectors = np.stack([r, c.normals, case.motion()], axis=1).reshape(k, 9)
    w = c.weights[each, corner]
    scalars = np.stack([w, c.thickness, c.stiffness, c.friction, np.full(k, SLIP)], axis=1)

    def packed(a):
        return a.reshape(-1, width, a.shape[1]).transpose(0, 2, 1).astype(dtype).ravel()

    out = np.empty(10 * k, dtype)
    contact_kernels(precision, width).measure(packed(vectors), packed(scalars), out)
    out = out.reshape(-1, 10, width).transpose(0, 2, 1).reshape(k, 10).astype(float)
    f, block = w[:, None] * case.reference_force(), (w**2)[:, None] * case.reference_block()[:, *UPPER]
    rtol = 1e-10 if precision == "double" else 2e-3
    atol = 1e-12 if precision == "double" else 1e-5
    np.testing.assert_allclose(out[:, 0], case.lam, rtol=rtol, atol=atol * case.lam.max())
    np.testing.assert_allclose(out[:, 1:4], f, rtol=rtol, atol=atol * np.abs(f).max())
    np.testing.assert_allclose(out[:, 4:], block, rtol=rtol, atol=atol * np.abs(block).max())
