"""Pairs: attachments have the energy of their links, merged pairs keep their sums, bending areas fill the sheet."""

import numpy as np
import pytest

from pliant.elements.laplacian import attachment_pairs, merged_pairs
from pliant.elements.quadratic_bending import bending_pairs, vertex_areas
from pliant.energies import laplacian
from pliant.geometry import hinges, shapes


def test_attachment_is_a_spring_between_two_points() -> None:
    """E = k/2 |p - q|^2 with p on a triangle and q in a tet, for links of different stiffness, two sharing vertices."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(12, 3))
    vertices = np.array([[0, 1, 2, 3, 4, 5, 6], [2, 1, 7, 8, 9, 10, 11]])
    on_face, in_tet = rng.dirichlet(np.ones(3), 2), rng.dirichlet(np.ones(4), 2)
    stiffness = np.array([3.0, 0.5])
    pairs, weights = attachment_pairs(vertices, np.hstack((on_face, -in_tet)), stiffness)
    gap = np.einsum("mi,mia->ma", on_face, x[vertices[:, :3]]) - np.einsum("mi,mia->ma", in_tet, x[vertices[:, 3:]])
    expected = 0.5 * np.sum(stiffness * np.sum(gap**2, axis=1))
    assert laplacian.energy(x, pairs, weights).sum() == pytest.approx(expected, rel=1e-13)
    assert len(np.unique(pairs, axis=0)) == len(pairs) == 2 * 21 - 1
    assert np.all(pairs[:, 0] < pairs[:, 1])


def test_merging_adds_weights() -> None:
    pairs, weights = merged_pairs(np.array([[3, 1], [1, 3], [2, 0], [0, 2]]), np.array([1.0, 2.5, 1.0, -1.0]))
    np.testing.assert_array_equal(pairs, [[1, 3]])
    np.testing.assert_array_equal(weights, [3.5])


def sheet():
    """Irregular, with obtuse triangles."""
    mesh = shapes.cloth((2, 1), (8, 5))
    rng = np.random.default_rng(1)
    return mesh.points + np.array([0.05, 0.05, 0]) * rng.uniform(-1, 1, mesh.points.shape), mesh.triangles


def test_vertex_areas_sum_to_the_area() -> None:
    """Voronoi cells of a grid of alternating diagonals are the cells of the dual grid; any mesh is filled."""
    mesh = shapes.cloth((2, 1), (8, 5))
    inner = vertex_areas(mesh.points, mesh.triangles).reshape(9, 6)
    np.testing.assert_allclose(inner[1:-1, 1:-1], 0.25 * 0.2, rtol=1e-12)
    points, triangles = sheet()
    corner = points[triangles]
    total = 0.5 * np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1).sum()
    areas = vertex_areas(points, triangles)
    assert areas.sum() == pytest.approx(total, rel=1e-13)
    assert areas.min() > 0


def test_flat_sheets_have_no_bending_energy() -> None:
    """Nor forces, however they are stretched and sheared within their plane; and blocks are positive."""
    points, triangles = sheet()
    pairs, weights = bending_pairs(points, triangles, hinges(triangles, len(points)), 0.7)
    A = np.array([[1.2, 0.4, 0.0], [-0.3, 0.8, 0.0], [0.5, 0.1, 1.0]])
    x = points @ A.T
    forces = np.zeros_like(x)
    np.add.at(forces, pairs, laplacian.gradient(x, pairs, weights))
    assert np.abs(forces).max() < 1e-10 * np.abs(weights).max()
    blocks = np.zeros((len(x), 3, 3))
    np.add.at(blocks, pairs, laplacian.vertex_blocks(x, pairs, weights))
    assert np.linalg.eigvalsh(blocks).min() > 0


def test_stiffness_by_vertex() -> None:
    """One number a vertex; where it is zero nothing resists."""
    points, triangles = sheet()
    edges = hinges(triangles, len(points))
    whole = bending_pairs(points, triangles, edges, 2.0)
    same = bending_pairs(points, triangles, edges, np.full(len(points), 2.0))
    np.testing.assert_array_equal(whole[0], same[0])
    np.testing.assert_allclose(whole[1], same[1], rtol=1e-14)
    left = bending_pairs(points, triangles, edges, np.where(points[:, 0] < 0, 2.0, 0.0))
    assert points[left[0].ravel(), 0].max() < 0.6


def test_weights_that_cancel_are_left_out() -> None:
    """A grid has as many pairs whatever its size, also where cancelling weights leave rounding."""
    counts = []
    for size in ((1.0, 1.0), (0.7, 0.7), (np.pi, np.pi)):
        mesh = shapes.cloth(size, (8, 8))
        counts.append(len(bending_pairs(mesh.points, mesh.triangles, hinges(mesh.triangles, mesh.n_vertices), 0.3)[0]))
    assert len(set(counts)) == 1
