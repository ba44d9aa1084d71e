"""Small vectors and symmetric 3x3 matrices in lanes, against numpy.linalg."""

import numpy as np
import pytest

N = 64
UPPER = np.triu_indices(3)


def matrices(packed: np.ndarray) -> np.ndarray:
    """(n, 6) as (n, 3, 3)."""
    full = np.zeros((len(packed), 3, 3))
    full[:, UPPER[0], UPPER[1]] = packed
    full[:, UPPER[1], UPPER[0]] = packed
    return full


def packed(full: np.ndarray) -> np.ndarray:
    return full[:, UPPER[0], UPPER[1]]


def random_symmetric(rng: np.random.Generator, eigenvalues: np.ndarray) -> np.ndarray:
    """Symmetric matrices with the given eigenvalues (n, 3) in random directions."""
    Q = np.linalg.qr(rng.normal(size=(len(eigenvalues), 3, 3)))[0]
    full = np.einsum("nab,nb,ncb->nac", Q, eigenvalues, Q)
    return (full + full.transpose(0, 2, 1)) / 2


def test_products_and_updates(kernels) -> None:
    """dot, cross, H a, H + s a a^T, H + s (a b^T + b a^T) and sums over lanes equal NumPy's to rounding."""
    rng, eps, w = np.random.default_rng(2), np.finfo(kernels.dtype).eps, kernels.width
    a, b, H = (rng.normal(size=(N, k)).astype(kernels.dtype) for k in (3, 3, 6))
    s = rng.normal(size=N).astype(kernels.dtype)
    pairs = np.stack([a.reshape(-1, w, 3), b.reshape(-1, w, 3)], axis=1).reshape(-1, 3)
    out, out_matrices = np.empty(16 * N, kernels.dtype), np.empty(18 * N, kernels.dtype)
    kernels.module.algebra(kernels.spread(pairs), kernels.spread(H), s, out, out_matrices)
    got = kernels.gather(out, 16)
    a, b, s, full = a.astype(float), b.astype(float), s.astype(float), matrices(H)
    expected = [np.sum(a * b, axis=1)[:, None], np.cross(a, b), np.einsum("nab,nb->na", full, a)]
    expected += [np.repeat(a.reshape(-1, w, 3).sum(1), w, axis=0), a + s[:, None] * b, a]
    np.testing.assert_allclose(got, np.hstack(expected), atol=60 * eps, rtol=0)
    np.testing.assert_array_equal(got[:, 13:], a)  # a coefficient of None changes nothing

    updated = out_matrices.reshape(-1, 3, 6, w).transpose(1, 0, 3, 2).reshape(3, N, 6)
    square = full + s[:, None, None] * np.einsum("na,nb->nab", a, a)
    product = np.einsum("na,nb->nab", a, b)
    product = full + s[:, None, None] * (product + product.transpose(0, 2, 1))
    total = np.repeat(full.reshape(-1, w, 3, 3).sum(1), w, axis=0)
    for result, reference in zip(updated, (square, s[:, None, None] * product, total), strict=True):
        np.testing.assert_allclose(result, packed(reference), atol=100 * eps, rtol=0)


def solved(kernels, full: np.ndarray, f: np.ndarray, smallest: float) -> tuple[np.ndarray, np.ndarray]:
    """Solutions (n, 3), and which systems count as singular (n,)."""
    x, singular = np.empty(3 * len(f), kernels.dtype), np.empty(len(f), kernels.dtype)
    kernels.module.solve(kernels.spread(packed(full)), kernels.spread(f), smallest, x, singular)
    return kernels.gather(x, 3), singular == 1


@pytest.mark.parametrize("scale", [1e-12, 1e-5, 1.0, 1e5, 1e12])
@pytest.mark.parametrize("signs", [(1, 1, 1), (1, 1, -1), (-1, -1, -1)], ids=["positive", "indefinite", "negative"])
def test_systems_are_solved_at_any_scale(kernels, scale: float, signs: tuple[int, int, int]) -> None:
    """x equals numpy.linalg.solve's in units of rounding times the condition number, whatever the unit of H."""
    rng, eps = np.random.default_rng(3), np.finfo(kernels.dtype).eps
    eigenvalues = 10.0 ** rng.uniform(-1, 1, (N, 3)) * signs
    full = matrices(packed(random_symmetric(rng, eigenvalues) * scale).astype(kernels.dtype))
    f = rng.normal(size=(N, 3)).astype(kernels.dtype)
    x, singular = solved(kernels, full, f, {"single": 1e-6, "double": 1e-14}[kernels.precision])
    assert not singular.any()
    expected = np.linalg.solve(full, f.astype(float)[:, :, None])[:, :, 0]
    size = np.linalg.norm(expected, axis=1)
    # cofactors lose up to the square of the condition number
    error = np.linalg.norm(x - expected, axis=1) / size / np.linalg.cond(full) ** 2
    assert error.max() < 20 * eps


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_singular_systems_are_flagged_and_do_not_move(kernels, scale: float) -> None:
    """Rank one and two in any unit: flagged, and x is zero; a tame matrix with equally small entries is not."""
    rng = np.random.default_rng(4)
    eigenvalues = np.tile([[1.0, 2.0, 0.0], [1.0, 0.0, 0.0], [1.0, -1.0, 0.0], [1.0, 2.0, 3.0]], (N // 4, 1))
    x, singular = solved(kernels, random_symmetric(rng, eigenvalues) * scale, np.ones((N, 3)), 1e-5)
    np.testing.assert_array_equal(singular, np.tile([True, True, True, False], N // 4))
    np.testing.assert_array_equal(x[singular], 0)


EIGENVALUES = {
    "distinct": (3.0, 0.5, -2.0),
    "two equal": (1.0, 1.0, -1.0),
    "all equal": (2.0, 2.0, 2.0),
    "rank one": (0.0, 0.0, 5.0),
    "far apart": (1e3, 1.0, -1e-3),
    "zero": (0.0, 0.0, 0.0),
}


@pytest.mark.parametrize("case", [*EIGENVALUES, "diagonal", "random"])
def test_eigenvalues_vectors_and_positive_part(kernels, case: str) -> None:
    """H = V diag(values) V^T with orthonormal V and numpy's eigenvalues; the positive part drops the negative ones."""
    rng, eps = np.random.default_rng(5), np.finfo(kernels.dtype).eps
    if case in EIGENVALUES:
        full = random_symmetric(rng, np.tile(EIGENVALUES[case], (N, 1)))
    elif case == "diagonal":
        full = np.einsum("na,ab->nab", rng.normal(size=(N, 3)), np.eye(3))
    else:
        full = matrices(rng.normal(size=(N, 6)) * 10.0 ** rng.uniform(-9, 9, (N, 1)))
    H = packed(full).astype(kernels.dtype)
    full = matrices(H)
    values, vectors, positive = (np.empty(k * N, kernels.dtype) for k in (3, 9, 6))
    kernels.module.eigen(kernels.spread(H), values, vectors, positive)
    values, V = kernels.gather(values, 3).astype(float), kernels.gather(vectors, 9).reshape(N, 3, 3).astype(float)
    size = np.linalg.norm(full, axis=(1, 2)).clip(1e-300)
    reference, Q = np.linalg.eigh(full)
    assert np.max(np.abs(np.sort(values, axis=1) - reference) / size[:, None]) < 20 * eps
    np.testing.assert_allclose(np.einsum("nka,nla->nkl", V, V), np.tile(np.eye(3), (N, 1, 1)), atol=30 * eps)
    rebuilt = np.einsum("nk,nka,nkb->nab", values, V, V)
    assert np.max(np.abs(rebuilt - full) / size[:, None, None]) < 40 * eps
    expected = np.einsum("nak,nk,nbk->nab", Q, np.maximum(reference, 0), Q)
    got = matrices(kernels.gather(positive, 6))
    assert np.max(np.abs(got - expected) / size[:, None, None]) < 40 * eps


# Defect of lanes.vectors.solve_symmetric: H is divided by the mean of |diagonal|, so a zero diagonal gives NaN that is
# not flagged. Remove the mark when it is mended.
@pytest.mark.parametrize(("H", "is_singular"), [((0.0,) * 6, True), ((0.0, 1.0, 1.0, 0.0, 1.0, 0.0), False)])
def test_systems_with_a_zero_diagonal(kernels, H: tuple[float, ...], is_singular: bool) -> None:
    """H = 0 is singular; ones beside a zero diagonal are not: 2, 1, 0 solves it for 1, 2, 3."""
    full = matrices(np.tile(H, (16, 1)))
    x, singular = solved(kernels, full, np.tile([1.0, 2.0, 3.0], (16, 1)), 1e-6)
    np.testing.assert_array_equal(singular, is_singular)
    np.testing.assert_allclose(x, np.tile([0.0, 0.0, 0.0] if is_singular else [2.0, 1.0, 0.0], (16, 1)), atol=1e-6)
