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


def test_closest_points_follow_on_the_device(monkeypatch) -> None:
    """Weights, normals and friction limits after five iterations are those of the CPU, in double precision to 1e-10;
    the host reads as often for fifty iterations as for one: it does not wait within a sweep.
    """
    problem, _ = case("pile")
    found = {}
    for device in (None, pl.OpenCL()):
        own = problem.with_own_internal_state()
        work = pl.VBD().init(own, Execution("double", 1, device))
        pl.VBD().begin_step(own, work)
        pl.VBD().sweep(own, own.x_guess.copy(), work, 5)
        found[device] = own.contacts.contacts
    expected, contacts = found.values()
    assert expected.updates_closest_point.any()
    assert np.abs(expected.weights - problem.contacts.contacts.weights).max() > 1e-4
    np.testing.assert_allclose(contacts.weights, expected.weights, rtol=0, atol=1e-10)
    np.testing.assert_allclose(contacts.normals, expected.normals, rtol=0, atol=1e-10)
    np.testing.assert_allclose(contacts.friction_limit, expected.friction_limit, rtol=1e-8)
    reads, executor = [], work.sweeps.executor
    read = executor.read
    monkeypatch.setattr(executor, "read", lambda *arguments: reads.append(1) or read(*arguments))
    counts = []
    for n in (1, 50):
        reads.clear()
        pl.VBD().sweep(own, own.x_guess.copy(), work, n)
        counts.append(len(reads))
    assert counts[0] == counts[1]


def test_a_step_is_loaded_while_its_contacts_are_detected(monkeypatch) -> None:
    """Its numbers are sent and damping is measured without waiting, before detection begins; bits do not change."""
    ends = []
    for is_early in (True, False):
        scene = pl.Scene()
        scene.contact = pl.Contact(stiffness=3e3, friction=0.4)
        cube(scene, (0, 0, 0.0485), damping=1e-3, damping_form="vertex_block").set_velocities((0.3, 0.1, 0.0))
        scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
        solver = pl.Chebyshev(pl.VBD(iterations=10), 0.7)
        sim = pl.Simulation(scene, solver, frame_rate=100, substeps=1, device="opencl")
        log: list[str] = []
        with monkeypatch.context() as watched:
            executor, detector = sim._work.inner.sweeps.executor, sim._detector
            for owner, name in (
                (executor, "write"), (executor, "read"), (executor, "flush"), (executor, "_enqueue"),
                (detector, "begin_step"), (detector, "detect"),
            ):  # fmt: skip
                own = getattr(owner, name)
                watched.setattr(owner, name, lambda *a, own=own, name=name, log=log: log.append(name) or own(*a))
            if not is_early:
                watched.setattr(sim._work.inner, "load_early", lambda pose: None)
            for launch in (sim._work.inner.sweeps._measure,):
                watched.setattr(launch, "enqueue", executor._enqueue)
            for _ in range(3):
                sim.step()
        first = log[: log.index("begin_step")]
        assert ("write" in first, "_enqueue" in first) == (is_early, is_early)
        assert "read" not in first
        ends.append(sim.positions)
    np.testing.assert_array_equal(*ends)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "then"), [("cpu", "opencl"), ("opencl", "cpu")])
def test_a_checkpoint_of_one_device_goes_on_on_the_other(tmp_path, first, then) -> None:
    """Among contacts with friction, to 1e-4 of the way."""

    def start(device) -> pl.Simulation:
        scene = pl.Scene()
        scene.contact = pl.Contact(stiffness=3e3, friction=0.4, friction_speed=0.5)
        cube(scene, (0, 0, 0.0485), damping=1e-3)
        cube(scene, (0.02, 0.01, 0.1465)).set_velocities((0.3, 0.1, 0.0))
        scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
        return pl.Simulation(scene, pl.VBD(iterations=100), frame_rate=100, substeps=1, device=device)

    sim, whole = start(first), start(first)
    for _ in range(4):
        sim.step()
    sim.save(tmp_path / "kept.npz")
    resumed = pl.Simulation.resume(tmp_path / "kept.npz", device=then)
    for _ in range(4):
        resumed.step()
    for _ in range(8):
        whole.step()
    assert resumed.n_contacts > 0
    way = np.abs(whole.positions - whole.model.positions).max()
    assert way > 0.01
    assert np.abs(resumed.positions - whole.positions).max() < 1e-4 * way
