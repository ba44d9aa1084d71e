"""Tubes around springs."""

import numpy as np

from pliant.geometry.surface import enclosed_volume
from pliant.viewer.tubes import OVERLAP, SIDES, tube_points, tube_triangles


def test_tubes_have_their_radius_and_face_outwards():
    ends = np.array([[(0.0, 0, 0), (0, 0, 1)], [(1.0, 2, 3), (2, 2, 3)]])
    points, triangles = tube_points(ends, 0.1), tube_triangles(2)
    np.testing.assert_allclose(np.linalg.norm(points[: 2 * SIDES, :2], axis=1), 0.1)
    np.testing.assert_allclose(np.linalg.norm(points[2 * SIDES :, 1:] - (2, 3), axis=1), 0.1)
    polygon = SIDES / 2 * np.sin(2 * np.pi / SIDES) * 0.1**2
    one = points[: 2 * SIDES]
    own = triangles[: 2 * SIDES]
    # without its ends, the sides alone enclose two thirds of a prism around their middle
    assert np.isclose(enclosed_volume(one, own), 2 / 3 * polygon * (1 + 2 * OVERLAP * 0.1))
