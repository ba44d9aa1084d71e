"""One XPBD iteration beside Newton 1.7 and pbatoolkit, and one of GPBD beside vertex block descent, in one run.

    python -m benchmarks.xpbd [cells=25] [rounds=3]

Same mesh, masses and step. Newton's constraints are other ones than Macklin and Mueller's (peers/newton_xpbd.py), so
its positions cannot be compared; pbatoolkit's are, on a smaller cube. Each contender is timed in turn, `rounds` times
over, and the fastest steps count.
"""

from __future__ import annotations

import sys

import numpy as np

import pliant as pl
from benchmarks import pliant_projection
from benchmarks.peers import newton_xpbd, pbat_xpbd
from benchmarks.peers.result import PeerResult, best_line
from benchmarks.side_by_side import common_scene

OURS = {
    "XPBD Gauss-Seidel": pl.XPBD(),
    "XPBD Jacobi": pl.XPBD(mode="jacobi"),
    "GPBD Gauss-Seidel": pl.GPBD(line_search=False),
    "GPBD Jacobi": pl.GPBD(mode="jacobi", line_search=False),
    "VBD": pl.VBD(start="accelerated"),
}


def agreement(cells: int = 6, iterations: int = 100) -> float:
    """Largest distance of pbatoolkit's positions to ours after one step, over the largest displacement.

    Both visit the elements in the order of the same colours: rounding is all that should differ.
    """
    scene = common_scene(cells)
    ours = pliant_projection.run(**scene, iterations=iterations, solver=pl.XPBD(), repeats=0, precision="double")
    other = pbat_xpbd.run(**scene, iterations=iterations, repeats=0)
    moved = np.abs(ours.positions - scene["points"]).max()
    return float(np.abs(other.positions - ours.positions).max() / moved)


def timings(cells: int, rounds: int) -> dict[str, dict]:
    """Best milliseconds per iteration of each, over the rounds."""
    scene = common_scene(cells)

    def ours(solver, threads):
        return lambda: pliant_projection.run(**scene, iterations=20, repeats=10, solver=solver, threads=threads)

    contenders = {f"pliant {name}, 1 thread": ours(solver, 1) for name, solver in OURS.items()}
    contenders |= {f"pliant {name}, all threads": ours(solver, None) for name, solver in OURS.items()}
    contenders["newton XPBD"] = lambda: newton_xpbd.run(**scene, iterations=20, repeats=2)
    contenders["pbatoolkit XPBD"] = lambda: pbat_xpbd.run(**scene, iterations=20, repeats=1)
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
    return best


def report(cells: int = 25, rounds: int = 3) -> dict:
    """Run both parts and print the table."""
    print(f"cube of {cells}^3 cells, {6 * cells**3} tets:")
    best = timings(cells, rounds)  # before anything else: threads that a peer leaves behind would disturb ours
    distance = agreement()
    print(f"pbatoolkit's step differs from ours by {distance:.1e} of the largest displacement")
    print(f"\n| {'':36} | threads | ms per iteration | ns per tet |\n|---|---|---|---|")
    for name, entry in best.items():
        print(f"| {name:36} | {entry['threads']} | {entry['ms']:.3f} | {entry['ms'] * 1e6 / (6 * cells**3):.1f} |")
    ratios = {
        f"newton / pliant XPBD {mode}, {threads}": best["newton XPBD"]["ms"]
        / best[f"pliant XPBD {mode}, {threads}"]["ms"]
        for mode in ("Gauss-Seidel", "Jacobi")
        for threads in ("1 thread", "all threads")
    }
    for threads in ("1 thread", "all threads"):
        gpbd, vbd = best[f"pliant GPBD Jacobi, {threads}"]["ms"], best[f"pliant VBD, {threads}"]["ms"]
        ratios[f"GPBD Jacobi / VBD, {threads}"] = gpbd / vbd
    for name, ratio in ratios.items():
        print(f"{name}: {ratio:.1f}")
    return {"pbatoolkit_distance": distance, "timings": best, "ratios": ratios}


if __name__ == "__main__":
    report(*map(int, sys.argv[1:]))
