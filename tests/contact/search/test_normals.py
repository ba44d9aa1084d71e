"""Normals of solids at their vertices do not depend on how faces are cut into triangles."""

import numpy as np
from numba import njit

from pliant.contact.search.normals import angle_of
from pliant.contact.search.solid import solid_of
from pliant.geometry import shapes


@njit
def angles_of_all(sines, cosines, angles):
    for k in range(len(angles)):
        angles[k] = angle_of(sines[k], cosines[k])


def test_angles() -> None:
    """Against the library, in all of 0 to pi, for any length."""
    true = np.concatenate([[1e-12, 0.5 * np.pi, np.pi - 1e-12], np.random.default_rng(0).uniform(0, np.pi, 5000)])
    size = np.geomspace(1e-20, 1e20, len(true))
    angles = np.empty(len(true))
    angles_of_all(size * np.sin(true), size * np.cos(true), angles)
    np.testing.assert_allclose(angles, true, atol=2e-5)


def test_corners_and_edges_of_a_box(outward_normals) -> None:
    """Three, two or one of the faces' normals, in equal parts, whichever way the faces' squares are cut."""
    mesh = shapes.box((2, 2, 2), (3, 3, 3))
    solid = solid_of(mesh.tets, mesh.n_vertices)
    vertices = np.unique(solid.faces).astype(np.int32)
    expected = np.where(np.abs(mesh.points[vertices]) > 0.999, np.sign(mesh.points[vertices]), 0.0)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(outward_normals(solid, vertices, mesh.points), expected, atol=1e-4)
