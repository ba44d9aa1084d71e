"""Recorders: what they see, what they refuse, and what is left when the disk is full or the process is killed."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.io.results import open_result
from pliant.io.results.archive import ArchiveWriter

FULL = OSError(28, "No space left on device")


@pytest.fixture
def sim(make_simulation):
    return make_simulation(solver=pl.VBD(iterations=3), substeps=2)


def test_first_frame_is_the_present_and_every_counts_frames(sim, tmp_path):
    sim.advance()
    with sim.record(tmp_path / "a.npz", every=2) as recorder:
        sim.step()
        for _ in sim.frames(4):
            pass
    assert recorder.frames == 3
    sim.advance()  # after closing, nobody watches
    assert sim.observers == []
    times = open_result(tmp_path / "a.npz").times
    np.testing.assert_allclose(times, [0.01, 0.03, 0.05], rtol=1e-12)


def test_recording_does_not_change_the_simulation(make_simulation, tmp_path):
    watched, alone = (make_simulation(solver=pl.VBD(iterations=3)) for _ in range(2))
    with watched.record(tmp_path / "a.pvd"):
        for sim in (watched, alone):
            for _ in sim.frames(3):
                pass
    np.testing.assert_array_equal(watched.positions, alone.positions)


def test_fields_of_ones_own(sim, tmp_path):
    """Each is a function of state and report; it cannot write to the state."""
    force = np.arange(sim.model.n_vertices, dtype=float)
    fields = {"height": lambda s, r: s.x[:, 2], "force": lambda s, r: force}
    with sim.record(tmp_path / "a.npz", volume=True, fields=fields):
        sim.advance()
    with open_result(tmp_path / "a.npz") as result:
        fields = result.frame(1).point_fields
        np.testing.assert_allclose(fields["height"], sim.positions[:, 2], rtol=1e-6, atol=1e-9)
        np.testing.assert_array_equal(fields["force"], force)

    def write(state, report):
        state.x[0] = 0

    with pytest.raises(ValueError, match="read-only"):
        sim.record(tmp_path / "b.npz", fields={"bad": write})
    with pytest.raises(pl.FileError, match=r"'few' has the shape \(2,\)"):
        sim.record(tmp_path / "c.npz", fields={"few": lambda s, r: np.zeros(2)})
    with pytest.raises(pl.FileError, match="cannot be called 'time'"):
        sim.record(tmp_path / "d.npz", fields={"time": lambda s, r: s.x})


def test_a_place_that_cannot_be_written_is_refused_at_once(sim, tmp_path):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "run").write_text("where the frames' folder would be")
    for path, what in [
        (tmp_path / "missing" / "a.npz", "there is no folder"),
        (tmp_path / "missing" / "a.mp4", "there is no folder"),
        (tmp_path / "file" / "a.npz", "is a file, not a folder"),
        (tmp_path / "folder.npz", "a folder of this name"),
        (tmp_path / "run.pvd", "cannot be written"),
    ]:
        with pytest.raises(pl.FileError, match=what):
            sim.record(path)
    assert sim.observers == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes anywhere")
def test_read_only_folder(sim, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(pl.FileError, match=r"cannot be written \(Permission denied\)"):
        sim.record(tmp_path / "a.npz")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="a folder that takes no files, even of root")
def test_folder_that_takes_no_files(sim):
    with pytest.raises(pl.FileError, match="cannot be written"):
        sim.record("/proc/a.npz")


def test_unknown_endings_are_refused_with_what_is_known(sim, tmp_path):
    with pytest.raises(pl.FileError, match=r"'.usdx' cannot be written; known are .npz, .pvd.* Did you mean .usd"):
        sim.record(tmp_path / "a.usdx")
    with pytest.raises(pl.FileError, match=r"'\(none\)'"):
        sim.record(tmp_path / "a")
    with pytest.raises(pl.FileError, match=r"holds surfaces only; for tets use \.npz or \.pvd"):
        sim.record(tmp_path / "a.glb", volume=True)
    with pytest.raises(pl.SceneError, match="every"):
        sim.record(tmp_path / "a.npz", every=0)
    assert list(tmp_path.iterdir()) == []


def test_full_disk_ends_the_recording_and_keeps_the_rest(sim, tmp_path, monkeypatch):
    """One error from the step that notices; the frames before are readable and the simulation goes on."""
    write = ArchiveWriter.write

    def fails_at_the_third(self, frame):
        if self._count == 2:
            raise FULL
        write(self, frame)

    monkeypatch.setattr(ArchiveWriter, "write", fails_at_the_third)
    path, surface = tmp_path / "a.npz", sim.scene.bodies[0].mesh.surface_vertices
    recorder = sim.record(path)
    sim.advance()
    second = sim.positions[surface]
    sim.advance()
    with pytest.raises(pl.FileError, match=r"frame 2 could not be written \(No space left on device\)\. The 2 frames"):
        recorder.wait()
    recorder.close()
    before = sim.time
    sim.advance()
    assert sim.time > before
    with open_result(path) as result:
        assert len(result) == 2
        np.testing.assert_array_equal(result.positions(1), second)


def test_what_cannot_be_finished_keeps_its_frames(sim, tmp_path, monkeypatch):
    from pliant.io.results import gltf

    path = tmp_path / "a.glb"
    recorder = sim.record(path)
    sim.advance()
    recorder._export = lambda result, path: (_ for _ in ()).throw(FULL)
    with pytest.raises(pl.FileError, match=r"No space.*All 2 frames are in .*a\.glb\.frames\.npz: pliant convert"):
        recorder.close()
    assert not path.exists()
    with open_result(tmp_path / "a.glb.frames.npz") as result:
        gltf.export(result, path)
    assert path.read_bytes()[:4] == b"glTF"
    (tmp_path / "a.glb.frames.npz").rename(tmp_path / "a.usdc.frames.npz")
    with pytest.raises(pl.FileError, match=r"a\.usdc\.frames\.npz has the frames"):
        open_result(tmp_path / "a.usdc")


def test_finished_formats_leave_no_journal(sim, tmp_path):
    with sim.record(tmp_path / "a.glb"):
        sim.advance()
    assert [path.name for path in tmp_path.iterdir()] == ["a.glb"]


RUN = """
    import numpy as np
    from pliant.io.results import formats
    from pliant.io.results.result import Frame
    from pliant.io.results.surfaces import Part, layout_of_parts
    from pathlib import Path
    tets = np.array([[0, 1, 2, 3]])
    n = 20_000  # large frames: most of the time is spent in the middle of one
    layout = layout_of_parts([Part(n, np.empty((0, 3)), tets)], ["tet"], 60.0)
    writer = formats.stream(Path({path!r}), layout)
    k = 0
    while True:
        values = np.full((n, 3), float(k))
        writer.write(Frame(k / 60, values, {{"velocity": values}}, {{"von_mises": np.array([float(k)])}}))
        k += 1
        print(k, flush=True)
"""


@pytest.mark.parametrize("ending", ["npz", "pvd", *(pytest.param(e, marks=pytest.mark.slow) for e in ("ply", "obj"))])
def test_killed_in_the_middle_it_is_readable_to_the_last_whole_frame(tmp_path, ending):
    """kill -9 at four random moments: no frame that was written is lost, and none is broken."""
    random = np.random.default_rng(5)
    for attempt in range(4):
        path = tmp_path / f"run{attempt}.{ending}"
        command = [sys.executable, "-c", textwrap.dedent(RUN.format(path=str(path)))]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        time.sleep(random.uniform(0, 0.2))
        process.send_signal(signal.SIGKILL)
        said = process.stdout.read().split()
        process.wait()
        result = open_result(path)
        assert int(said[-1] if said else 1) <= len(result) <= int(said[-1] if said else 1) + 1
        for k in {0, len(result) // 2, len(result) - 1}:
            assert (result.positions(k) == k).all()
            assert result.times[k] == pytest.approx(k / 60)


def test_killed_npz_becomes_whole_by_converting(tmp_path, sim):
    from pliant.io.results.convert import convert

    path = tmp_path / "a.npz"
    with sim.record(path):
        for _ in sim.frames(3):
            pass
    data = path.read_bytes()
    path.write_bytes(data[: int(0.8 * len(data))])
    assert not zipfile.is_zipfile(path)
    assert convert(path, tmp_path / "b.npz") == {"frames": 3}
    reference = np.load(tmp_path / "b.npz")["points_00002"]
    with open_result(path) as result:
        np.testing.assert_array_equal(result.positions(2), reference)


def test_a_checkpoint_is_no_result(sim, tmp_path):
    sim.save(tmp_path / "a.npz")
    with pytest.raises(pl.FileError, match=r"not a result of sim\.record"):
        open_result(tmp_path / "a.npz")
    with pytest.raises(pl.FileError, match="no such file"):
        open_result(tmp_path / "b.npz")
    with sim.record(tmp_path / "c.npz"):
        pass
    with pytest.raises(pl.FileError, match=r"this is a result of sim\.record.*not resumed"):
        pl.Simulation.resume(tmp_path / "c.npz")


def test_a_file_is_recorded_once_at_a_time(sim, tmp_path):
    with sim.record(tmp_path / "a.npz"), pytest.raises(pl.FileError, match=r"a\.npz is being recorded already"):
        sim.record(tmp_path / "sub" / ".." / "a.npz")
    with sim.record(tmp_path / "a.npz"), sim.record(tmp_path / "b.npz"):
        sim.advance()
    assert len(open_result(tmp_path / "a.npz").times) == len(open_result(tmp_path / "b.npz").times) == 2
