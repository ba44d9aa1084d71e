"""Conjugate gradients for Newton's method: on two levels, and only for positive definite matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

import pliant as pl
from pliant.energies import IncrementalPotential
from pliant.kernels.block_cg import multiply
from pliant.kernels.threads import Team
from pliant.lanes.compiled import cached
from pliant.model import build_model
from pliant.solvers.contract import Execution
from pliant.solvers.machinery import factorisation
from pliant.solvers.machinery.assembly import build_assembly
from pliant.solvers.machinery.conjugate_gradients import conjugate_gradients
from pliant.solvers.machinery.preconditioner import group_rows, precondition


def solution(A, b, threads):
    """x of A x = b, for vertices at random places."""
    A = A.tobsr((3, 3))
    A.sort_indices()
    x = np.random.default_rng(3).normal(size=(A.shape[0] // 3, 3))
    return conjugate_gradients(A, b, precondition(A, group_rows(x, A.indptr, A.indices), x), Team(threads))


@pytest.mark.parametrize("threads", [1, 3])
def test_conjugate_gradients_solve_and_refuse(threads):
    """A right-hand side near zero is solved to 1e-6; an indefinite matrix is refused, by its diagonal or on the way."""
    B = sp.random(600, 600, 0.01, random_state=5)
    A = B @ B.T + sp.identity(600)
    b = 1e-20 * (A @ np.ones(600))
    np.testing.assert_allclose(A @ solution(A, b, threads), b, rtol=1e-6)
    near = sp.diags(np.full(597, 0.9), 3) + sp.diags(np.full(597, 0.9), -3) + sp.identity(600)
    for indefinite in (A - 5 * sp.identity(600), near):
        with pytest.raises(factorisation.NotPositiveDefinite):
            solution(indefinite, np.ones(600) * (-1.0) ** (np.arange(600) // 3), threads)


class CountingTeam(Team):
    """Counts what it runs."""

    count = 0

    def run(self, function, *arguments, **options):
        self.count += function is cached(multiply)
        super().run(function, *arguments, **options)


def slender_system(cells, edge=0.1):
    """Hessian and weight of a clamped beam of 4 x 4 cells across, and its vertices that move."""
    mesh = pl.shapes.beam(cells * edge, 4 * edge, 4 * edge, (cells, 4, 4))
    scene = pl.Scene()
    body = scene.add_solid(mesh, pl.StableNeoHookean(1e6, 4e6), 1000.0)
    body.pin(mesh.points[:, 0] < mesh.points[:, 0].min() + 0.5 * edge)
    model = build_model(scene)
    x = model.positions
    problem = IncrementalPotential.for_step(model, model.internal_state, 1e3, x, x, x)
    work = build_assembly(problem, Execution("double", 1))
    load = np.zeros_like(x)
    load[:, 2] = -9.81 * model.mass
    return work.hessian(problem, x), load[work.vertices].ravel(), x[work.vertices], work


def test_slender_bodies_take_few_conjugate_gradients():
    """A beam four times as long is about 200 times as soft against bending, 16 times as ill-conditioned by the square
    root; by its aggregates' rigid motions the weight takes less than twice as many iterations. The solution is that of
    Cholesky's factors to a thousandth of the largest displacement.
    """
    counts = []
    for cells in (30, 120):
        H, b, x, work = slender_system(cells)
        team = CountingTeam(1)
        found = conjugate_gradients(H, b, precondition(H, work.grouped(x), x), team)
        exact = factorisation.factorise(H)(b)
        assert np.abs(found - exact).max() < 1e-3 * np.abs(exact).max()
        counts.append(team.count)
    assert counts[1] < 2 * counts[0] < 100, counts
