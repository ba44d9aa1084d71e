"""Cholesky's factors by the multifrontal method, against NumPy's solutions of the same dense systems."""

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from threadpoolctl import threadpool_limits

import pliant as pl
from pliant.solvers.machinery.factorisation import NotPositiveDefinite, factorise
from pliant.solvers.machinery.multifrontal import eliminate


def positive_matrix(n: int, density: float, seed: int) -> sp.csc_matrix:
    B = sp.random(n, n, density, random_state=np.random.default_rng(seed))
    return (B @ B.T + sp.identity(n)).tocsc()


def grid_matrix(cells: tuple[int, ...], block: int = 1) -> sp.csc_matrix:
    """Laplace's operator on a grid, coupled in blocks, plus the identity."""
    total = sp.csc_matrix((1, 1))
    for n in cells:
        line = sp.diags([2.0, -1.0, -1.0], [0, 1, -1], shape=(n, n))
        total = sp.kron(total, sp.identity(n)) + sp.kron(sp.identity(total.shape[0]), line)
    rng = np.random.default_rng(7)
    C = rng.normal(size=(block, block))
    return sp.csc_matrix(sp.kron(total, C @ C.T + np.eye(block)) + sp.identity(total.shape[0] * block))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.floats(0.0, 0.3), st.integers(0, 10**6), st.sampled_from([(), (1,), (3,), (5,)]))
def test_solutions_are_those_of_dense_systems(n, density, seed, sides):
    A = positive_matrix(n, density, seed)
    b = np.random.default_rng(seed).normal(size=(n, *sides))
    np.testing.assert_allclose(factorise(A)(b), np.linalg.solve(A.toarray(), b), rtol=0, atol=1e-10)


@pytest.mark.parametrize(("cells", "block"), [((40,), 3), ((17, 23), 1), ((9, 8, 7), 1), ((7, 6, 5), 3), ((5, 5), 6)])
def test_grids_are_solved_to_rounding(cells, block):
    """Fronts with rows beyond, in several generations; blocks of unknowns with the same columns are one node."""
    A = grid_matrix(cells, block)
    x = np.random.default_rng(1).normal(size=(A.shape[0], 2))
    factors = eliminate(A)
    assert len(factors.elimination.fronts) > 1
    np.testing.assert_allclose(factors.solve(A @ x), x, rtol=0, atol=1e-12)


def test_what_is_not_connected_and_what_touches_everything():
    parts = sp.block_diag([positive_matrix(n, 0.2, n) for n in (1, 4, 30, 2)]).tolil()
    parts[-1, :] = 0.1
    parts[:, -1] = 0.1
    parts[-1, -1] = 10.0
    A = parts.tocsc()
    x = np.arange(A.shape[0]) - 3.0
    np.testing.assert_allclose(factorise(A)(A @ x), x, rtol=0, atol=1e-11)


def test_a_pattern_may_lack_zeros_on_one_side():
    """An element whose Hessian has an entry of exactly zero leaves a pattern that is not symmetric."""
    A = grid_matrix((6, 7), 3)
    rows, columns, values = sp.find(A)
    places = (np.append(rows, range(40)), np.append(columns, range(40, 80)))
    whole = sp.coo_matrix((np.append(values, np.zeros(40)), places), shape=A.shape).tocsc()
    assert whole.nnz > A.nnz
    x = np.sin(np.arange(A.shape[0]))
    np.testing.assert_allclose(factorise(whole)(A @ x), x, rtol=0, atol=1e-12)


def test_values_change_while_the_pattern_is_kept():
    A = grid_matrix((12, 12), 3)
    first, second = eliminate(A), eliminate(4.0 * A)
    assert first.elimination is second.elimination
    b = np.ones(A.shape[0])
    np.testing.assert_allclose(first.solve(b), 4.0 * second.solve(b), rtol=1e-13)


def test_any_number_of_threads_of_blas_gives_the_same_bits():
    A, b = grid_matrix((11, 10, 9), 3), np.ones(2970)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            found.append(factorise(A)(b))
    assert (found[0] == found[1]).all()


@pytest.mark.parametrize("n", [1, 20, 400])
def test_indefinite_matrices_are_refused_without_a_word(n, capfd):
    A = positive_matrix(n, 0.1, n) - 20 * sp.identity(n)
    with pytest.raises(NotPositiveDefinite):
        factorise(A.tobsr((1, 1)))
    with pytest.raises(NotPositiveDefinite):
        factorise(np.nan * A)
    assert capfd.readouterr() == ("", "")


def test_the_hessian_of_a_body():
    mesh = pl.shapes.box(cells=(4, 3, 5))
    scene = pl.Scene()
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.4), density=1000.0)
    sim = pl.Simulation(scene, pl.Newton())
    H = sim.problem().hessian(sim.positions)
    b = np.cos(np.arange(H.shape[0]))
    np.testing.assert_allclose(factorise(H)(b), np.linalg.solve(H.toarray(), b), rtol=1e-9)
