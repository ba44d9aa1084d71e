"""Checkpoints: a run goes on with the same bits, and a bad file is told."""

import errno
import os

import numpy as np
import pytest

import pliant as pl

MESH = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
LED = np.flatnonzero(MESH.points[:, 0] < -0.149)


def swing(time):
    return MESH.points[LED] + (0.0, 0.05 * np.sin(20 * time), 0.0)


def simulation(solver=None, *, led=True, precision="single", threads=None, damping=1e-3):
    """Two bodies of two laws; the first is led, tied to lines and planes, damped."""
    scene = pl.Scene()
    first = scene.add_solid(MESH, pl.NeoHookean.from_young(1e5, 0.4), 900.0, damping, name="led")
    if led:
        first.move(LED, swing)
        others = np.setdiff1d(np.arange(MESH.n_vertices), LED)
        first.constrain_to_line(others[:2], (1, 1, 0))
        first.constrain_to_plane(others[2:4], (0, 1, 1))
    second = scene.add_solid(pl.shapes.ball(0.1, 1), pl.StVenantKirchhoff.from_young(2e5, 0.3), name="ball")
    second.set_velocities((0.1, 0.2, 0.3))
    solver = pl.VBD(iterations=4) if solver is None else solver
    return pl.Simulation(scene, solver, frame_rate=60, substeps=2, precision=precision, threads=threads)


def assert_same_state(one, other):
    for name in ("x", "v", "v_previous"):
        np.testing.assert_array_equal(getattr(one.state, name), getattr(other.state, name))
    assert one.time == other.time


SOLVERS = {
    "VBD": pl.VBD(iterations=4),
    "VBD-options": pl.VBD(iterations=3, start="inertial", line_search=True, psd=True),
    "Chebyshev": pl.Chebyshev(pl.VBD(iterations=4), rho=0.8),
    "Newton": pl.Newton(iterations=3),
}


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_a_resumed_run_continues_with_the_same_bits(tmp_path, solver):
    """Led, constrained and damped bodies; the resumed one runs on another number of threads."""
    sim = simulation(solver)
    for _ in sim.frames(3):
        pass
    sim.save(tmp_path / "run.npz")
    resumed = pl.Simulation.resume(tmp_path / "run.npz", motions={"led": [swing]}, threads=3)
    assert resumed.solver == solver
    assert_same_state(resumed, sim)
    for _ in range(3):
        sim.advance()
        resumed.advance()
    assert_same_state(resumed, sim)


def test_precision_and_settings_are_kept(tmp_path):
    sim = simulation(led=False, precision="double")
    sim.advance()
    sim.save(tmp_path / "run.npz")
    resumed = pl.Simulation.resume(tmp_path / "run.npz")
    assert (resumed.frame_rate, resumed.substeps, resumed.execution.precision) == (60, 2, "double")
    assert [body.name for body in resumed.scene.bodies] == ["led", "ball"]
    assert resumed.scene.bodies[0].material == pl.NeoHookean.from_young(1e5, 0.4)
    sim.advance()
    resumed.advance()
    assert_same_state(resumed, sim)


def test_energies_are_the_same_after_resuming(tmp_path):
    """State energies to the bit; the last step's own terms belong to a step that is gone and read as zero."""
    sim = simulation(led=False)
    sim.advance()
    sim.save(tmp_path / "run.npz")
    before, after = sim.energies(), pl.Simulation.resume(tmp_path / "run.npz").energies()
    for name in ("kinetic", "elastic", "gravity", "total"):
        assert after[name] == before[name]
    for name in ("inertia", "damping"):
        assert after[name] == pytest.approx(before[name], rel=1e-9) or after[name] == 0


def test_a_checkpoint_before_the_first_step_is_the_beginning(tmp_path):
    sim = simulation(led=False)
    sim.save(tmp_path / "run.npz")
    resumed = pl.Simulation.resume(tmp_path / "run.npz")
    sim.step()
    resumed.step()
    assert_same_state(resumed, sim)


def test_motions_must_be_passed_again(tmp_path):
    """The message names the body and the argument."""
    simulation().save(tmp_path / "run.npz")
    with pytest.raises(pl.FileError) as error:
        pl.Simulation.resume(tmp_path / "run.npz")
    assert "body led has 1 Python functions as motions" in str(error.value)
    assert "motions={'led': [motion, ...]}" in str(error.value)


def test_motions_of_unknown_bodies_are_told(tmp_path):
    """A misspelt name is not ignored."""
    simulation(led=False).save(tmp_path / "run.npz")
    with pytest.raises(pl.PliantError, match="lead"):
        pl.Simulation.resume(tmp_path / "run.npz", motions={"lead": [swing]})


def damaged(tmp_path, kind):
    path = tmp_path / "run.npz"
    if kind == "empty":
        path.write_bytes(b"")
    elif kind == "text":
        path.write_text("this is no checkpoint")
    elif kind == "array":
        with path.open("wb") as file:
            np.save(file, np.zeros(3))
    elif kind == "other-npz":
        np.savez(path, a=np.zeros(3))
    elif kind == "folder":
        path.mkdir()
    else:
        simulation(led=False).save(path)
        whole = path.read_bytes()
        if kind == "bit-flip":
            middle = len(whole) // 2
            path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :])
        else:
            path.write_bytes(whole[: int(len(whole) * {"cut-tail": 0.99, "cut-half": 0.5}[kind])])
    return path


@pytest.mark.parametrize(
    "kind",
    [
        "empty",
        "text",
        "array",
        "other-npz",
        "folder",
        "cut-tail",
        "cut-half",
        "bit-flip",
    ],
)
def test_a_damaged_file_is_told(tmp_path, kind):
    """One FileError that names the file."""
    path = damaged(tmp_path, kind)
    with pytest.raises(pl.FileError, match=r"run\.npz"):
        pl.Simulation.resume(path)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(pl.FileError, match="no such file"):
        pl.Simulation.resume(tmp_path / "never.npz")


@pytest.mark.parametrize(
    "interrupted",
    [
        pytest.param(False, id="disk-full"),
        pytest.param(True, id="ctrl-c"),
    ],
)
def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch, interrupted):
    """Half a file is written, then it fails: the old checkpoint resumes, and no temporary file is left."""
    path = tmp_path / "run.npz"
    sim = simulation(led=False)
    sim.save(path)
    old = path.read_bytes()
    sim.advance()

    def fail(file, **arrays):
        file.write(b"half")
        if interrupted:
            raise KeyboardInterrupt
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(KeyboardInterrupt if interrupted else pl.FileError):
        sim.save(path)
    assert path.read_bytes() == old
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


@pytest.mark.parametrize("folder", ["missing", "file"])
def test_a_folder_that_cannot_be_written_is_told(tmp_path, folder):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(pl.FileError) as error:
        simulation(led=False).save(tmp_path / folder / "run.npz")
    assert f"{folder}/run.npz" in str(error.value)
    assert "another folder" in str(error.value)


def test_sides_of_sheets_are_kept(tmp_path):
    """A sheet is thrown at another, 1 mm thick, and saved while it is 10 cm behind it in parts: from there it is
    pushed back as without the pause, and the next report counts the same missed contacts.
    """
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact(stiffness=1e3, thickness=1e-3)
    law = pl.StableNeoHookean.from_young(1e5, 0.3)
    target = scene.add_cloth(pl.shapes.cloth((2, 2), (9, 9)), law, density=0.2, name="target")
    target.pin(np.arange(target.n_vertices))
    mesh = pl.shapes.cloth((0.5, 0.5), (4, 4)).transformed(translation=(0.01, 0.02, 0.05))
    sheet = scene.add_cloth(mesh, law, density=0.2, name="sheet")
    sheet.set_velocities((0, 0, -100))
    sim = pl.Simulation(scene, pl.VBD(iterations=4))
    for _ in range(3):
        sim.step()
    assert sheet.positions[:, 2].min() < -0.1
    sim.save(tmp_path / "run.npz")
    resumed = pl.Simulation.resume(tmp_path / "run.npz")
    assert resumed.energies()["contact"] == sim.energies()["contact"] > 1
    for _ in range(25):
        assert sim.step().contact == resumed.step().contact
        assert_same_state(resumed, sim)
    assert sheet.positions[:, 2].min() > 0
