"""Pliant by itself: how time and memory depend on mesh, law and size, what a step and a start cost.

    python -m benchmarks.own

Every figure is the best of several; ratios are taken within one run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.materials import SOLID_LAWS
from pliant.solvers import Execution

FIRST_FRAME = "import pliant as pl; from pliant import scenes; pl.Simulation(scenes.twisted_beam()).advance()"
ROUNDS = 3
DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "meshes"


def hanging(mesh: pl.TetMesh, law=pl.StableNeoHookean) -> pl.Scene:
    """A body hanging from its highest vertices."""
    scene = pl.Scene()
    body = scene.add_solid(mesh, law.from_young(1e5, 0.0 if law is pl.ARAP else 0.45))
    top = mesh.points[:, 2].max()
    body.pin(mesh.points[:, 2] > top - 0.01 * np.ptp(mesh.points[:, 2]))
    return scene


def iteration(mesh: pl.TetMesh, law=pl.StableNeoHookean, threads: int | None = None, precision: str = "single"):
    """Best milliseconds per iteration, seconds to build the tables, bytes of them."""
    sim = pl.Simulation(hanging(mesh, law), frame_rate=100, substeps=1, precision=precision, threads=threads)
    problem, solver = sim.problem(), pl.VBD()
    build = np.inf
    for _ in range(3):
        began = time.perf_counter()
        work = solver.init(problem, Execution(precision, threads or 0))
        build = min(build, time.perf_counter() - began)
    n = max(20, int(2e6 // mesh.n_tets))
    solver.begin_step(problem, work)
    x, best = problem.x_guess.copy(), np.inf
    for _ in range(15):
        began = time.perf_counter()
        solver.sweep(problem, x, work, n)
        best = min(best, (time.perf_counter() - began) / n)
    return best * 1e3, build, work.nbytes


def step_time(mesh: pl.TetMesh, iterations: int) -> float:
    """Best milliseconds of sim.step() with everything."""
    sim = pl.Simulation(hanging(mesh), pl.VBD(iterations=iterations))
    best = np.inf
    for _ in range(300):
        began = time.perf_counter()
        sim.step()
        best = min(best, time.perf_counter() - began)
    return best * 1e3


def starts() -> dict[str, float]:
    """Seconds of `import pliant`, and of the demo until its first frame with an empty and with a full cache."""
    figures = {}
    best = min(_seconds([sys.executable, "-c", "import pliant"]) for _ in range(5))
    bare = min(_seconds([sys.executable, "-c", "pass"]) for _ in range(5))
    figures["import pliant"] = best - bare
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", FIRST_FRAME]
        caches = [{"PLIANT_CACHE_DIR": f"{folder}/{k}/pliant", "NUMBA_CACHE_DIR": f"{folder}/{k}/numba"} for k in "ab"]
        figures["demo to first frame, empty cache"] = min(_seconds(command, cache) for cache in caches)
        figures["demo to first frame, warm cache"] = min(_seconds(command, caches[0]) for _ in range(3))
    return figures


def _seconds(command: list[str], environment: dict[str, str] | None = None) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **(environment or {})})
    return time.perf_counter() - began


def report() -> dict:
    cube = pl.shapes.box(cells=(25, 25, 25), split="kuhn")
    meshes = {"cube 25^3": cube, "cube 50^3": pl.shapes.box(cells=(50, 50, 50), split="kuhn")}
    for name in ("armadillo-15k", "star-sphere-889"):
        if (DATA / f"{name}.vtu").exists():
            meshes[name] = pl.load_mesh(DATA / f"{name}.vtu")
    cases = [(name, mesh, pl.StableNeoHookean) for name, mesh in meshes.items()]
    cases += [(f"cube 25^3, {name}", cube, law) for name, law in SOLID_LAWS.items() if law is not pl.StableNeoHookean]
    rows: dict = {}
    for _ in range(ROUNDS):  # the machine is noisy: every case in every round, the best counts
        for threads in (1, None):
            for name, mesh, law in cases:
                ms, build, size = iteration(mesh, law, threads)
                row = (ms, ms * 1e6 / mesh.n_tets, build * 1e6 / mesh.n_tets, size / mesh.n_tets)
                rows[name, threads] = min(row, rows.get((name, threads), row))
    print("| | threads | ms per iteration | ns per tet | against cube 25^3 | build, us a tet | bytes per tet |")
    print("|---|---|---|---|---|---|---|")
    figures: dict = {"rows": []}
    for (name, threads), (ms, ns, build, size) in rows.items():
        ratio = ns / rows["cube 25^3", threads][1]
        label = threads or "all"
        print(f"| {name} | {label} | {ms:.3f} | {ns:.2f} | {ratio:.2f} | {build:.2f} | {size:.0f} |", flush=True)
        row = {"name": name, "threads": label, "ms": ms, "ns": ns, "ratio": ratio, "build_us": build, "bytes": size}
        figures["rows"].append(row)
    beam = DATA / "beam-463.vtu"
    if beam.exists():
        figures["beam-463 step of 20 iterations, ms"] = step_time(pl.load_mesh(beam), 20)
        print(f"beam-463, sim.step() of 20 iterations: {figures['beam-463 step of 20 iterations, ms']:.3f} ms")
    for name, seconds in starts().items():
        figures[name] = seconds
        print(f"{name}: {seconds:.2f} s")
    return figures


if __name__ == "__main__":
    report()
