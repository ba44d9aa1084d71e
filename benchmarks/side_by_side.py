"""One VBD iteration beside Newton 1.7 and pbatoolkit: same mesh, law, masses, step and iterations, in one run.

    python -m benchmarks.side_by_side [cells=25] [rounds=3]

First all are run to convergence on a smaller cube, thrown into a twist, to show that they do the same work. Then each
is timed in turn, `rounds` times over, and the fastest steps count: the machine is noisy, and a round is noisy for all.
"""

from __future__ import annotations

import sys

import numpy as np

import pliant as pl
from benchmarks import pliant_vbd
from benchmarks.peers import newton_vbd, pbat_vbd
from benchmarks.peers.result import PeerResult, best_line

YOUNG, POISSON, DENSITY, H, GRAVITY = 1e5, 0.45, 1000.0, 0.01, (0.0, 0.0, -9.81)
MU, LAM = pl.StableNeoHookean.from_young(YOUNG, POISSON).parameters


def common_scene(cells: int) -> dict:
    """Unit cube of cells^3 * 6 tets, hanging from its top face, thrown into a twist."""
    mesh = pl.shapes.box(size=(1, 1, 1), cells=(cells,) * 3, split="kuhn")
    points, tets = np.array(mesh.points), np.array(mesh.tets)
    depth = 0.5 - points[:, 2]
    twist = np.stack([-points[:, 1], points[:, 0], np.zeros(len(points))], 1) * (20 * depth)[:, None]
    physics = {"mu": MU, "lam": LAM, "density": DENSITY, "gravity": GRAVITY, "h": H}
    return {"points": points, "tets": tets, "pinned": depth < 1e-9, "velocities": twist, **physics}


def agreement(cells: int = 6, iterations: int = 2000) -> dict[str, float]:
    """Largest distance of the converged positions to Pliant's in double precision, over the largest displacement."""
    scene = common_scene(cells)
    ours = pliant_vbd.run(**scene, iterations=iterations, repeats=0, precision="double").positions
    moved = np.abs(ours - scene["points"]).max()
    others = {
        "pliant, single precision": pliant_vbd.run(**scene, iterations=iterations, repeats=0),
        "newton": newton_vbd.run(**scene, iterations=iterations, repeats=0),
        "pbatoolkit": pbat_vbd.run(**scene, iterations=iterations, repeats=0),
    }
    return {name: float(np.abs(result.positions - ours).max() / moved) for name, result in others.items()}


def timings(cells: int, rounds: int) -> dict[str, dict]:
    """Best milliseconds per iteration of each, over the rounds."""
    scene = common_scene(cells)
    contenders = {
        "pliant, 1 thread": lambda: pliant_vbd.run(**scene, iterations=20, repeats=30, threads=1),
        "pliant, all threads": lambda: pliant_vbd.run(**scene, iterations=20, repeats=30),
        "pliant double, all threads": lambda: pliant_vbd.run(**scene, iterations=20, repeats=15, precision="double"),
        "newton": lambda: newton_vbd.run(**scene, iterations=20, repeats=3),
        "pbatoolkit": lambda: pbat_vbd.run(**scene, iterations=20, repeats=3),
    }
    rounds_of: dict[str, list[PeerResult]] = {name: [] for name in contenders}
    for round_number in range(rounds):
        for name, contender in contenders.items():
            result = contender()
            ms = result.milliseconds_per_iteration
            print(f"  round {round_number + 1}: {name}: {ms:.3f} ms per iteration ({result.note})", flush=True)
            rounds_of[name].append(result)
    best = {
        name: {"ms": best_line(results), **{key: getattr(results[-1], key) for key in ("threads", "note", "name")}}
        for name, results in rounds_of.items()
    }
    for entry in best.values():
        entry["ns_a_tet"] = entry["ms"] * 1e6 / len(scene["tets"])
    return best


def report(cells: int = 25, rounds: int = 3) -> dict:
    """Run both parts and print the table."""
    print("same work? largest distance to pliant in double precision / largest displacement, converged:")
    distances = agreement()
    for name, distance in distances.items():
        print(f"  {name}: {distance:.1e}")
    scene_tets = 6 * cells**3
    print(f"cube of {cells}^3 cells, {scene_tets} tets:")
    best = timings(cells, rounds)
    print(f"\n| {'':27} | threads | ms per iteration | ns per tet | times pliant, all threads |")
    print("|---|---|---|---|---|")
    ours = best["pliant, all threads"]["ms"]
    for name, entry in best.items():
        ms, ns = entry["ms"], entry["ns_a_tet"]
        print(f"| {name:27} | {entry['threads']} | {ms:.3f} | {ns:.2f} | {ms / ours:.1f} |")
    one_thread = best["newton"]["ms"] / best["pliant, 1 thread"]["ms"]
    print(f"\nnewton / pliant on one thread: {one_thread:.1f}")
    return {"agreement": distances, "timings": best, "newton_over_pliant_one_thread": one_thread}


if __name__ == "__main__":
    report(*map(int, sys.argv[1:]))
