import pytest

import pliant as pl
from pliant.solvers import Execution


@pytest.fixture
def pose():
    """A function: the next step of a scene as a ConstraintProblem, with its relaxation prepared."""

    def make(scene, solver, threads=1, precision="double", **options):
        simulation = pl.Simulation(scene, solver, precision=precision, threads=threads, **options)
        problem = simulation.problem()
        work = solver.init(problem, Execution(precision, threads))
        solver.begin_step(problem, work)
        return work.posed

    return make
