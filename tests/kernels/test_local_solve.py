"""The small system of one vertex, free, in a plane or on a line, against numpy.linalg in a basis of its space."""

from pathlib import Path

import numpy as np
import pytest

from pliant.lanes.cache import load_module
from pliant.lanes.types import DTYPES

SOURCE = Path(__file__).parent / "solve_kernels.py"
DECLARATION = 'PRECISION, WIDTH = "single", 1\n'
UPPER = np.triu_indices(3)
N = 64


class Solves:
    """Random systems and what the kernel makes of them."""

    def __init__(self, precision: str, width: int, rank: int = 3):
        text = SOURCE.read_text()
        assert DECLARATION in text
        text = text.replace(DECLARATION, f'PRECISION, WIDTH = "{precision}", {width}\n')
        module = load_module("solve_kernels", text, f"local solves under test ({precision}, {width})")
        dtype, rng = DTYPES[precision], np.random.default_rng(18)
        self.eps = np.finfo(dtype).eps
        Q = np.linalg.qr(rng.normal(size=(N, 3, 3)))[0]
        values = rng.uniform(0.5, 3, (N, 3)) * rng.choice([1, 1, -1], (N, 3)) * (np.arange(3) < rank)
        H = np.einsum("nab,nb,ncb->nac", Q, values, Q).astype(dtype).astype(float)
        self.H = (H + H.transpose(0, 2, 1)) / 2
        self.f = rng.normal(size=(N, 3)).astype(dtype).astype(float)
        d = rng.normal(size=(N, 3))
        d[:3] = np.eye(3)
        self.d = (d / np.linalg.norm(d, axis=1, keepdims=True)).astype(dtype).astype(float)
        self.m = np.full(N, 0.25)

        def spread(a: np.ndarray) -> np.ndarray:
            return a.reshape(-1, width, a.shape[1]).transpose(0, 2, 1).astype(dtype).ravel()

        def gather(a: np.ndarray, k: int) -> np.ndarray:
            return a.reshape(-1, k, width).transpose(0, 2, 1).reshape(N, k)

        out, singular, projected = np.empty(24 * N, dtype), np.empty(3 * N, dtype), np.empty(6 * N, dtype)
        packed = spread(self.H[:, UPPER[0], UPPER[1]])
        arguments = (packed, spread(self.f), spread(self.d), self.m.astype(dtype), float(np.finfo(dtype).eps))
        module.local_solves(*arguments, out, singular, projected)
        names = ("free", "line", "plane", "uphill", "downhill", "kept_1", "kept_2", "kept_3")
        self.results = dict(zip(names, gather(out, 24).reshape(N, 8, 3).transpose(1, 0, 2), strict=True))
        self.singular = gather(singular, 3) == 1
        self.projected = gather(projected, 6)

    def basis(self, i: int, dimension: int) -> np.ndarray:
        """(3, dimension) of the space vertex i moves in."""
        if dimension == 3:
            return np.eye(3)
        return self.d[i][:, None] if dimension == 1 else np.linalg.svd(self.d[i][None])[2][1:].T


@pytest.fixture(scope="module", params=[("double", 1), ("double", 4), ("single", 8)], ids=lambda p: f"{p[0]}x{p[1]}")
def solves(request: pytest.FixtureRequest) -> Solves:
    return Solves(*request.param)


@pytest.mark.parametrize(("name", "dimension"), [("line", 1), ("plane", 2), ("free", 3)])
def test_step_solves_the_projected_system(solves: Solves, name: str, dimension: int) -> None:
    """dx = basis (basis^T H basis)^-1 basis^T f (VBD 3.4), to rounding times the condition number squared."""
    for i in range(N):
        basis = solves.basis(i, dimension)
        small = basis.T @ solves.H[i] @ basis
        expected = basis @ np.linalg.solve(small, basis.T @ solves.f[i])
        got = solves.results[name][i]
        amplified = np.linalg.norm(solves.H[i]) * np.linalg.norm(np.linalg.inv(small))
        error = np.linalg.norm(got - expected) / (np.linalg.norm(expected) + 1e-3)
        assert error < 50 * solves.eps * amplified**2
    assert not solves.singular.any()


def test_steps_stay_in_their_space(solves: Solves) -> None:
    """A line step is a multiple of the direction, a plane step has no part along the normal."""
    line, plane, d = solves.results["line"], solves.results["plane"], solves.d
    along = np.sum(line * d, axis=1, keepdims=True) * d
    size = np.linalg.norm(line, axis=1, keepdims=True)
    assert np.max(np.abs(line - along) / size) < 10 * solves.eps
    assert np.max(np.abs(np.sum(plane * d, axis=1)) / np.linalg.norm(plane, axis=1)) < 20 * solves.eps


def test_force_is_kept_in_its_space(solves: Solves) -> None:
    """keep_subspace projects on the line, on the plane, or changes nothing."""
    along = np.sum(solves.f * solves.d, axis=1, keepdims=True) * solves.d
    for name, expected in (("kept_1", along), ("kept_2", solves.f - along), ("kept_3", solves.f)):
        np.testing.assert_allclose(solves.results[name], expected, atol=20 * solves.eps)


def test_projection_keeps_inertia_and_drops_negative_stiffness(solves: Solves) -> None:
    """m + (H - m)_+ with eigenvalues max(lambda, m)."""
    m = solves.m[:, None]
    values, vectors = np.linalg.eigh(solves.H)
    expected = np.einsum("nak,nk,nbk->nab", vectors, np.maximum(values, m), vectors)
    np.testing.assert_allclose(solves.projected, expected[:, UPPER[0], UPPER[1]], atol=100 * solves.eps)


def test_descent_direction(solves: Solves) -> None:
    """A step that descends is kept; another becomes one along the force, no longer than |f| / |H|."""
    f = solves.f
    np.testing.assert_allclose(solves.results["downhill"], f, atol=0)
    along = solves.results["uphill"]
    factor = np.sum(along * f, axis=1) / np.sum(f * f, axis=1)
    np.testing.assert_allclose(along, factor[:, None] * f, atol=20 * solves.eps)
    assert (factor > 0).all()
    assert (factor * np.linalg.norm(solves.H, ord=2, axis=(1, 2)) <= 1 + 1e-6).all()


# Defect of lanes.vectors.solve_symmetric: H = 0 is not flagged (see tests/lanes/test_vectors.py).


@pytest.mark.parametrize(("rank", "flags"), [(0, (True, True, True)), (1, (True, False, True))])
def test_singular_blocks_do_not_move(rank: int, flags: tuple[bool, bool, bool]) -> None:
    """Where the system has no solution it is flagged and the step is zero: free, line, plane."""
    solves = Solves("double", 4, rank)
    np.testing.assert_array_equal(solves.singular[3:], np.tile(flags, (N - 3, 1)))
    np.testing.assert_array_equal(solves.results["free"], 0)
    np.testing.assert_array_equal(solves.results["plane"], 0)
