"""Rigid motions of parts under inertia and contacts, against Jacobians in NumPy."""

import numpy as np

from pliant.kernels.rigid_sums import rigid_sums
from pliant.kernels.whole_distances import whole_distances

THIN = 1e-10


def _crossed(r: np.ndarray) -> np.ndarray:
    """J (3, 6) of a point at r from the centre: J (v, omega) = v + omega x r."""
    return np.hstack([np.eye(3), -np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])])


def _contacts(rng: np.random.Generator, count: int) -> tuple[np.ndarray, ...]:
    """Triangles of the first part against vertices of the second, a vertex of each against an obstacle, or of none."""
    vertices = np.stack([rng.integers(0, 10, count) for _ in range(3)] + [rng.integers(10, 20, count)], axis=1)
    weights = np.hstack([rng.dirichlet((1, 1, 1), count), -np.ones((count, 1))])
    vertices[:3] = np.array([[2], [13], [21]])
    weights[:3] = (1, 0, 0, 0)
    roots = rng.normal(size=(count, 3, 3))
    return vertices.astype(np.int32), weights, rng.normal(size=(count, 3)), roots @ roots.transpose(0, 2, 1)


def test_distances_are_those_of_jacobians():
    rng = np.random.default_rng(3)
    part = np.repeat([0, 1, -1], [10, 10, 3])
    w, x, missing = rng.uniform(1, 2, 23), rng.normal(size=(23, 3)), rng.normal(size=(23, 3))
    vertices, weights, forces, blocks = _contacts(rng, 12)
    middle, balance, moments, found = np.zeros((2, 4)), np.zeros((2, 6)), np.zeros((2, 3, 3)), np.empty(2)
    rigid_sums(part, w, x, missing, middle, balance, moments)
    six = blocks.reshape(-1, 9)[:, [0, 1, 2, 4, 5, 8]].copy()
    whole_distances(part, vertices, weights, forces, six, x, middle, balance, moments, THIN, found)
    for k in range(2):
        own = part == k
        centre = np.average(x[own], axis=0, weights=w[own])
        jacobians = np.array(
            [_crossed(point - centre) if mine else np.zeros((3, 6)) for point, mine in zip(x, own, strict=True)]
        )
        inertia = np.einsum("i,iab,iac->bc", w, jacobians, jacobians)
        of_contacts = np.einsum("ci,ciab->cab", weights, jacobians[vertices])
        force = np.einsum("iab,ia->b", jacobians, missing) + np.einsum("cab,ca->b", of_contacts, forces)
        stiffness = inertia + np.einsum("cab,cad,cde->be", of_contacts, blocks, of_contacts)
        e = np.linalg.solve(stiffness, force)
        np.testing.assert_allclose(found[k], np.sqrt(e @ inertia @ e / w[own].sum()), rtol=1e-8)


def test_parts_that_cannot_be_solved_for_are_left_out():
    """One without moments of inertia, a single vertex, and one with infinite forces."""
    part, x = np.array([0, 1, 1, 1]), np.random.default_rng(0).normal(size=(4, 3))
    w, missing = np.ones(4), np.ones((4, 3))
    missing[2] = np.inf
    middle, balance, moments, found = np.zeros((2, 4)), np.zeros((2, 6)), np.zeros((2, 3, 3)), np.empty(2)
    rigid_sums(part, w, x, missing, middle, balance, moments)
    none = np.zeros((0, 4), np.int32), np.zeros((0, 4)), np.zeros((0, 3)), np.zeros((0, 6))
    whole_distances(part, *none, x, middle, balance, moments, THIN, found)
    assert found.tolist() == [0.0, 0.0]
