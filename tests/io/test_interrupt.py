"""Ctrl-C or SIGTERM in the middle of a run: the frame ends, a checkpoint is written, and nothing is lost."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import pliant as pl

FRAMES = 400
SETUP = """
import pliant as pl

def simulation():
    scene = pl.Scene()
    mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.4)).pin(mesh.points[:, 0] < -0.149)
    return pl.Simulation(scene, pl.VBD(iterations=4), substeps=2)
"""
RUN = f"""
import sys, time
sim = simulation()
for frame in sim.frames({FRAMES}, on_interrupt=sys.argv[1]):
    print(frame, flush=True)
    time.sleep(0.02)
"""


def run_on(sim, frames):
    while sim.state.step < frames * sim.substeps:
        sim.advance()
    return sim.positions


@pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 128 + signal.SIGTERM)])
def test_interrupted_run_resumes_to_the_bits_of_a_whole_one(sent, code, tmp_path):
    """A process gets a signal in its frames: it ends, reports how to continue, and continues exactly."""
    path = tmp_path / "stopped.npz"
    process = subprocess.Popen(
        [sys.executable, "-c", SETUP + RUN, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    try:
        for _ in range(3):
            assert process.stdout.readline()
        process.send_signal(sent)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == code
    assert ("KeyboardInterrupt" in errors) == (sent == signal.SIGINT)
    assert f"Simulation.resume({str(path)!r})" in errors
    resumed = pl.Simulation.resume(path)
    done = resumed.state.step // resumed.substeps
    assert resumed.state.step % resumed.substeps == 0
    assert 3 <= done < FRAMES
    space = {}
    exec(SETUP, space)
    np.testing.assert_array_equal(run_on(resumed, done + 5), run_on(space["simulation"](), done + 5))


@pytest.fixture
def sim():
    space = {}
    exec(SETUP, space)
    return space["simulation"]()


@pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")
def test_ctrl_c_inside_the_loop_body_is_kept_for_its_end(sim, tmp_path):
    """The body runs on to its end; the checkpoint holds the frame it saw."""
    handler, seen = signal.getsignal(signal.SIGINT), []

    def run():
        for _ in sim.frames(5, on_interrupt=tmp_path / "stopped.npz"):
            signal.raise_signal(signal.SIGINT)
            seen.append(sim.time)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert len(seen) == 1
    assert pl.Simulation.resume(tmp_path / "stopped.npz").time == seen[0]
    assert signal.getsignal(signal.SIGINT) is handler


def test_the_handler_is_given_back_when_the_loop_ends_or_is_left(sim):
    handler = signal.getsignal(signal.SIGINT)
    for _ in sim.frames(1):
        pass
    assert signal.getsignal(signal.SIGINT) is handler
    frames = sim.frames(3)
    next(frames)
    frames.close()
    assert signal.getsignal(signal.SIGINT) is handler


def test_frames_run_in_another_thread(sim):
    """Signals are the main thread's; the loop works without."""
    done = []
    thread = threading.Thread(target=lambda: done.extend(sim.frames(2)))
    thread.start()
    thread.join()
    assert done == [0, 1]
