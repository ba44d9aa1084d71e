"""Angles of hinges and rods on figures whose angles are known."""

import numpy as np
import pytest

from pliant.elements import hinge, rod_bend, spring
from pliant.geometry import hinges, rod_bends, shapes


@pytest.mark.parametrize("angle", [-3.0, -1.2, 0.0, 0.5, 3.1])
def test_open_book(angle: float) -> None:
    """Two pages about the y axis: the wing that goes down by an angle folds by it, away from the normals."""
    left, right = [-1.0, 0.5, 0.0], [np.cos(angle), 0.3, -np.sin(angle)]
    points = np.array([[0.0, 0, 0], [0, 1, 0], left, right])
    angles, weights = hinge.rest_data(points, np.array([[0, 1, 2, 3]]))
    assert angles[0] == pytest.approx(angle, abs=1e-14)
    assert weights[0] == pytest.approx(1.0, rel=1e-14)  # |e|^2 / (1/2 + 1/2)


def test_sphere_folds_outward() -> None:
    """A ball's triangles face outward, and all its hinges bend away from their normals: convex is positive."""
    surface = shapes.ball(cells=4).surface()
    angles, _ = hinge.rest_data(surface.points, hinges(surface.triangles, surface.n_vertices))
    assert angles.min() > 0.05


def test_cube_has_right_angles() -> None:
    mesh = shapes.box((1, 1, 1), (1, 1, 1)).surface()
    angles, _ = hinge.rest_data(mesh.points, hinges(mesh.triangles, mesh.n_vertices))
    np.testing.assert_allclose(np.sort(angles), [0] * 6 + [np.pi / 2] * 12, atol=1e-14)


def test_joints_of_a_polygon_turn_by_its_outer_angle() -> None:
    points, edges = shapes.polygon(1.0, 7)
    angles, lengths = rod_bend.rest_data(points, rod_bends(edges, 7))
    np.testing.assert_allclose(angles, 2 * np.pi / 7, rtol=1e-14)
    np.testing.assert_allclose(lengths, 2 * np.sin(np.pi / 7), rtol=1e-14)


def test_lengths_of_springs() -> None:
    points, edges = shapes.wheel(2.0, 6)
    np.testing.assert_allclose(spring.rest_data(points, edges), 2.0, rtol=1e-14)
