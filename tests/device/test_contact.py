"""Contact and friction on an OpenCL device: Newton's minimiser, and the iterations of the CPU."""

import functools

import numpy as np
import pytest

import pliant as pl
from pliant.device.opencl import SCHEDULES
from pliant.solvers import Execution


def cube(scene: pl.Scene, centre, **options):
    mesh = pl.shapes.box(size=(0.1,) * 3, cells=(2,) * 3).transformed(translation=centre)
    return scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3), **options)


def pile() -> pl.Simulation:
    """A cube that slides over another, which lies on the ground; one is damped, the other under pressure."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=3e3, friction=0.4, friction_speed=0.5, damping=1e-3)
    cube(scene, (0, 0, 0.0485), damping=1e-3)
    upper = cube(scene, (0.02, 0.01, 0.1465))
    upper.set_velocities((0.3, 0.1, 0.0))
    upper.pressure = 500.0
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    return pl.Simulation(scene, pl.Newton(), frame_rate=100, substeps=1, precision="double")


def slide() -> pl.Simulation:
    """One cube that slides over the ground: friction limits are found on the device."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=3e3, friction=0.4, friction_speed=0.5)
    cube(scene, (0, 0, 0.0485)).set_velocities((0.3, 0.1, 0.0))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    return pl.Simulation(scene, pl.Newton(), frame_rate=100, substeps=1, precision="double")


SCENES = {"pile": pile, "slide": slide}


@functools.cache
def case(name: str) -> tuple[pl.IncrementalPotential, np.ndarray]:
    problem = SCENES[name]().problem()
    report = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=100, residual=1e-10))
    assert report.residual < 1e-9
    return problem, report.x


def iterated(problem, solver, n: int, execution: Execution) -> tuple[np.ndarray, np.ndarray]:
    """Positions and friction limits after n iterations on a copy of the problem."""
    own = problem.with_own_internal_state()
    work = solver.init(own, execution)
    solver.begin_step(own, work)
    x = own.x_guess.copy()
    solver.sweep(own, x, work, n)
    return x, own.contacts.contacts.friction_limit


@pytest.mark.parametrize(
    ("name", "schedule"),
    [
        pytest.param(name, schedule, marks=() if (name, schedule) in QUICK else pytest.mark.slow)
        for QUICK in [{("pile", "groups"), ("slide", "packed")}]
        for name in SCENES
        for schedule in SCHEDULES
    ],
)
def test_converges_to_newtons_minimiser(name, schedule) -> None:
    """Within 1e-9 of the way travelled in double precision, 1e-4 in single."""
    problem, minimiser = case(name)
    way = np.abs(minimiser - problem.x_guess).max()
    assert way > 1e-3
    for precision, part in (("double", 1e-9), ("single", 1e-4)):
        execution = Execution(precision, 0, pl.OpenCL(schedule=schedule))
        x, limits = iterated(problem, pl.VBD(), 2000, execution)
        assert np.abs(x - minimiser).max() < part * way
        assert limits.sum() > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
def test_every_iteration_is_that_of_the_cpu(name) -> None:
    """With momentum, which vertices that touch do not take."""
    problem, minimiser = case(name)
    way, size = np.abs(minimiser - problem.x_guess).max(), np.ptp(problem.x_prev, axis=0).max()
    for precision, part, rounding in (("double", 1e-11, 0.0), ("single", 1e-5, 2e-7 * size)):
        for n in range(1, 6):
            cpu, limits = iterated(problem, pl.Chebyshev(pl.VBD(), 0.8), n, Execution(precision, 1))
            x, own = iterated(problem, pl.Chebyshev(pl.VBD(), 0.8), n, Execution(precision, 0, pl.OpenCL()))
            assert np.abs(x - cpu).max() < part * way + rounding
            assert np.abs(own - limits).max() < 3 * part * limits.max()


def test_a_soft_block_comes_to_rest_on_the_ground() -> None:
    """The ground carries its weight, and a run without settings neither sinks nor flies."""
    scene = pl.Scene()
    scene.contact = pl.Contact(friction=0.4)
    body = cube(scene, (0, 0, 0.052), damping=2e-3)
    scene.add_plane((0, 0, 0), (0, 0, 1))
    sim = pl.Simulation(scene, substeps=2, device="opencl")
    for _ in sim.frames(15):
        pass
    weight = 9.81 * sim.model.mass.sum()
    assert abs(sim.contacts.body_forces[0][2] - weight) < 0.05 * weight
    assert body.positions[:, 2].min() > -1e-3
    assert np.abs(sim.velocities).max() < 0.05
