"""Walks over surfaces: the nearest point against brute force, orientation against winding."""

import numpy as np
import pytest

from contact_arrays import closest_points, open_rules
from pliant.contact.search.colliders import make_colliders
from pliant.contact.search.patches import nearest_on_patch, oriented_normal
from pliant.elements.closest import VERTEX_TRIANGLE
from pliant.geometry import shapes


def test_neighbours_agree_however_triangles_are_wound() -> None:
    sheet = shapes.cloth((1, 1), (7, 5))
    triangles = sheet.triangles.copy()
    turned = np.random.default_rng(3).random(len(triangles)) < 0.5
    triangles[turned] = triangles[turned][:, ::-1]
    patches = make_colliders(triangles, np.zeros((0, 4), int), open_rules(len(sheet.points))).patches
    up = np.array([oriented_normal(t, sheet.points, patches)[0][2] for t in range(len(triangles))])
    assert turned.any()
    np.testing.assert_allclose(up, up[0])


def test_triangles_of_solids_stay_outward() -> None:
    ball = shapes.ball(radius=1.0, cells=4)
    colliders = make_colliders(np.zeros((0, 3), int), ball.tets, open_rules(len(ball.points)))
    assert (colliders.patches.orient == 1).all()
    assert not colliders.patches.is_rim.any()


@pytest.mark.parametrize("height", [0.0, 0.3, -2.0])
def test_a_walk_over_a_flat_sheet_ends_at_the_nearest_point(height: float) -> None:
    """From any triangle, for points over the sheet, over its edges and corners, and beside it."""
    sheet = shapes.cloth((1, 1), (6, 6))
    places = np.random.default_rng(8).uniform(-0.8, 0.8, (20, 2))
    places = np.concatenate([places, sheet.points[::5, :2], 0.5 * (sheet.points[:-1:6, :2] + sheet.points[1::6, :2])])
    points = np.column_stack([places, np.full(len(places), height)])
    n = len(sheet.points)
    x = np.concatenate([sheet.points, points])
    patches = make_colliders(sheet.triangles, np.zeros((0, 4), int), open_rules(len(x))).patches
    for v in range(n, len(x)):
        pairs = np.concatenate([np.tile(x[v], (len(sheet.triangles), 1, 1)), x[sheet.triangles]], axis=1)
        least = closest_points(VERTEX_TRIANGLE, pairs)[1].min()
        for start in range(0, len(sheet.triangles), 11):
            _, _, r = nearest_on_patch(v, start, x, patches)
            assert np.linalg.norm(r) == pytest.approx(least, abs=1e-12)
