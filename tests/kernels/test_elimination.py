"""Small symmetric systems against NumPy."""

import numpy as np
import pytest

from pliant.kernels.elimination import elimination_source, place
from pliant.lanes.math import minimum, number
from pliant.lanes.reciprocal import reciprocal


def functions(n):
    """The generated functions on plain floats."""
    names = {"physics": lambda f: f, "number": number, "absolute": np.abs, "minimum": minimum}
    names["reciprocal"] = reciprocal
    exec(elimination_source(n), names)
    return [names[f"{name}_{n}"] for name in ("solve", "add_outer", "add_diagonal", "least_eigenvalue")]


def packed(H):
    return tuple(H[np.triu_indices(len(H))])


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_against_numpy(n):
    random = np.random.default_rng(n)
    solve, add_outer, add_diagonal, least = functions(n)
    A, f, a = random.normal(size=(n, n)), random.normal(size=n), random.normal(size=n)
    H = A @ A.T + 0.1 * np.eye(n)
    x, indefinite = solve(packed(H), tuple(f))
    np.testing.assert_allclose(x, np.linalg.solve(H, f), rtol=1e-9)
    assert not indefinite
    np.testing.assert_allclose(add_outer(packed(H), 0.7, tuple(a)), packed(H + 0.7 * np.outer(a, a)))
    np.testing.assert_allclose(add_diagonal(packed(H), 0.7), packed(H + 0.7 * np.eye(n)))
    assert least(packed(H)) <= np.linalg.eigvalsh(H)[0] + 1e-12


@pytest.mark.parametrize("n", [1, 3, 6])
def test_indefinite_matrices_are_told_and_shifted_by_the_bound_they_are_definite(n):
    random = np.random.default_rng(n)
    solve, _, add_diagonal, least = functions(n)
    Q = np.linalg.qr(random.normal(size=(n, n)))[0]
    H = Q @ np.diag(np.r_[-0.5, np.arange(1, n)]) @ Q.T
    assert solve(packed(H), tuple(np.ones(n)))[1]
    shifted = add_diagonal(packed(H), -least(packed(H)) + 1e-3)
    assert not solve(shifted, tuple(np.ones(n)))[1]


def test_places_of_the_upper_triangle():
    assert [place(4, i, j) for i, j in zip(*np.triu_indices(4), strict=True)] == list(range(10))
    assert place(4, 3, 1) == place(4, 1, 3)
