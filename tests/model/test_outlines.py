"""Surfaces of obstacles are closed and lie where contact sees them, at rest and moved."""

import numpy as np
import pytest

from pliant.contact.primitives.shapes import measure
from pliant.geometry.primitive_surfaces import ROUND
from pliant.geometry.surface import enclosed_volume, unmatched_edge
from pliant.model.obstacles import Box, Capsule, Container, Cylinder, Plane, Sphere
from pliant.model.outlines import outlines

POLYGON = ROUND / (2 * np.pi) * np.sin(2 * np.pi / ROUND)  # area of the polygon in a circle over the circle's
BODIES = np.array([(-0.5, -0.5, 0.0), (0.5, 0.5, 1.0)])


def lifted_and_turned(time):
    c, s = np.cos(time), np.sin(time)
    return (0.0, 0.3 * time, time), ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))


@pytest.mark.parametrize(
    ("shape", "volume", "tolerance"),
    [
        (Sphere((0.1, 0.2, 0.3), 0.5, motion=lifted_and_turned), 4 / 3 * np.pi * 0.5**3, 0.01),
        (Box((0.1, 0.2, 0.3), (0.2, 0.4, 0.6), motion=lifted_and_turned), 0.2 * 0.4 * 0.6, 1e-12),
        (Capsule((0, 0, 0), (1, 1, 0), 0.2), 4 / 3 * np.pi * 0.2**3 + np.pi * 0.04 * np.sqrt(2), 0.01),
        (Cylinder((0, 0, 0), (1, 1, 0), 0.2, motion=lifted_and_turned), POLYGON * np.pi * 0.04 * np.sqrt(2), 1e-12),
    ],
    ids=lambda value: type(value).__name__,
)
def test_points_are_on_the_obstacle_and_enclose_its_volume(shape, volume, tolerance):
    outline = outlines([shape], BODIES)[0]
    assert unmatched_edge(outline.triangles, len(outline.points)) is None
    for time in (0.0, 0.7):
        points = outline.positions(time)
        np.testing.assert_allclose(measure(shape, points, time)[0], 0.0, atol=1e-12)
        assert enclosed_volume(points, outline.triangles) == pytest.approx(volume, rel=tolerance)


def test_a_plane_is_a_square_around_the_bodies():
    """Its middle is the point of the plane nearest to theirs, its sides four times their size."""
    plane = Plane((5.0, 5.0, -1.0), (0.0, 1.0, 1.0))
    outline = outlines([plane], BODIES)[0]
    points = outline.positions(0.0)
    np.testing.assert_allclose(measure(plane, points)[0], 0.0, atol=1e-12)
    middle = np.array([0.0, 0.0, 0.5])
    distance, normal = measure(plane, middle[None])
    np.testing.assert_allclose(points.mean(axis=0), middle - distance[0] * normal[0], atol=1e-12)
    assert np.linalg.norm(points[1] - points[0]) == pytest.approx(4 * np.sqrt(3))


def test_a_container_leaves_its_cavity_free():
    container = Container((0.0, 0.0, 1.0), (1.0, 2.0, 3.0))
    outline = outlines([container], BODIES)[0]
    points = outline.positions(0.0)
    inside = (np.abs(points - (0, 0, 1)) < np.array([0.5, 1.0, 1.5]) - 1e-12).all(axis=1)
    assert not inside.any()
    assert points[:, 2].max() == pytest.approx(2.5)
    assert unmatched_edge(outline.triangles, len(points)) is None
