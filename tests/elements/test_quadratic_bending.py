"""Quadratic bending: areas fill the sheet, flat sheets have no energy, weights that cancel are left out."""

import numpy as np
import pytest

from pliant.elements import reference
from pliant.elements.pair import BENDING, Pairs
from pliant.elements.plate_forms import vertex_areas
from pliant.elements.quadratic_bending import bending_pairs, plate_curvatures
from pliant.geometry import shapes


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
    pairs, weights = bending_pairs(plate_curvatures(points, triangles), 0.7)
    A = np.array([[1.2, 0.4, 0.0], [-0.3, 0.8, 0.0], [0.5, 0.1, 1.0]])
    x = points @ A.T
    forces = np.zeros_like(x)
    np.add.at(forces, pairs, reference.gradients(BENDING, Pairs(pairs, weights), x))
    assert np.abs(forces).max() < 1e-10 * np.abs(weights).max()
    blocks = np.zeros((len(x), 3, 3))
    np.add.at(blocks, pairs, reference.vertex_blocks(BENDING, Pairs(pairs, weights), x))
    assert np.linalg.eigvalsh(blocks).min() > 0


def test_weights_that_cancel_are_left_out() -> None:
    """A grid has as many pairs whatever its size, also where cancelling weights leave rounding."""
    counts = []
    for size in ((1.0, 1.0), (0.7, 0.7), (np.pi, np.pi)):
        mesh = shapes.cloth(size, (8, 8))
        counts.append(len(bending_pairs(plate_curvatures(mesh.points, mesh.triangles), 0.3)[0]))
    assert len(set(counts)) == 1
