"""Closed surfaces: what they enclose, where they are open, and cavities inside solids."""

import numpy as np
import pytest

import pliant as pl
from pliant.geometry.cavities import connected_parts, outside_and_cavities
from pliant.geometry.surface import enclosed_volume, unmatched_edge


def hollow_box() -> pl.TetMesh:
    """A box of 5 x 3 x 3 cells of edge 1 without two of its inner cells."""
    box = pl.shapes.box((5, 3, 3), (5, 3, 3))
    centre = box.points[box.tets].mean(axis=1)
    inner = (np.abs(centre[:, 1:]) < 0.5).all(axis=1) & (np.abs(np.abs(centre[:, 0]) - 1) < 0.5)
    points, tets, _ = pl.geometry.drop_isolated_vertices(box.points, box.tets[~inner])
    return pl.TetMesh(points, tets)


def test_a_hollow_box_has_an_outside_and_two_cavities() -> None:
    """45 m^3 outside, twice 1 m^3 inside, both facing away from what they enclose."""
    mesh = hollow_box()
    outside, walls = outside_and_cavities(mesh.points, mesh.surface_triangles)
    assert len(outside) + len(walls) == len(mesh.surface_triangles)
    assert enclosed_volume(mesh.points, outside) == pytest.approx(45, rel=1e-12)
    assert enclosed_volume(mesh.points, walls) == pytest.approx(2, rel=1e-12)
    assert connected_parts(walls, mesh.n_vertices).max() == 1
    assert enclosed_volume(mesh.points, mesh.surface_triangles) == pytest.approx(mesh.volume, rel=1e-12)


def test_a_solid_without_cavities_is_all_outside() -> None:
    mesh = pl.shapes.torus()
    outside, walls = outside_and_cavities(mesh.points, mesh.surface_triangles)
    np.testing.assert_array_equal(outside, mesh.surface_triangles)
    assert len(walls) == 0
    assert enclosed_volume(mesh.points + 1e3, outside) == pytest.approx(mesh.volume, rel=1e-9)


def test_the_edge_of_a_hole_or_a_turned_triangle_is_named() -> None:
    """In the direction in which triangles run along it too often."""
    triangles = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    assert unmatched_edge(triangles, 4) is None
    assert unmatched_edge(triangles[1:], 4) == (0, 1)
    turned = triangles.copy()
    turned[3] = turned[3, ::-1]
    assert unmatched_edge(turned, 4) == (2, 1)


def test_surfaces_that_touch_along_an_edge_are_closed() -> None:
    """Two tets that share an edge: four triangles meet there, two each way."""
    one = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    other = np.array([0, 1, 4, 5])[one]
    assert unmatched_edge(np.vstack([one, other]), 6) is None
