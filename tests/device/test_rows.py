"""Improved Jacobi over constraints with bounds on an OpenCL device: the iterations of the CPU, and what they hold."""

import numpy as np
import pytest

import pliant as pl
from pliant.model import build_model
from pliant.solvers import SOLVERS as ALL_SOLVERS
from pliant.solvers import Execution
from pliant.solvers.machinery.device_work import kernel_source

SOLVERS = {
    "VelocityTimeStepping": pl.VelocityTimeStepping(),
    "Jacobi": pl.VelocityTimeStepping(pl.Jacobi(weights="count")),
    "pyramid": pl.VelocityTimeStepping(friction="pyramid", relaxed_cone=True),
    "SequentialPositions": pl.SequentialPositions(velocity_iterations=3),
    "PositionBased": pl.PositionBased(),
}


def pile() -> pl.Scene:
    """Spheres that lie in and on each other between a tilted ground and a moving sphere, and a rope between two."""
    scene, random = pl.Scene(), np.random.default_rng(5)
    scene.contact = pl.Contact(friction=0.4)
    grid = np.stack(np.meshgrid(*(np.arange(4),) * 3), axis=-1).reshape(-1, 3) * 0.098 + (0, 0, 0.05)
    grains = scene.add_particles(grid + random.normal(0, 2e-3, grid.shape), 0.05, density=1000.0)
    grains.set_velocities(random.normal(0, 0.3, grid.shape))
    scene.add_plane((0, 0, 0), (0.1, 0, 1), friction=0.5)
    scene.add_sphere((0.15, 0.15, 0.5), 0.12, motion=lambda t: ((0, 0, -0.2 * t), np.eye(3)))
    points, edges = pl.shapes.rope(((1, 0, 1), (2, 0, 1)), 5)
    scene.add_springs(points, edges, stiffness=1e4, mass=0.01, one_sided=True).set_velocities((0.3, 0.1, 0.0))
    return scene


def iterated(solver, n, precision="double", device=None) -> tuple[np.ndarray, np.ndarray, float]:
    """Positions after n iterations of the second step, impulses, and the residual."""
    sim = pl.Simulation(pile(), solver, frame_rate=100, substeps=1, precision="double", device="cpu")
    sim.step()
    problem = sim.problem()
    work = solver.init(problem, Execution(precision, 1, device))
    solver.begin_step(problem, work)
    x = problem.x_guess.copy()
    for part in (2, n - 2):
        solver.sweep(problem, x, work, part)
    work.posed.copy_back()
    return x, work.posed.rows.impulse[: work.posed.count].copy(), work.solved.residual()


@pytest.mark.parametrize(
    "name",
    ["VelocityTimeStepping", *(pytest.param(name, marks=pytest.mark.slow) for name in list(SOLVERS)[1:])],
)
def test_iterations_are_those_of_the_cpu(name) -> None:
    """Contacts with friction between spheres and with obstacles, ropes: to rounding of each precision."""
    solver = SOLVERS[name]
    x, impulses, residual = iterated(solver, 12)
    assert len(impulses) > 150
    assert np.abs(impulses).max() > 1e-3
    found, on_device, same_residual = iterated(solver, 12, "double", pl.OpenCL())
    np.testing.assert_allclose(on_device, impulses, rtol=0, atol=1e-10 * np.abs(impulses).max())
    np.testing.assert_allclose(found, x, rtol=0, atol=1e-13)
    assert same_residual == pytest.approx(residual, rel=1e-6)
    found, on_device, _ = iterated(solver, 12, "single", pl.OpenCL())
    np.testing.assert_allclose(on_device, impulses, rtol=0, atol=1e-4 * np.abs(impulses).max())
    np.testing.assert_allclose(found, x, rtol=0, atol=1e-6)


@pytest.mark.slow
def test_runs_repeat_bit_for_bit_and_end_where_the_cpu_ends() -> None:
    """Twenty steps with default settings, in single precision; spheres that collide part ways of rounding, so the
    energies are compared, not the positions.
    """
    ends = []
    for device in ("opencl", "opencl", "cpu"):
        sim = pl.Simulation(pile(), frame_rate=100, substeps=1, device=device)
        assert isinstance(sim.solver, pl.VelocityTimeStepping)
        for _ in range(20):
            sim.step()
        ends.append((sim.positions, sim.velocities))
    np.testing.assert_array_equal(ends[0][0], ends[1][0])
    mass, height = sim.model.mass, ends[2][0][:, 2]
    before = float((mass * pl.Simulation(pile(), frame_rate=100, substeps=1).positions[:, 2]).sum())
    fallen = before - float((mass * height).sum())
    assert fallen > 0
    assert float((mass * (ends[0][0][:, 2] - height)).sum()) == pytest.approx(0, abs=0.02 * fallen)


@pytest.mark.slow
def test_measuring_which_is_faster_leaves_nothing_behind() -> None:
    """Steps with device="auto" are those of the one it takes, bit for bit, warm start included."""
    ends = {}
    for device in ("cpu", "opencl", "auto"):
        sim = pl.Simulation(pile(), frame_rate=100, substeps=1, device=device)
        for _ in range(3):
            sim.step()
        ends[device] = sim.positions
    taken = "cpu" if sim.execution.device is None else "opencl"
    np.testing.assert_array_equal(ends["auto"], ends[taken])


@pytest.mark.slow
def test_a_column_of_spheres_is_carried_by_the_ground() -> None:
    """Eight spheres upon each other at rest: the impulse of contact k per step is h times the weight above it."""
    scene, h = pl.Scene(), 1 / 100
    points = np.column_stack([np.zeros(8), np.zeros(8), 0.05 + 0.1 * np.arange(8)])
    scene.add_particles(points, 0.05, density=1000.0)
    scene.add_plane((0, 0, 0), (0, 0, 1))
    solver = pl.VelocityTimeStepping(iterations=400, settling=0, warm_start=0.9)
    sim = pl.Simulation(scene, solver, frame_rate=100, substeps=1, device="opencl", precision="double")
    for _ in range(30):
        sim.step()
    problem = sim.problem()
    work = solver.init(problem, Execution("double", 1, pl.OpenCL()))
    solver.begin_step(problem, work)
    solver.sweep(problem, problem.x_guess.copy(), work, 4000)
    posed = work.posed
    rows, weight = posed.rows, sim.model.mass[0] * 9.81 * h
    upper = rows.vertices[: posed.count, :2].max(axis=1)  # an obstacle is -1
    np.testing.assert_allclose(rows.impulse[: posed.count, 0], weight * (8 - upper), rtol=1e-3)


@pytest.mark.parametrize(
    ("build", "solver", "words"),
    [
        (lambda scene: None, pl.VelocityTimeStepping(pl.GaussSeidel()), r"pl.GaussSeidel\(\) does not run .* use"),
        (lambda scene: None, pl.PositionBased(pl.MinimumResidual()), r"pl.MinimumResidual\(\) does not run"),
        (lambda scene: scene.add_particles([(1, 0, 0)], 0.1, spin=True), pl.VelocityTimeStepping(), "spin=True"),
        (lambda scene: scene.add_rigid(pl.Sphere(0.1)), pl.VelocityTimeStepping(), "rigid bodies do not run"),
        (
            lambda scene: scene.add_cloth(pl.shapes.cloth(), pl.StVenantKirchhoff.from_young(100.0, 0.3), density=0.2),
            pl.SequentialPositions(),
            "triangles .* do not run",
        ),
    ],
    ids=["Gauss-Seidel", "minimum residual", "spin", "rigid", "cloth"],
)
def test_what_has_no_form_on_devices_is_refused_by_name(build, solver, words) -> None:
    scene = pl.Scene()
    scene.contact = pl.Contact()
    scene.add_particles([(0, 0, 0)], 0.1)
    build(scene)
    with pytest.raises(pl.DeviceError, match=words):
        pl.Simulation(scene, solver, device="opencl")


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_kernels_can_be_read_without_a_device(solver) -> None:
    text = kernel_source(solver, build_model(pile()), 0.01)
    assert text.count("KERNEL void") == 2
    assert "Equations 26 and 38" in text


def test_all_solvers_of_constraints_that_run_on_devices_are_tried() -> None:
    """Here, and in test_gpbd.py."""
    can = {name: solver.capabilities for name, solver in ALL_SOLVERS.items()}
    satisfying = {name for name, own in can.items() if own.device and not own.minimises}
    assert satisfying == {"GPBD", *(type(solver).__name__ for solver in SOLVERS.values())}
