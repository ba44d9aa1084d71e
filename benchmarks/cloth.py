"""One VBD iteration on cloth beside Newton 1.7: same mesh, membrane, bending, masses, step and iterations, in one run.

    python -m benchmarks.cloth [cells=128] [rounds=3]

Each is timed in turn, and the best round counts.  Then both are run to convergence on a smaller cloth to show that they
do the same work.
"""

from __future__ import annotations

import sys

import numpy as np

import pliant as pl
from benchmarks.peers import newton_cloth
from benchmarks.peers.result import PeerResult, best_line, time_iterations
from pliant.model import Hinges
from pliant.solvers import Execution

MU, LAM, DENSITY, BENDING, H, GRAVITY = 300.0, 200.0, 0.2, 1e-4, 1 / 300, (0.0, 0.0, -9.81)


def hanging(cells: int, bending_model: str = "dihedral") -> tuple[pl.Scene, np.ndarray]:
    """A square metre of cloth held at two corners, and which vertices are held."""
    mesh = pl.shapes.cloth(size=(1, 1), cells=(cells, cells))
    scene = pl.Scene(gravity=GRAVITY)
    sheet = scene.add_cloth(mesh, pl.StableNeoHookean(MU, LAM), DENSITY, BENDING, bending_model=bending_model)
    pinned = np.zeros(mesh.n_vertices, bool)
    pinned[[0, cells]] = True
    sheet.pin(pinned)
    return scene, pinned


def pliant(cells, iterations, steps=1, repeats=5, threads=None, precision="single", bending_model="dihedral"):
    """Pliant on the common cloth, timed as its peer is."""
    scene, _ = hanging(cells, bending_model)
    solver = pl.VBD(iterations=iterations, start="accelerated")
    sim = pl.Simulation(scene, solver, frame_rate=1 / H, substeps=1, precision=precision, threads=threads)
    problem = sim.problem()
    work = solver.init(problem, Execution(precision, threads or 0))
    x = problem.x_guess.copy()

    def reset():
        x[:] = problem.x_guess

    def step(count):
        solver.begin_step(problem, work)
        solver.sweep(problem, x, work, count)

    for _ in range(steps):
        sim.step()
    timing = time_iterations(reset, step, repeats)
    note = f"{precision} precision, {len(work.packs.colour_start) - 1} colours, {work.packs.width} lanes, {timing}"
    return PeerResult("pliant", work.team.threads, sim.positions, timing.per_iteration, timing.fixed, iterations, note)


def newton(cells, iterations, steps=1, repeats=5):
    """Newton on the same cloth."""
    scene, pinned = hanging(cells)
    mesh, model = scene.bodies[0].mesh, pl.Simulation(scene).model
    hinges = next(block for block in model.blocks if isinstance(block, Hinges))
    physics = {"mu": MU, "lam": LAM, "gravity": GRAVITY, "pinned": pinned, "h": H}
    arrays = (np.array(mesh.points), np.array(mesh.triangles), model.mass, hinges.elements, hinges.stiffness)
    return newton_cloth.run(*arrays, **physics, iterations=iterations, steps=steps, repeats=repeats)


def agreement(cells: int = 8, iterations: int = 1500, steps: int = 20) -> float:
    """Largest distance of Newton's positions to Pliant's in double precision, over the largest displacement."""
    ours = pliant(cells, iterations, steps, repeats=0, precision="double").positions
    theirs = newton(cells, iterations, steps, repeats=0).positions
    return float(np.abs(theirs - ours).max() / np.abs(ours - hanging(cells)[0].bodies[0].initial_positions).max())


def report(cells: int = 128, rounds: int = 3) -> dict:
    """Run both parts and print the table."""
    contenders = {
        "pliant, 1 thread": lambda: pliant(cells, 20, repeats=20, threads=1),
        "pliant, all threads": lambda: pliant(cells, 20, repeats=20),
        "pliant, quadratic bending": lambda: pliant(cells, 20, repeats=20, bending_model="quadratic"),
        "newton": lambda: newton(cells, 20, repeats=3),
    }
    rounds_of: dict[str, list[PeerResult]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            result = contender()
            rounds_of[name].append(result)
            print(f"  {name}: {result.milliseconds_per_iteration:.3f} ms per iteration ({result.note})", flush=True)
    best = {name: best_line(results) for name, results in rounds_of.items()}
    print(f"\ncloth of {cells}^2 cells, {2 * cells**2} triangles, {(cells + 1) ** 2} vertices")
    print("| | ms per iteration | times pliant, all threads |\n|---|---|---|")
    for name, ms in best.items():
        print(f"| {name} | {ms:.3f} | {ms / best['pliant, all threads']:.1f} |")
    distance = agreement()
    print(f"same work? Newton's distance to pliant in double precision / largest displacement: {distance:.1e}")
    return {"agreement": distance, "ms": best}


if __name__ == "__main__":
    report(*map(int, sys.argv[1:]))
