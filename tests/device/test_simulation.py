"""A simulation on an OpenCL device: the same motion as on the CPU, checkpoints that move between both, clear errors."""

import re

import numpy as np
import pytest

import pliant as pl
from pliant import device_choice
from pliant.device import opencl
from pliant.solvers import Execution


def beam(solver=None, **options) -> pl.Simulation:
    """A cantilever that sags, damped; Newton's kernels for it are in other tests too."""
    scene = pl.Scene()
    mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.35), 1000.0, 1e-3, name="block")
    body.pin(mesh.points[:, 0] < mesh.points[:, 0].min() + 1e-6)
    return pl.Simulation(scene, solver, frame_rate=100, substeps=1, **options)


@pytest.mark.slow
def test_default_solver_follows_newtons_motion() -> None:
    """Ten steps without choosing anything: within 2 % of the way, the tolerance of a step's error."""
    device, exact = beam(device="opencl"), beam(pl.Newton(), precision="double")
    start = device.positions
    for _ in range(10):
        report = device.step()
        exact.step()
        assert report.converged
        assert report.error <= 0.02
    way = np.abs(exact.positions - start).max()
    assert way > 5e-3
    assert np.abs(device.positions - exact.positions).max() < 0.02 * way


def test_the_same_bits_from_run_to_run() -> None:
    runs = []
    for _ in range(2):
        sim = beam(pl.Chebyshev(pl.VBD(iterations=10), 0.8), device=pl.OpenCL(schedule="groups"))
        for _ in range(3):
            sim.step()
        runs.append(sim.positions)
    np.testing.assert_array_equal(runs[0], runs[1])


def test_n_iterations_at_once_are_n_times_one() -> None:
    problem = beam(pl.VBD(), device="opencl").problem()
    results = []
    for parts in ([6], [1] * 6, [2, 4]):
        solver = pl.Chebyshev(pl.VBD(), 0.9)
        work = solver.init(problem, Execution("single", 0, pl.OpenCL()))
        solver.begin_step(problem, work)
        x = problem.x_guess.copy()
        for n in parts:
            solver.sweep(problem, x, work, n)
        results.append(x)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


@pytest.mark.slow
def test_a_sheet_tears_as_on_the_cpu() -> None:
    """One half of it is thrown away from the other: the same edges open, and what is left moves alike."""
    mesh = pl.shapes.cloth(size=(0.4, 0.4), cells=(4, 4))
    ends = []
    for device in ("cpu", "opencl"):
        scene = pl.Scene()
        sheet = scene.add_cloth(mesh, pl.StableNeoHookean(mu=0.5, lam=0.5), density=0.2, tear_at=1.2)
        sheet.set_velocities((mesh.points[:, :1] > 0.05) * np.array([4.0, 0.0, 0.0]))
        sim = pl.Simulation(scene, pl.VBD(iterations=20), frame_rate=100, substeps=1, device=device, precision="double")
        for _ in range(5):
            sim.step()
        ends.append((sheet.triangles.copy(), sim.positions))
    assert len(ends[0][1]) >= mesh.n_vertices + 5, "a row of five vertices has come apart"
    np.testing.assert_array_equal(ends[1][0], ends[0][0])
    np.testing.assert_allclose(ends[1][1], ends[0][1], rtol=0, atol=1e-11)


@pytest.mark.slow
def test_a_checkpoint_of_one_device_goes_on_on_the_other(tmp_path) -> None:
    solver, path = pl.VBD(iterations=60), tmp_path / "kept.npz"
    for first, then in (("cpu", "opencl"), ("opencl", "cpu")):
        sim, whole = beam(solver, device=first), beam(solver, device=first)
        for _ in range(4):
            sim.step()
        sim.save(path)
        resumed = pl.Simulation.resume(path, device=then)
        for _ in range(8):
            whole.step()
        for _ in range(4):
            resumed.step()
        way = np.abs(whole.positions - beam(solver, device=then).positions).max()
        assert np.abs(resumed.positions - whole.positions).max() < 1e-4 * way


# --- errors -----------------------------------------------------------------------------------------------------------


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(pl.DeviceError, match="device is 'cuda'"):
        beam(pl.VBD(), device="cuda")
    with pytest.raises(pl.DeviceError, match="no OpenCL device 77"):
        beam(pl.VBD(), device=pl.OpenCL(index=77))
    with pytest.raises(pl.DeviceError, match="schedule is 'fast'"):
        pl.OpenCL(schedule="fast")


@pytest.mark.parametrize("solver", [pl.Newton(), pl.Auto(), pl.Nesterov(pl.GradientDescent()), pl.Anderson(pl.VBD())])
def test_other_solvers_are_refused_by_name(solver) -> None:
    with pytest.raises(pl.DeviceError, match=r"(Newton|Auto|Nesterov|Anderson) does not run on an OpenCL"):
        beam(solver, device="opencl")
    with pytest.raises(pl.DeviceError, match="line_search does not run"):
        beam(pl.VBD(line_search=True), device="opencl")


def test_what_has_no_device_form_is_named() -> None:
    scene = pl.Scene()
    scene.add_rigid(pl.shapes.box((0.1, 0.1, 0.1), (1, 1, 1)))
    with pytest.raises(pl.DeviceError, match="rigid bodies"):
        pl.Simulation(scene, pl.VBD(), device="opencl")
    scene = pl.Scene()
    scene.add_particles(np.zeros((1, 3)), radius=0.1)
    with pytest.raises(pl.DeviceError, match="particles do not run"):
        pl.Simulation(scene, pl.VBD(), device="opencl")


def test_no_pyopencl_and_no_driver_are_said(monkeypatch) -> None:
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(opencl, "import_module", missing)
    opencl.open_device.cache_clear()
    with pytest.raises(pl.DeviceError, match=r"pyopencl is not installed.*pliant\[device\]"):
        beam(pl.VBD(), device="opencl")
    assert opencl.describe_devices() == []
    monkeypatch.setattr(opencl, "_all_devices", list)
    with pytest.raises(pl.DeviceError, match="no OpenCL device was found"):
        beam(pl.VBD(), device="opencl")


def test_auto_takes_the_faster_one_and_says_so(monkeypatch, caplog) -> None:
    """Its own measurement, then made-up ones; what cannot run on a device stays on the CPU, with the reason."""
    with caplog.at_level("INFO", "pliant"):
        sim = beam(pl.VBD(iterations=10), device="auto")
    assert re.search(r'device="auto" takes the .*: an iteration takes .* ms on the CPU and .* ms', caplog.text)
    sim.step()
    for seconds, is_on_device in (([1.0, 0.5], True), ([0.5, 1.0], False)):
        made_up = iter(seconds)
        monkeypatch.setattr(device_choice, "_iteration", lambda *_, made_up=made_up: next(made_up))
        sim = beam(pl.VBD(iterations=10), device="auto")
        assert (sim.execution.device is not None) == is_on_device
    with caplog.at_level("INFO", "pliant"):
        assert beam(pl.Newton(), device="auto").execution.device is None
    assert "Newton does not run on an OpenCL device" in caplog.text


@pytest.mark.slow
def test_auto_compares_a_step_where_each_has_a_solver_of_its_own(monkeypatch, caplog) -> None:
    """A scene that names no solver: its own measurement, then a made-up one; from then on it steps on the device."""
    with caplog.at_level("INFO", "pliant"):
        assert isinstance(beam(device="auto").solver, pl.VBD | pl.Auto)
    assert re.search(r"a step takes .* ms on the CPU with Auto and .* ms on the device with VBD", caplog.text)
    seconds = iter([1.0, 0.5])
    monkeypatch.setattr(device_choice, "_step", lambda *_: next(seconds))
    sim, named = beam(device="auto"), beam(device="opencl")
    assert sim.execution.device is not None
    assert sim.solver == named.solver
    for _ in range(3):
        sim.step()
        named.step()
    np.testing.assert_array_equal(sim.positions, named.positions)
