"""Volumes, angles and quality against tets whose values are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.geometry import dihedral_angles, radius_ratios, tet_volumes, triangle_areas

REGULAR = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
CORNER = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
TET = np.array([[0, 1, 2, 3]])


def test_regular_tet() -> None:
    edge = 2 * np.sqrt(2)
    assert abs(tet_volumes(REGULAR, TET)[0]) == pytest.approx(edge**3 / (6 * np.sqrt(2)))
    np.testing.assert_allclose(dihedral_angles(REGULAR, TET), np.degrees(np.arccos(1 / 3)))
    assert radius_ratios(REGULAR, TET)[0] == pytest.approx(1.0)


def test_corner_of_a_cube() -> None:
    """Right angles at the three axes, arctan(sqrt 2) at the slanted face; r and R from their definitions."""
    assert tet_volumes(CORNER, TET)[0] == pytest.approx(1 / 6)
    slanted = np.degrees(np.arctan(np.sqrt(2)))
    np.testing.assert_allclose(dihedral_angles(CORNER, TET), [[90, 90, 90, slanted, slanted, slanted]])
    inscribed, circumscribed = 1 / (3 + np.sqrt(3)), np.sqrt(3) / 2
    assert radius_ratios(CORNER, TET)[0] == pytest.approx(3 * inscribed / circumscribed)


def test_orientation_changes_the_sign_of_volume_only() -> None:
    mirrored = TET[:, [0, 2, 1, 3]]
    assert tet_volumes(CORNER, mirrored)[0] == pytest.approx(-1 / 6)
    assert radius_ratios(CORNER, mirrored)[0] == pytest.approx(radius_ratios(CORNER, TET)[0])
    np.testing.assert_allclose(np.sort(dihedral_angles(CORNER, mirrored)), np.sort(dihedral_angles(CORNER, TET)))


def test_flat_tet_has_no_quality() -> None:
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    assert radius_ratios(square, TET)[0] == 0.0
    np.testing.assert_allclose(np.sort(dihedral_angles(square, TET))[0], [0, 0, 0, 0, 180, 180], atol=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_random_tets_keep_their_bounds(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(4, 3))
    quality = radius_ratios(points, TET)
    assert 0 < quality[0] <= 1
    angles = dihedral_angles(points, TET)[0]
    # The six dihedral angles of any tet sum to between 360 and 540 degrees.
    assert 360 - 1e-6 <= angles.sum() <= 540 + 1e-6
    assert np.all((angles > 0) & (angles < 180))


def test_triangle_area() -> None:
    points = np.array([[0.0, 0, 0], [3, 0, 0], [0, 0, 4]])
    assert triangle_areas(points, np.array([[0, 1, 2]]))[0] == pytest.approx(6.0)
