"""The skirt: a cone's wall with outward triangles and one waist and one hem."""

import numpy as np
import pytest

import pliant as pl
from pliant.errors import MeshError


def test_area_is_that_of_a_cone_and_it_faces_outwards():
    mesh = pl.shapes.skirt(waist=0.1, hem=0.3, length=0.4, cells=(60, 8))
    slant = np.hypot(0.2, 0.4)
    assert mesh.areas.sum() == pytest.approx(np.pi * (0.1 + 0.3) * slant, rel=2e-3)
    corner = mesh.points[mesh.triangles]
    normals = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    assert (np.einsum("ki,ki->k", normals[:, :2], corner.mean(axis=1)[:, :2]) > 0).all()
    np.testing.assert_allclose(np.linalg.norm(mesh.points[:60, :2], axis=1), 0.1)
    np.testing.assert_allclose(mesh.points[-60:, 2], -0.4)


def test_too_few_squares_are_refused():
    with pytest.raises(MeshError, match="at least 3"):
        pl.shapes.skirt(cells=(2, 4))
