"""Every gallery scene as it comes, beside the same scene converged.   python -m experiments.gallery.converged [NAME...]

The converged run has double precision, 50 times smaller an error and 20 times as many iterations. For each scene the
largest distance of vertices between both, as a root mean square over the scene, in percent of the largest distance
that the scene has gone; and what the run itself said of its convergence. Steps are those of the scene: what a step of
finite length misses is not in question here. Where they differ by more than 2 %, a third run shows what the scene makes
of next to nothing: converged like the second, from positions that differ by a millionth of the scene's size.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.default_solver import default_solver
from pliant.model import CARRIED
from pliant.scenes.gallery import entries
from pliant.scenes.plans import Plan, open_plan
from pliant.solvers import Solver

SECONDS = 1.0  # of each scene, at most
FINER = 0.02  # of the usual tolerance
MORE = 20  # times the usual iterations
CLOSE = 2.0  # percent
NUDGE = 1e-6  # of the size of a scene
RESULTS = Path(__file__).parent / "results" / "converged.json"


class Heard(logging.Handler):
    """Entries of the warnings of a run."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.entries.append(getattr(record, "entry", ""))


def converged_solver(scene: pl.Scene) -> Solver:
    """The default solver of a scene, with smaller errors and more iterations."""
    usual = default_solver(scene)
    finer = usual if usual.tolerance is None else replace(usual, tolerance=FINER * usual.tolerance)
    return finer.with_iterations(MORE * usual.iterations)


def run(sim: pl.Simulation, frames: int) -> tuple[np.ndarray, dict]:
    """Positions (frames, n, 3) [m], and what was said and done."""
    heard, logger = Heard(), logging.getLogger("pliant")
    logger.addHandler(heard)
    positions, converged, steps, iterations = [], 0, 0, 0
    began = time.process_time()
    for _ in range(frames):
        for _ in range(sim.substeps):
            report = sim.step()
            converged, steps, iterations = converged + bool(report.converged), steps + 1, iterations + report.iterations
        positions.append(sim.positions)
    logger.removeHandler(heard)
    said = {
        "cpu_seconds": time.process_time() - began,
        "steps": steps,
        "converged": converged,
        "iterations": iterations / steps,
        "warned": "not-converged" in heard.entries,
    }
    n = min(len(x) for x in positions)  # what has torn is left out: it has no counterpart
    own = sim.model.mass[:n] > 0  # other points slide over round bodies to where these touch
    return np.array([x[:n][own] for x in positions]), said


def compare(plan: Plan) -> dict:
    """Numbers of one scene."""
    usual = plan.simulation()
    frames, start = min(plan.frames, round(SECONDS * usual.frame_rate)), usual.positions
    seen, said = run(usual, frames)
    truth, truth_said = run(reference_of(plan, usual), frames)
    gone = distances(truth, start[None, usual.model.mass[: len(start)] > 0]).max()
    result = {"percent": 100 * distances(seen, truth).max() / gone, "gone": gone, **said, "reference": truth_said}
    if result["percent"] > CLOSE:
        nudged = run(reference_of(plan, usual, NUDGE), frames)[0]
        result["nudged_percent"] = 100 * distances(nudged, truth).max() / gone
    return result


def reference_of(plan: Plan, usual: pl.Simulation, nudge: float = 0.0) -> pl.Simulation:
    """The converged simulation of a scene, from positions moved at random by up to a part of its size."""
    scene = plan.scene()
    given = {"frame_rate": usual.frame_rate, "substeps": usual.substeps, "integrator": usual.integrator}
    sim = pl.Simulation(scene, converged_solver(scene), precision="double", **given)
    if nudge:
        x, free = sim.state.x, sim.model.is_free & (sim.model.subspace != CARRIED)
        size = np.linalg.norm(np.ptp(x, axis=0))
        x[free] += nudge * size * np.random.default_rng(0).uniform(-1, 1, x[free].shape)
    return sim


def distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(frames,) root mean squares over vertices [m]; over those of both, where one has torn more."""
    n = min(a.shape[1], b.shape[1])
    return np.sqrt(np.mean(np.sum((a[:, :n] - b[:, :n]) ** 2, axis=2), axis=1))


def main(names: list[str]) -> None:
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in names:
        found[name] = compare(open_plan(name))
        one = found[name]
        print(f"{name:16s} {one['percent']:8.3f} %  {one['converged']}/{one['steps']} converged", flush=True)
        print(f"{'':16s} warned: {one['warned']}, nudged {one.get('nudged_percent')}, {one['reference']}", flush=True)
        RESULTS.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:] or [entry.name for entry in entries()])
