"""How fast the live view is: a sheet of 20,000 triangles that runs in real time, with and without tabs that look.

    python -m benchmarks.viewer

Prints frames simulated a second, frames that tabs get, and pictures that a headless chromium draws. The first tabs are
processes that only receive: the server's part. Chromium draws by the CPU if there is no graphics card, in competition
with the simulation; so it is measured in a large and a small page, and once more with all calls to draw left out: that
is what the page's own code, which a graphics card does not quicken, is able to do. Needs viser, websockets and, for the
last lines, chromium.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np

import pliant as pl
from pliant.lanes.host import core_count
from pliant.viewer.page import Page
from pliant.viewer.session import Session

CELLS, SECONDS, TABS = 100, 5.0, (1, 3)
PAGES = ((1280, 720), (500, 300))  # [pixels]
#: Counts pictures with anything drawn; leaves the drawing out while window.leaveOut is set.
COUNT_PICTURES = """
window.pictures = 0;
let drawn = false;
for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced"]) {
    const draw = WebGL2RenderingContext.prototype[name];
    WebGL2RenderingContext.prototype[name] = function (...args) {
        drawn = true;
        if (!window.leaveOut) draw.apply(this, args);
    };
}
(function count() { window.pictures += drawn; drawn = false; requestAnimationFrame(count) })();
"""
RECEIVE = """
import sys, time, viser
from websockets.sync.client import connect
version = [f"viser-v{viser.__version__}"]
with connect(sys.argv[1], subprotocols=version, max_size=None, compression=None) as socket:
    time.sleep(1.0)
    until, frames = time.monotonic() + float(sys.argv[2]), 0
    while time.monotonic() < until:
        frames += len(socket.recv(timeout=60)) > int(sys.argv[3])
print(frames / float(sys.argv[2]))
"""


def sheet() -> pl.Simulation:
    """20,000 triangles that hang between two edges; few iterations, so that it is the view that is measured."""
    scene = pl.Scene()
    mesh = pl.shapes.cloth((1.0, 1.0), (CELLS, CELLS))
    cloth = scene.add_cloth(mesh, pl.StableNeoHookean(500.0, 500.0))
    cloth.pin(np.abs(mesh.points[:, 0]) > 0.499)
    threads = max(1, core_count() - 1)  # as `pliant view` does
    return pl.Simulation(scene, pl.VBD(iterations=10), frame_rate=60, substeps=1, threads=threads)


def chromium() -> ModuleType:
    """The browser of the tests."""
    path = Path(__file__).parents[1] / "tests" / "viewer" / "chromium.py"
    spec = importlib.util.spec_from_file_location("chromium", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def frames_a_second(session: Session) -> float:
    first, began = session.latest.number, time.perf_counter()
    time.sleep(SECONDS)
    return (session.latest.number - first) / (time.perf_counter() - began)


def with_receivers(session: Session, port: int, count: int) -> tuple[float, list[float]]:
    """Frames simulated a second, and frames that each of so many tabs gets."""
    size = session.latest.positions.astype("float32").nbytes
    command = [sys.executable, "-c", RECEIVE, f"ws://127.0.0.1:{port}", str(SECONDS), str(size)]
    tabs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    time.sleep(3.0)  # until they have begun to receive
    simulated = frames_a_second(session)
    return simulated, [float(tab.communicate()[0]) for tab in tabs]


def with_chromium(session: Session, port: int, size: tuple[int, int], leave_out: bool) -> tuple[float, float]:
    """Frames simulated and pictures drawn a second."""
    with chromium().Chromium(f"http://127.0.0.1:{port}", size, COUNT_PICTURES) as browser:
        browser.wait_for("document.body.innerText.includes('Step')")
        browser.evaluate(f"window.leaveOut = {str(leave_out).lower()}")
        time.sleep(3.0)  # until its shaders are compiled
        first, began = browser.evaluate("window.pictures"), time.perf_counter()
        simulated = frames_a_second(session)
        return simulated, (browser.evaluate("window.pictures") - first) / (time.perf_counter() - began)


def main() -> None:
    session = Session(sheet())
    session.play()
    try:
        session.wait(2, timeout=300.0)  # compiled
        print(f"no tab      {frames_a_second(session):5.1f} frames simulated a second")
        with tempfile.TemporaryDirectory() as folder, Page(session, "sheet", Path(folder), port=8090) as page:
            for count in TABS:
                simulated, received = with_receivers(session, page.port, count)
                print(f"{count} receiving {simulated:5.1f} frames simulated a second, {min(received):.1f} received")
            for size, leave_out in product(PAGES, (False, True)) if chromium().PROGRAM else ():
                simulated, drawn = with_chromium(session, page.port, size, leave_out)
                what = f"pictures{' without drawing' if leave_out else ''}, {size[0]} x {size[1]} pixels"
                print(f"chromium    {simulated:5.1f} frames simulated a second, {drawn:.1f} {what}")
    finally:
        session.close()


if __name__ == "__main__":
    main()
