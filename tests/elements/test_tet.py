"""The linear tetrahedron: rest data reproduce linear fields, derivatives of invariants equal finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.elements.tet import KEEP, rest_data
from pliant.geometry import shapes
from pliant.lanes.types import DTYPES, WIDTHS

UPPER = np.triu_indices(3)


def random_tets(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """n positive tets apart from each other: points (4 n, 3), tets (n, 4)."""
    points = rng.normal(size=(8 * n, 4, 3))
    volumes = np.linalg.det(points[:, 1:] - points[:, :1]) / 6
    points = points[volumes > 0.05][:n]
    assert len(points) == n
    return points.reshape(-1, 3), np.arange(4 * n).reshape(n, 4)


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-6, 1.0, 1e4]))
def test_gradients_reproduce_linear_fields(seed: int, scale: float) -> None:
    """sum_j b_j = 0, sum_j (A X_j + t) b_j^T = A, so F at rest is the identity; b and V scale as 1/m and m^3."""
    rng = np.random.default_rng(seed)
    points, tets = random_tets(rng, 5)
    points *= scale
    b, volumes = rest_data(points, tets)
    size = np.abs(b).max(axis=(1, 2), keepdims=True)[:, 0]
    assert np.max(np.abs(b.sum(axis=1)) / size) < 1e-13
    A, t = rng.normal(size=(3, 3)), rng.normal(size=3) * scale
    field = points @ A.T + t
    F = np.einsum("mja,mjc->mac", field[tets], b)
    np.testing.assert_allclose(F, np.tile(A, (5, 1, 1)), atol=1e-9)
    expected = [np.linalg.det(points[k[1:]] - points[k[0]]) / 6 for k in tets]
    np.testing.assert_allclose(volumes, expected, rtol=1e-10)


def test_reference_tet() -> None:
    """The corner of the unit cube has volume 1/6, and gradients -1 1 1 and the axes."""
    points = np.vstack([np.zeros(3), np.eye(3)])
    b, volumes = rest_data(points, np.array([[0, 1, 2, 3]]))
    np.testing.assert_allclose(volumes, [1 / 6], rtol=1e-15)
    np.testing.assert_array_equal(b[0], np.vstack([-np.ones(3), np.eye(3)]))


@pytest.mark.parametrize(
    ("mesh", "volume"), [(shapes.box((1, 2, 3), 3), 6.0), (shapes.beam(2, 0.5, 0.5, (4, 2, 2)), 0.5)]
)
def test_volumes_of_shapes(mesh, volume: float) -> None:
    """Tets fill the shape."""
    _, volumes = rest_data(mesh.points, mesh.tets)
    assert volumes.min() > 0
    np.testing.assert_allclose(volumes.sum(), volume, rtol=1e-13)


class Case:
    """Random tets at rest and deformed, seen from their first vertex."""

    def __init__(self, n: int, seed: int = 6):
        rng = np.random.default_rng(seed)
        points, tets = random_tets(rng, n)
        self.b, self.volumes = rest_data(points, tets)
        self.n = n
        corner = points[tets]
        A = np.eye(3) + 0.4 * rng.normal(size=(n, 3, 3))
        self.x = np.einsum("nab,njb->nja", A, corner) + 0.05 * rng.normal(size=corner.shape)

    def measured(self, module, precision: str, width: int, x: np.ndarray | None = None) -> np.ndarray:
        """(n, 37) numbers of tet_kernels.measure; the face opposite corner 0 of a positive tet is (1, 3, 2)."""
        x = self.x if x is None else x
        face = [1, 3, 2]
        vectors = np.concatenate([x[:, face] - x[:, :1], self.b[:, face]], axis=1).reshape(self.n, 18)
        flat = vectors.reshape(-1, width, 18).transpose(0, 2, 1).astype(DTYPES[precision]).ravel()
        out = np.empty(37 * self.n, DTYPES[precision])
        module.measure(flat, (1 / (6 * self.volumes)).astype(DTYPES[precision]), out)
        return out.reshape(-1, 37, width).transpose(0, 2, 1).reshape(self.n, 37).astype(float)


@pytest.fixture(scope="module")
def case() -> Case:
    return Case(64)


def test_measures_equal_numpy(case: Case, tet_kernels) -> None:
    """F, its invariants, and J from the area of the opposite face, against matrix products and determinants."""
    got = case.measured(tet_kernels("double", 1), "double", 1)
    F = np.einsum("mja,mjc->mac", case.x, case.b)
    C = np.einsum("mac,mad->mcd", F, F)
    J = np.linalg.det(F)
    np.testing.assert_allclose(got[:, 4:13].reshape(-1, 3, 3), F, atol=1e-12)
    np.testing.assert_allclose(got[:, 13], np.trace(C, axis1=1, axis2=2), rtol=1e-12)
    np.testing.assert_allclose(got[:, 14], np.sum(C * C, axis=(1, 2)), rtol=1e-12)
    np.testing.assert_allclose(got[:, 15], J, atol=1e-11)
    np.testing.assert_allclose(got[:, 3], J, atol=1e-11)
    x = case.x
    area = np.cross(x[:, 3] - x[:, 1], x[:, 2] - x[:, 1])
    np.testing.assert_allclose(got[:, :3], area, atol=1e-12)
    np.testing.assert_allclose(got[:, :3] / (6 * case.volumes[:, None]), got[:, 22:25], atol=1e-11)


def test_derivatives_equal_finite_differences(case: Case, tet_kernels) -> None:
    """dI = 2 q, dII = 4 r, dJ = g; d2I and d2II are the differences of these, and d2J = 0."""
    module, h = tet_kernels("double", 1), 3e-6

    def at(axis: int, step: float) -> np.ndarray:
        x = case.x.copy()
        x[:, 0, axis] += step
        return case.measured(module, "double", 1, x)

    got = case.measured(module, "double", 1)
    scale = np.abs(got).max(axis=1, keepdims=True)
    differences = np.stack([(at(axis, h) - at(axis, -h)) / (2 * h) for axis in range(3)], axis=1)  # (n, axis, 37)
    for factor, value, gradient in ((2, 13, 16), (4, 14, 19), (1, 15, 22)):
        error = np.abs(factor * got[:, gradient : gradient + 3] - differences[:, :, value]) / scale
        assert error.max() < 1e-8
    for factor, gradient, hessian in ((2, 16, 25), (4, 19, 31)):
        H = factor * differences[:, :, gradient : gradient + 3]
        error = np.abs(got[:, hessian : hessian + 6] - H[:, UPPER[0], UPPER[1]]) / scale
        assert error.max() < 1e-8
    assert np.max(np.abs(differences[:, :, 22:25]) / scale[:, :, None]) < 1e-8


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("width", WIDTHS)
def test_lanes_give_what_floats_give(case: Case, tet_kernels, precision: str, width: int) -> None:
    """The same source on plain floats and on lanes differs by rounding only (lanes may fuse a * b + c)."""
    floats = case.measured(tet_kernels("double", 1), "double", 1)
    lanes = case.measured(tet_kernels(precision, width), precision, width)
    scale = np.abs(floats).max(axis=1, keepdims=True)
    assert np.max(np.abs(lanes - floats) / scale) < 50 * np.finfo(DTYPES[precision]).eps


@pytest.mark.parametrize("width", [1, 8])
def test_a_step_keeps_part_of_the_volume(tet_kernels, width: int) -> None:
    """The step is kept where it leaves J the part KEEP, else shortened to leave exactly that; gains do not shorten."""
    rng = np.random.default_rng(7)
    steps, J = rng.uniform(0, 1, 800), rng.uniform(0.01, 2, 800)
    losses = rng.normal(size=800) * 5
    out = np.empty(800)
    tet_kernels("double", width).limited(steps, J, losses, out)
    left = J - out * losses
    short = J - steps * losses < KEEP * J
    assert 50 < short.sum() < 750
    np.testing.assert_array_equal(out[~short], steps[~short])
    np.testing.assert_allclose(left[short], KEEP * J[short], rtol=1e-10)
