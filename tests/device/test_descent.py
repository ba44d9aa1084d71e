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


# --- contact ----------------------------------------------------------------------------------------------------------


def pile(**options) -> pl.Simulation:
    """A cube that slides over another, which lies on the ground, with friction."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=3e3, friction=0.4, friction_speed=0.5, damping=1e-3)
    for k, centre in enumerate(((0, 0, 0.0485), (0.02, 0.01, 0.1465))):
        mesh = pl.shapes.box(size=(0.1,) * 3, cells=(2,) * 3).transformed(translation=centre)
        scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3)).set_velocities((0.3 * k, 0.1 * k, 0.0))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    solver = options.pop("solver", pl.Newton())
    return pl.Simulation(scene, solver, frame_rate=100, substeps=1, **{"precision": "double", **options})


@pytest.mark.parametrize(
    "name", ["Chebyshev", *(pytest.param(name, marks=pytest.mark.slow) for name in SOLVERS if name != "Chebyshev")]
)
def test_iterations_among_contacts_are_those_of_the_cpu(name) -> None:
    """Over three looks at the energy, at each of which closest points and friction limits change."""
    problem = pile().problem()
    ends = {}
    for key, precision, device in (
        ("cpu", "double", None), ("double", "double", pl.OpenCL()), ("single", "single", pl.OpenCL())
    ):  # fmt: skip
        own = problem.with_own_internal_state()
        x = iterated(own, SOLVERS[name], 25, precision, device)
        ends[key] = x, own.contacts.contacts
    expected, contacts = ends["cpu"]
    way = np.abs(expected - problem.x_guess).max()
    assert way > 1e-4
    assert contacts.updates_closest_point.any()
    assert contacts.friction_limit.max() > 0
    np.testing.assert_allclose(ends["double"][0], expected, rtol=0, atol=1e-9 * way)
    np.testing.assert_allclose(ends["double"][1].weights, contacts.weights, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ends["single"][0], expected, rtol=0, atol=1e-4 * way + 2e-7 * 0.3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Chebyshev", "BlockJacobi"])
def test_converges_among_contacts_to_newtons_minimiser(name) -> None:
    """Within 1e-6 of the way travelled, friction included."""
    problem = pile().problem()
    minimiser = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=100, residual=1e-10)).x
    report = pl.solve(
        problem, SOLVERS[name], stop=pl.Stop(iterations=6000, residual=1e-9), measure_every=100, device="opencl"
    )
    assert np.abs(report.x - minimiser).max() < 1e-6 * np.abs(minimiser - problem.x_guess).max()


@pytest.mark.slow
def test_contacts_that_are_detected_within_a_step_reach_the_device() -> None:
    """Twenty steps with a detection every ten iterations: the motion of the CPU, to 1e-3 of the way."""
    ends = []
    for device in ("cpu", "opencl"):
        sim = pile(solver=pl.GradientDescent(iterations=40), device=device)
        sim._detect_every = 10
        for _ in range(20):
            sim.step()
        ends.append(sim.positions)
    way = np.abs(ends[0] - sim.model.positions).max()
    assert way > 0.02
    assert np.abs(ends[1] - ends[0]).max() < 1e-3 * way
