"""Rest data of triangles and fibres: linear fields are reproduced, frames lie in the plane, directions are kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.elements import fibre, triangle
from pliant.errors import MeshError
from pliant.geometry import shapes, triangle_areas


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-6, 1.0, 1e4]))
def test_gradients_reproduce_linear_fields(seed: int, scale: float) -> None:
    """sum_j b_j = 0 and sum_j (A X_j + t) b_j^T = A e^T: F maps the rest basis as the field does."""
    rng = np.random.default_rng(seed)
    points = scale * (
        rng.normal(size=(5, 1, 3)) + [[0, 0, 0], [1, 0.2, 0], [0.3, 1, 0.4]] + 0.1 * rng.normal(size=(5, 3, 3))
    )
    elements = np.arange(15).reshape(5, 3)
    b, areas, frames = triangle.rest_data(points.reshape(-1, 3), elements)
    np.testing.assert_allclose(b.sum(axis=1), 0, atol=1e-12 / scale)
    np.testing.assert_allclose(np.einsum("mca,mda->mcd", frames, frames), np.tile(np.eye(2), (5, 1, 1)), atol=1e-12)
    A, t = rng.normal(size=(3, 3)), scale * rng.normal(size=3)
    F = np.einsum("mja,mjc->mac", points @ A.T + t, b)
    np.testing.assert_allclose(F, np.einsum("ab,mcb->mac", A, frames), atol=1e-9)
    np.testing.assert_allclose(areas, triangle_areas(points.reshape(-1, 3), elements), rtol=1e-12)


def test_areas_fill_the_sheet() -> None:
    mesh = shapes.cloth((2, 1.5), (7, 5))
    assert triangle.rest_data(mesh.points, mesh.triangles)[1].sum() == pytest.approx(3.0, rel=1e-13)


def test_fibre_stretch_is_the_stretch_along_its_direction() -> None:
    """|sum_j beta_j A X_j| = |A d| for unit d in the plane; a direction out of the plane is laid into it."""
    mesh = shapes.cloth((2, 1.5), (3, 2))
    A = np.array([[1.2, 0.3, 0.0], [-0.1, 0.8, 0.0], [0.4, 0.2, 1.0]])
    x = mesh.points @ A.T
    for direction, unit in (((3.0, 4.0, 0.0), (0.6, 0.8, 0.0)), ((3.0, 4.0, 9.0), (0.6, 0.8, 0.0))):
        beta = fibre.rest_data(mesh.points, mesh.triangles, np.array(direction))
        stretched = np.einsum("mj,mja->ma", beta, x[mesh.triangles])
        np.testing.assert_allclose(stretched, np.tile(A @ unit, (len(beta), 1)), atol=1e-13)


def test_fibre_across_the_sheet_is_refused() -> None:
    mesh = shapes.cloth((1, 1), (2, 2))
    directions = np.tile([1.0, 0.0, 0.0], (8, 1))
    directions[5] = [0, 0, 2]
    with pytest.raises(MeshError, match=r"direction \(0.0, 0.0, 2.0\) has no part in the plane of triangle 5; give"):
        fibre.rest_data(mesh.points, mesh.triangles, directions)
