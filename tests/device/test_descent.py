"""Descent that moves all vertices at once, on an OpenCL device: the iterations of the CPU, and Newton's minimiser."""

import numpy as np
import pytest

import pliant as pl
from pliant.solvers import Execution

SOLVERS = {
    "GradientDescent": pl.GradientDescent(),
    "Chebyshev": pl.Chebyshev(pl.GradientDescent(), rho=((8, 0.5), (1, 0.7))),
    "BlockJacobi": pl.BlockJacobi(),
    "Chebyshev-blocks": pl.Chebyshev(pl.BlockJacobi(), rho=0.5),
}


def iterated(problem, solver, n, precision, device):
    """n iterations from the problem's start, in two parts."""
    work = solver.init(problem, Execution(precision, 1, device))
    x = problem.x_guess.copy()
    solver.begin_step(problem, work)
    solver.sweep(problem, x, work, 5)
    solver.sweep(problem, x, work, n - 5)
    return x


@pytest.mark.parametrize(
    "name", ["Chebyshev", *(pytest.param(name, marks=pytest.mark.slow) for name in SOLVERS if name != "Chebyshev")]
)
def test_iterations_are_those_of_the_cpu(make_simulation, name) -> None:
    """With pins, lines, planes and damping; in double precision to rounding, in single precision to 1e-5 of the way."""
    problem = make_simulation(held=True, damping=2e-3).problem()
    expected = iterated(problem, SOLVERS[name], 20, "double", None)
    way = np.abs(expected - problem.x_guess).max()
    assert way > 1e-3
    found = iterated(problem, SOLVERS[name], 20, "double", pl.OpenCL())
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * way)
    single = iterated(problem, SOLVERS[name], 20, "single", pl.OpenCL())
    np.testing.assert_allclose(single, expected, rtol=0, atol=1e-5 * way + 2e-7)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
def test_a_law_with_a_barrier_and_vertex_damping(make_simulation, name) -> None:
    """Steps that would turn tets over are taken back as on the CPU."""
    options = {"held": True, "damping": 2e-3, "damping_form": "vertex_block", "frame_rate": 20}
    problem = make_simulation(pl.NeoHookean, **options).problem()
    expected = iterated(problem, SOLVERS[name], 40, "double", None)
    way = np.abs(expected - problem.x_guess).max()
    found = iterated(problem, SOLVERS[name], 40, "double", pl.OpenCL())
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * way)


@pytest.mark.slow
def test_a_motion_is_that_of_newtons_method() -> None:
    """Wang and Yang's phases on a beam, in single precision on the device, against Newton in double precision."""
    ends = []
    for solver, options in (
        (pl.Chebyshev(pl.GradientDescent(iterations=200), rho=((10, 0.0001), (1, 0.9))), {"device": "opencl"}),
        (pl.Newton(), {"precision": "double"}),
    ):
        scene = pl.Scene()
        mesh = pl.shapes.beam(length=0.5, width=0.1, height=0.1, cells=(6, 2, 2))
        body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3))
        body.pin(mesh.points[:, 0] < mesh.points[:, 0].min() + 1e-6)
        sim = pl.Simulation(scene, solver, frame_rate=100, substeps=1, **options)
        for _ in range(10):
            sim.step()
        ends.append(sim.positions)
    fallen = np.abs(ends[1] - mesh.points).max()
    assert np.abs(ends[0] - ends[1]).max() < 0.01 * fallen


def test_contact_is_refused_by_name() -> None:
    scene = pl.Scene()
    scene.add_solid(pl.shapes.box(cells=1), pl.StableNeoHookean.from_young(1e5, 0.3))
    scene.add_plane((0, 0, -1))
    with pytest.raises(pl.DeviceError, match="GradientDescent: contact does not run on an OpenCL device"):
        pl.Simulation(scene, pl.GradientDescent(), device="opencl")
