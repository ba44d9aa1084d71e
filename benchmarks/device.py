"""Vertex block descent on an OpenCL device: time of an iteration in every schedule, and what a card would need.

    python -m benchmarks.device [CELLS]

Times are those of the device there is, on PoCL of a CPU. What follows of a card is an estimate from bytes and flops
that nobody has measured.
"""

from __future__ import annotations

import re
import sys
import time

import pliant as pl
from pliant.device.opencl import SCHEDULES, describe_devices
from pliant.solvers import Execution
from pliant.solvers.machinery.device_work import device_scene

TRIES, ITERATIONS = 5, 10
CARD = {"name": "RTX 4090", "bytes": 1008e9, "flops": 82.6e12}  # per second, single precision, of its data sheet
PAPER_TETS, PAPER_MILLISECONDS = 700_000, 0.125  # per iteration, on that card (Chen et al. 2024)


def hanging_cube(cells: int) -> pl.IncrementalPotential:
    """A step of a cube of 6 cells^3 tets of stable neo-Hookean, held at the top."""
    mesh = pl.shapes.box((1, 1, 1), (cells, cells, cells), "kuhn")
    scene = pl.Scene()
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.4))
    body.pin(mesh.points[:, 2] > mesh.points[:, 2].max() - 1e-9)
    return pl.Simulation(scene, pl.VBD(), frame_rate=100, substeps=1, device="opencl").problem()


def milliseconds(problem: pl.IncrementalPotential, schedule: str) -> float:
    """The least time of an iteration."""
    solver = pl.VBD()
    work = solver.init(problem, Execution("single", 0, pl.OpenCL(schedule=schedule)))
    solver.begin_step(problem, work)
    x, times = problem.x_guess.copy(), []
    solver.sweep(problem, x, work, 1)
    for _ in range(TRIES):
        began = time.perf_counter()
        solver.sweep(problem, x, work, ITERATIONS)
        times.append(time.perf_counter() - began)
    return 1e3 * min(times) / ITERATIONS


def needs_of_a_tet(problem: pl.IncrementalPotential) -> tuple[float, float]:
    """Bytes that stream from memory and flops, per tet and iteration, counted from the tables and the C text.

    Positions of neighbours are counted once per vertex: the rest comes from caches.
    """
    scene = device_scene(problem, "single")
    one, tets = scene.variant.lists[0], problem.model.n_tets
    listed = 4 * (one.others.shape[1] + one.constants.shape[1]) * len(one.owner)
    of_vertices = (16 + 16 + 16 + 4 + 4 + 4 + 4 * one.parameters.shape[1]) * problem.model.n_vertices
    code = "\n".join(line for line in one.function.splitlines() if not line.strip().startswith("//"))
    flops = 9 + len(re.findall(r" [-+*/] | \+= ", code))  # and three positions relative to the vertex
    return (listed + of_vertices) / tets, flops * len(one.owner) / tets


def main() -> None:
    problem = hanging_cube(int(sys.argv[1]) if len(sys.argv) > 1 else 25)
    device, tets = describe_devices()[0], problem.model.n_tets
    print(f"{device['name']} ({device['platform']}), {tets:,} tets of stable neo-Hookean, single precision\n")
    print("| schedule | ms per iteration | ns per tet |\n|---|---|---|")
    for schedule in SCHEDULES:
        own = milliseconds(problem, schedule)
        print(f"| {schedule} | {own:.3g} | {1e6 * own / tets:.3g} |")
    size, flops = needs_of_a_tet(problem)
    moving, computing = (PAPER_TETS * size / CARD["bytes"], PAPER_TETS * flops / CARD["flops"])
    print(f"\n{size:.0f} bytes streamed and {flops:.0f} flops per tet and iteration.")
    print(
        f"Estimate, not measured: {PAPER_TETS:,} tets on an {CARD['name']} need {1e3 * moving:.3f} ms to stream and "
        f"{1e3 * computing:.4f} ms to compute, without launches. The paper's own measurement: {PAPER_MILLISECONDS} ms."
    )


if __name__ == "__main__":
    main()
