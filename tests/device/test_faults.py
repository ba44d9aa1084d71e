"""What fails on a device: one clear error, the state of the last complete step, a checkpoint that goes on."""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.main import app
from pliant.device import opencl

pyopencl = pytest.importorskip("pyopencl")


def block(solver, device="opencl", **options) -> pl.Simulation:
    """A block that slides over the ground, or grains that lie on it."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=3e3, friction=0.4)
    scene.add_plane((0, 0, 0), (0, 0, 1))
    if isinstance(solver, pl.VelocityTimeStepping):
        scene.add_particles([(0, 0, 0.05), (0, 0, 0.15), (0.09, 0, 0.06)], 0.05)
    else:
        mesh = pl.shapes.box(size=(0.1,) * 3, cells=(2,) * 3).transformed(translation=(0, 0, 0.0495))
        body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3))
        body.set_velocities((0.3, 0.1, 0.0))
    return pl.Simulation(scene, solver, frame_rate=100, substeps=1, device=device, **options)


def failing_after(calls: int, function: Callable, error: Exception) -> Callable:
    """A function that works so many times and then raises the error."""
    left = [calls]

    def failing(*args, **options):
        if left[0] == 0:
            raise error
        left[0] -= 1
        return function(*args, **options)

    return failing


LOST = pyopencl.RuntimeError("clEnqueueReadBuffer failed: OUT_OF_RESOURCES")
FULL = pyopencl.MemoryError("create_buffer failed: MEM_OBJECT_ALLOCATION_FAILURE")

SOLVERS = {
    "VBD": pl.VBD(iterations=10),
    "GradientDescent": pl.GradientDescent(iterations=16),
    "GPBD": pl.GPBD(5, "jacobi"),
    "VelocityTimeStepping": pl.VelocityTimeStepping(iterations=10),
}


@pytest.mark.parametrize(
    "name", ["VBD", *(pytest.param(name, marks=pytest.mark.slow) for name in SOLVERS if name != "VBD")]
)
def test_a_device_lost_at_any_command_leaves_the_last_complete_step(monkeypatch, tmp_path, name) -> None:
    """Whichever copy between host and device fails, the first or a later one: one error, the same state; a step after
    it, and one from a checkpoint, have the bits of a run without faults.
    """
    sim, whole = block(SOLVERS[name]), block(SOLVERS[name])
    for run in (sim, whole):
        run.step()
    before, copy = sim.positions, pyopencl.enqueue_copy
    for calls in (0, 1, 3, 5):
        with monkeypatch.context() as broken:
            broken.setattr(pyopencl, "enqueue_copy", failing_after(calls, copy, LOST))
            with pytest.raises(pl.DeviceError, match=r"OUT_OF_RESOURCES.*last complete step.*device=\"cpu\""):
                sim.step()
            np.testing.assert_array_equal(sim.positions, before)
            assert sim.state.step == 1
            sim.save(tmp_path / "kept.npz")
    resumed = pl.Simulation.resume(tmp_path / "kept.npz", device="opencl")
    for run in (sim, whole, resumed):
        run.step()
    np.testing.assert_array_equal(sim.positions, whole.positions)
    np.testing.assert_array_equal(resumed.positions, whole.positions)


@pytest.mark.parametrize(
    ("place", "command"),
    [
        (pyopencl, "enqueue_nd_range_kernel"),
        (pyopencl, "enqueue_fill_buffer"),
        (pyopencl.Kernel, "set_arg"),
        (pyopencl.CommandQueue, "flush"),
    ],
    ids=lambda what: what if isinstance(what, str) else what.__name__,
)
def test_a_device_lost_at_any_kind_of_command_leaves_the_last_complete_step(monkeypatch, place, command) -> None:
    """Launches, zeros, numbers of kernels and the start of the queue, as copies do above."""
    sim, whole = block(SOLVERS["VBD"]), block(SOLVERS["VBD"])
    for run in (sim, whole):
        run.step()
    before = sim.positions
    with monkeypatch.context() as broken:
        broken.setattr(place, command, failing_after(0, getattr(place, command), LOST))
        with pytest.raises(pl.DeviceError, match=r"OUT_OF_RESOURCES.*last complete step.*device=\"cpu\""):
            sim.step()
    np.testing.assert_array_equal(sim.positions, before)
    assert sim.state.step == 1
    for run in (sim, whole):
        run.step()
    np.testing.assert_array_equal(sim.positions, whole.positions)


def test_out_of_memory_in_a_step_leaves_the_last_complete_step(monkeypatch) -> None:
    """Contacts need more room than there was: some buffers have grown when the device is full. Later steps have the
    bits of a run without the fault.
    """
    sim, whole = block(SOLVERS["VBD"]), block(SOLVERS["VBD"])
    before = sim.positions
    with monkeypatch.context() as broken:
        broken.setattr(pyopencl, "Buffer", failing_after(2, pyopencl.Buffer, FULL))
        with pytest.raises(pl.DeviceError, match=r"out of memory, of which it has .* MB"):
            sim.step()
        with pytest.raises(pl.DeviceError, match=r"out of memory, of which it has .* MB"):
            block(SOLVERS["VBD"])
    np.testing.assert_array_equal(sim.positions, before)
    assert sim.state.step == 0
    for _ in range(2):
        sim.step()
        whole.step()
    np.testing.assert_array_equal(sim.positions, whole.positions)


def test_a_table_larger_than_the_device_takes_is_refused() -> None:
    executor = opencl.Executor(opencl._all_devices()[0])
    executor.device = SimpleNamespace(max_mem_alloc_size=1000, global_mem_size=4000)
    with pytest.raises(pl.DeviceError, match=r"out of memory.*one table has 0 MB, at most 0 MB are possible"):
        executor.buffer(np.zeros(1000))


def test_a_machine_without_a_driver_and_a_device_without_double_precision(monkeypatch) -> None:
    def no_platform():
        raise pyopencl.LogicError("clGetPlatformIDs failed: PLATFORM_NOT_FOUND_KHR")

    opencl.open_device.cache_clear()
    with monkeypatch.context() as bare:
        bare.setattr(pyopencl, "get_platforms", no_platform)
        assert opencl.describe_devices() == []
        with pytest.raises(pl.DeviceError, match="no OpenCL device was found: install the driver"):
            block(pl.VBD())
    weak = SimpleNamespace(double_fp_config=0, name="weak card ")
    monkeypatch.setattr(opencl, "_all_devices", lambda: [weak])
    with pytest.raises(pl.DeviceError, match="device weak card has no double precision"):
        block(pl.VBD())


SCENE = """
[simulation]
duration = 0.2
frame_rate = 50

[[bodies]]
kind = "solid"
shape = { kind = "box", size = [0.1, 0.1, 0.1], cells = [2, 2, 2] }
material = { law = "StableNeoHookean", youngs_modulus = 1e5, poissons_ratio = 0.3 }
density = 1000.0
"""


def test_a_run_writes_its_checkpoint_when_the_device_is_lost(monkeypatch, tmp_path) -> None:
    """`pliant run` ends with one sentence that says how to go on, and `pliant resume` does, on the CPU."""
    scene = tmp_path / "fall.toml"
    scene.write_text(SCENE)
    out = tmp_path / "out"
    with monkeypatch.context() as broken:
        broken.setattr(pyopencl, "enqueue_copy", failing_after(200, pyopencl.enqueue_copy, LOST))
        result = CliRunner().invoke(app, ["run", str(scene), "--device", "opencl", "--out", str(out), "--quiet"])
    assert result.exit_code == 1
    said = " ".join(result.stderr.split())
    assert "was lost or failed while it computed" in said
    assert f"pliant resume {out / 'run.npz'} --device cpu" in said
    assert "Traceback" not in said
    kept = pl.Simulation.resume(out / "run.npz")
    assert 0 < kept.state.step < 50
    result = CliRunner().invoke(app, ["resume", str(out / "run.npz"), "--device", "cpu", "--quiet"])
    assert result.exit_code == 0, result.output
    end = pl.Simulation.resume(out / "run.npz")
    assert end.time == pytest.approx(0.2)
    # free fall by implicit Euler: 1/2 g t (t + h)
    fallen = float((kept.model.positions - end.positions)[:, 2].mean())
    assert fallen == pytest.approx(0.5 * 9.81 * 0.2 * (0.2 + end.h), rel=1e-4)
