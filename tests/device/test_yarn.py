"""Yarn cloth on an OpenCL device: vertex block descent with splines evaluated once per iteration, and descents."""

import numpy as np
import pytest

import pliant as pl
from pliant.device.opencl import SCHEDULES
from pliant.geometry import colour_vertices, vertex_graph
from pliant.solvers import Execution
from pliant.solvers.vbd_reference import vbd_sweep


def thrown_cloth(**options) -> pl.IncrementalPotential:
    """A step of a small cloth whose vertices fly apart."""
    scene = pl.Scene()
    body = scene.add_cloth(pl.shapes.cloth((0.06, 0.05), (4, 3)), pl.YarnCloth.example(), **options)
    body.pin([0, 3])
    body.set_velocities(np.random.default_rng(3).normal(scale=0.1, size=(body.n_vertices, 3)))
    sim = pl.Simulation(scene, pl.VBD(), frame_rate=100, substeps=1, precision="double", device="opencl")
    return sim.problem()


def iterated(problem, solver, n: int, execution: Execution) -> np.ndarray:
    work = solver.init(problem, execution)
    solver.begin_step(problem, work)
    x = problem.x_guess.copy()
    solver.sweep(problem, x, work, n)
    return x


def test_first_colour_and_fixed_point() -> None:
    """Vertices of the first colour see psi exactly, as the NumPy reference does; iterations go where the gradient of
    the energy, with splines of now, vanishes.
    """
    problem = thrown_cloth()
    graph = vertex_graph([block.elements for block in problem.model.blocks], problem.model.n_vertices)
    colours = colour_vertices(*graph)
    on_device = Execution("double", 0, pl.OpenCL(schedule="groups"))
    first = (colours == 0) & problem.model.is_free
    expected, x = vbd_sweep(problem, problem.x_guess, colours), iterated(problem, pl.VBD(), 1, on_device)
    way = np.abs(expected - problem.x_guess)[first].max()
    assert way > 1e-4
    assert np.abs(x - expected)[first].max() < 1e-11 * way
    free = problem.model.is_free
    start = np.abs(problem.gradient(problem.x_guess)[free]).max()
    end = np.abs(problem.gradient(iterated(problem, pl.VBD(), 200, on_device))[free]).max()
    assert end < 1e-3 * start


@pytest.mark.slow
@pytest.mark.parametrize("form", ["strain_rate", "vertex_block"])
def test_iterations_are_those_of_the_cpu(form) -> None:
    """In double precision to 1e-9 of the way, in single precision to 1e-4, in every schedule; damped."""
    problem = thrown_cloth(damping=1e-3, damping_form=form)
    for precision, tolerance in (("double", 1e-9), ("single", 1e-4)):
        expected = iterated(problem, pl.VBD(), 4, Execution(precision, 1))
        way = np.abs(expected - problem.x_guess).max()
        for schedule in SCHEDULES:
            x = iterated(problem, pl.VBD(), 4, Execution(precision, 0, pl.OpenCL(schedule=schedule)))
            assert np.abs(x - expected).max() < tolerance * way


@pytest.mark.slow
@pytest.mark.parametrize("solver", [pl.GradientDescent(), pl.BlockJacobi()], ids=lambda solver: type(solver).__name__)
def test_descents_are_those_of_the_cpu(solver) -> None:
    """They see psi exactly in every iteration; the first ones find a step length."""
    problem = thrown_cloth()
    expected = iterated(problem, solver, 64, Execution("double", 1))
    x = iterated(problem, solver, 64, Execution("double", 0, pl.OpenCL()))
    way = np.abs(expected - problem.x_guess).max()
    assert way > 1e-4
    assert np.abs(x - expected).max() < 1e-9 * way


def test_gpbd_refuses_yarn_cloth_by_name() -> None:
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.cloth((0.06, 0.06), (2, 2)), pl.YarnCloth.example())
    with pytest.raises(pl.DeviceError, match="triangles of yarn cloth do not run on an OpenCL device"):
        pl.Simulation(scene, pl.GPBD(mode="jacobi"), device="opencl")
