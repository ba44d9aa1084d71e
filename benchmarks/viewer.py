"""How fast the live view is: a sheet of 20,000 triangles that runs in real time, with and without tabs that look.

    python -m benchmarks.viewer

Prints frames simulated a second, frames that tabs get, and new pictures that a headless chromium draws. The first tabs
are processes that only receive: the server's part. Chromium draws by the CPU, in competition with the simulation: with
its own SwiftShader, and with Mesa's llvmpipe without multisampling. With all calls to draw left out, the time that the
tab's process computes is the page's own work, which a graphics card does not quicken. Needs viser, websockets and, for
the last lines, chromium.
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
from typing import Any

import numpy as np

import pliant as pl
from pliant.lanes.host import core_count
from pliant.viewer.page import Page
from pliant.viewer.session import Session

CELLS, SECONDS, TABS = 100, 5.0, (1, 3)
SIZES = ((1280, 720), (500, 300))  # of pages [pixels]
#: Counts pictures for which positions were uploaded, not those drawn again; leaves drawing out if leaveOut is set.
COUNT_PICTURES = """
window.pictures = 0;
let isNew = false;
const gl = WebGL2RenderingContext.prototype, upload = gl.bufferSubData;
gl.bufferSubData = function (target, ...args) {
    isNew ||= target == gl.ARRAY_BUFFER;
    upload.call(this, target, ...args);
};
for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced"]) {
    const draw = gl[name];
    gl[name] = function (...args) {
        window.pictures += isNew;
        isNew = false;
        if (!window.leaveOut) draw.apply(this, args);
    };
}
"""
RECEIVE = """
import sys, time, viser
from websockets.sync.client import connect
version = [f"viser-v{viser.__version__}"]
with connect(sys.argv[1], subprotocols=version, max_size=None, compression=None) as socket:
    begin, frames = time.monotonic() + 1.0, 0
    while time.monotonic() < begin + float(sys.argv[2]):
        is_frame = len(socket.recv(timeout=60)) > int(sys.argv[3])
        frames += is_frame and time.monotonic() >= begin
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


def with_receivers(session: Session, url: str, count: int) -> tuple[float, list[float]]:
    """Frames simulated a second, and frames that each of so many tabs gets."""
    size = session.latest.positions.astype("float32").nbytes
    command = [sys.executable, "-c", RECEIVE, url.replace("http", "ws").rstrip("/"), str(SECONDS), str(size)]
    tabs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    time.sleep(3.0)  # until they have begun to receive
    simulated = frames_a_second(session)
    return simulated, [float(tab.communicate()[0]) for tab in tabs]


def with_chromium(
    session: Session, url: str, size: tuple[int, int], graphics: tuple[str, ...], leave_out: bool = False
) -> tuple[float, float, float]:
    """Frames simulated and new pictures drawn a second, and milliseconds that the tab computes for each."""
    with chromium().Chromium(url, size, COUNT_PICTURES, graphics) as browser:
        browser.wait_for("document.body.innerText.includes('Step')")
        browser.evaluate(f"window.leaveOut = {str(leave_out).lower()}")
        browser.call("Performance.enable")
        time.sleep(4.0)  # until its shaders are compiled and it has settled on a resolution
        first, computed, began = browser.evaluate("window.pictures"), seconds_computed(browser), time.perf_counter()
        simulated = frames_a_second(session)
        pictures, seconds = browser.evaluate("window.pictures") - first, time.perf_counter() - began
        milliseconds = 1e3 * (seconds_computed(browser) - computed) / max(pictures, 1)
        return simulated, pictures / seconds, milliseconds


def seconds_computed(browser: Any) -> float:
    """CPU time of all threads of the tab's process [s]."""
    metrics = browser.call("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "ProcessTime"))


def in_chromium(session: Session, url: str) -> None:
    """Print what a browser draws, and how much it computes apart from drawing."""
    drawers = {"SwiftShader": chromium().SWIFTSHADER, "llvmpipe": chromium().LLVMPIPE}
    for (name, graphics), size in product(drawers.items(), SIZES):
        simulated, drawn, _ = with_chromium(session, url, size, graphics)
        where = f"{size[0]} x {size[1]} pixels, {name}"
        print(f"chromium    {simulated:5.1f} frames simulated a second, {drawn:.1f} drawn, {where}", flush=True)
    simulated, prepared, milliseconds = with_chromium(session, url, SIZES[0], drawers["llvmpipe"], leave_out=True)
    own = f"{prepared:.1f} prepared, page's own work {milliseconds:.1f} ms per frame"
    print(f"no drawing  {simulated:5.1f} frames simulated a second, {own}")


def main() -> None:
    session = Session(sheet())
    session.play()
    try:
        session.wait(2, timeout=300.0)  # compiled
        print(f"no tab      {frames_a_second(session):5.1f} frames simulated a second", flush=True)
        with tempfile.TemporaryDirectory() as folder, Page(session, "sheet", Path(folder), port=8090) as page:
            for count in TABS:
                simulated, received = with_receivers(session, page.url, count)
                print(
                    f"{count} receiving {simulated:5.1f} frames simulated a second, {min(received):.1f} received",
                    flush=True,
                )
            if chromium().PROGRAM:
                in_chromium(session, page.url)
    finally:
        session.close()


if __name__ == "__main__":
    main()
