"""VBD, Figure 19: a body with tentacles dropped on the ground, by VBD and by XPBD in steps of several lengths.

The paper's squishy ball has 230,000 vertices; the octopus of experiments.contact.ball stands in for it.

python -m experiments.solvers.squishy
"""

from __future__ import annotations

import sys
import time

import numpy as np
from experiments.contact import scenes
from experiments.contact.ball import dropped
from experiments.solvers import curves
from experiments.solvers.problems import step_number
from experiments.vbd import data, outputs

import pliant as pl
from pliant.geometry.quality import tet_volumes

MU, DENSITY = 2e6, 1000.0  # of experiments.contact.ball [Pa], [kg/m^3]
SHOWN = (0.15, 0.3, 0.45)  # [s]
DID_ALL = "did all frames"
FAST = 50.0  # [m/s] a run ends where a vertex is faster: it has broken down
REFERENCE = (pl.VBD(100), 3000)
RUNS = {  # solver and steps a second; 200 to 250 iterations in 1/60 s, about as in the paper
    "VBD, 120 iterations, 1/120 s": (pl.VBD(120), 120),
    "VBD, 40 iterations, 1/300 s": (pl.VBD(40), 300),
    "VBD, 20 iterations, 1/600 s": (pl.VBD(20), 600),
    "VBD, 5 iterations, 1/3000 s": (pl.VBD(5), 3000),
    "XPBD, 120 iterations, 1/120 s": (pl.XPBD(120), 120),
    "XPBD, 10 iterations, 1/1500 s": (pl.XPBD(10), 1500),
    "XPBD, 5 iterations, 1/3000 s": (pl.XPBD(5), 3000),
    "XPBD, 1 iteration, 1/6000 s": (pl.XPBD(1), 6000),
}


def drop(mesh: pl.TetMesh, solver, rate: int) -> dict:
    """Positions at SHOWN as far as it came, how the run ended, inverted tets, and time a frame of 1/60 s."""
    sim = dropped(mesh, solver, rate)
    sim.step()  # compiles
    sim = dropped(mesh, solver, rate)
    shown, moments, inverted, ended = [], [round(t * rate) for t in SHOWN], 0, DID_ALL
    seconds = 0.0
    for step in range(1, moments[-1] + 1):
        began = time.perf_counter()
        try:
            sim.step()
        except pl.SimulationError as error:
            ended = str(error)
            break
        seconds += time.perf_counter() - began
        if np.abs(sim.velocities).max() > FAST:
            ended = f"broke down at {sim.time:.2f} s"
            break
        if step in moments:
            shown.append(sim.positions)
            inverted = max(inverted, int((tet_volumes(sim.positions, mesh.tets) <= 0).sum()))
    return {
        "ended": ended,
        "most_inverted_tets": inverted,
        "ms_a_frame": 1e3 * seconds / (60 * max(sim.time, 1 / rate)),
        "x": shown,
        "sim": sim,
    }


def numbers_of(mesh: pl.TetMesh, runs: dict, reference: dict) -> dict:
    size = float(np.linalg.norm(np.ptp(mesh.points, axis=0)))
    return {
        name: {
            "ended": run["ended"],
            "h2_mu_over_density_dx2": step_number(mesh, MU, DENSITY, RUNS[name][1]),
            "most_inverted_tets": run["most_inverted_tets"],
            "ms_a_frame": run["ms_a_frame"],
            "rms_distance_to_reference_percent_of_size": [
                100 * float(np.sqrt(np.mean(np.sum((a - b) ** 2, axis=1)))) / size
                for a, b in zip(run["x"], reference["x"], strict=run["ended"] == DID_ALL)
            ],
        }
        for name, run in runs.items()
    }


def run(coarse: bool = False) -> None:
    mesh = data.load("octopus-3.9k")
    chosen = dict(list(RUNS.items())[:2]) if coarse else RUNS
    runs = {}
    for name, (solver, rate) in chosen.items():
        runs[name] = drop(mesh, solver, rate)
        print(name, {k: v for k, v in runs[name].items() if k not in ("x", "sim")}, flush=True)
    reference = drop(mesh, *REFERENCE)
    rows = {**{name: r["x"] for name, r in runs.items()}, "VBD, 100 iterations, 1/3000 s": reference["x"]}
    rows = {name: x for name, x in rows.items() if len(x) == len(SHOWN)}
    picture = scenes.rows_of_pictures(
        rows, [f"{t:.2g} s" for t in SHOWN], scenes.surface_of(reference["sim"]), (-60, 12)
    )
    outputs.save("squishy", picture, numbers_of(mesh, runs, reference), curves.FOLDER)


if __name__ == "__main__":
    run("--coarse" in sys.argv)
