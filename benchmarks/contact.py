"""A step with contact beside Newton 1.7's: a pile of soft cubes, and a cloth on a sphere that touches itself.

    python -m benchmarks.contact [rounds=3]

Both simulators start each timed step from the same positions and velocities, which Pliant has reached by then; step,
iterations, elasticity and masses are the same, the contact models are their own (peers/newton_contact.py).  Then
Pliant alone: the share of detection, how a step grows with the number of cubes, and the memory of a million tets; and
the same two scenes without and with Contact(guarantee=True), which alone are

    python -m benchmarks.contact guarantee [rounds=3]

Steps of 50 sheets of cloth that fall on a sphere and each other, with the guarantee, are

    python -m benchmarks.contact layers [sheets=50] [steps=40] [iterations=20] [threads=2]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import pliant as pl
from benchmarks import contact_scenes as scenes
from benchmarks.peers.result import PeerResult, time_iterations
from pliant.geometry.folds import hinges
from pliant.geometry.surface import boundary_triangles
from pliant.model import Hinges

ITERATIONS = 20
PILE_STEPS, CLOTH_STEPS = 20, 200  # after which all layers have landed on each other, and the cloth is folded
SIDES = (2, 4, 6, 10)  # of piles whose steps are compared: 8 to 1,000 cubes
GROWN_STEPS = 12  # of which the best counts: as many of each, on a machine that is not always as fast
SMALL_CELLS = (6, 6, 5)  # of their cubes: 1,000 of them have 1,080,000 tets
NOTHING = np.zeros((0, 4), np.int64)


class TimedSteps:
    """Steps from one state again and again, and the time that their detection takes."""

    def __init__(self, scene: pl.Scene, steps: int, threads: int | None = None):
        solver = pl.VBD(iterations=ITERATIONS)
        self.sim = pl.Simulation(scene, solver, frame_rate=1 / scenes.H, substeps=1, threads=threads)
        for _ in range(steps):
            self.sim.step()
        self.start = self._copy(self.sim.state)
        self.remembered = self.sim._detector.state_dict()  # of contact: a run that goes on has it
        self.detection = 0.0  # seconds of the last step
        detect = self.sim._detect

        def timed(*arguments):
            began = time.perf_counter()
            contacts = detect(*arguments)
            self.detection = time.perf_counter() - began
            return contacts

        self.sim._detect = timed

    @staticmethod
    def _copy(state):
        return replace(state, x=state.x.copy(), v=state.v.copy(), v_previous=state.v_previous.copy())

    def reset(self) -> None:
        self.sim.state = self._copy(self.start)
        self.sim._detector.load_state_dict(dict(self.remembered), self.start.x)
        if self.sim._safe is not None:  # in a run that goes on the step before has proved it
            self.sim._safe.require_apart(
                self.start.x, [shape.row(self.sim.time) for shape in self.sim._placements.shapes]
            )

    def step(self, iterations: int) -> None:
        self.sim.solver = replace(self.sim.solver, iterations=iterations)
        self.sim.step()

    def best(self, repeats: int) -> dict[str, float]:
        """Milliseconds of a step and of its detection, each the best of several, and the detection's share."""
        totals, detections = [], []
        for _ in range(repeats):
            self.reset()
            began = time.perf_counter()
            self.step(ITERATIONS)
            totals.append(1e3 * (time.perf_counter() - began))
            detections.append(1e3 * self.detection)
        share = float(np.median(np.array(detections) / np.array(totals)))
        return {"step": min(totals), "detection": min(detections), "share": share, "contacts": self.sim.n_contacts}

    def line(self, repeats: int) -> PeerResult:
        """Time of an iteration and of the rest of a step, measured as the peer's are."""
        timing = time_iterations(self.reset, self.step, repeats)
        numbers = (timing.per_iteration, timing.fixed, ITERATIONS, f"{self.sim.n_contacts} contacts, {timing}")
        return PeerResult("pliant", self.sim.execution.threads, self.sim.positions, *numbers)


def newton_pile(steps: TimedSteps) -> PeerResult:
    """Newton from the same pile."""
    model = steps.sim.model
    tets, n = np.concatenate([solid.tets for solid in model.solids]), model.n_vertices
    triangles = boundary_triangles(tets, n)
    edges = hinges(triangles, n)
    law = pl.StableNeoHookean.from_young(scenes.YOUNG, scenes.POISSON).parameters
    shape = {"tets": tets, "triangles": triangles, "hinges": edges, "hinge_stiffness": np.zeros(len(edges))}
    return _newton(steps, scenes.STIFFNESS, laws=(law, (0.0, 0.0)), obstacle="ground", **shape)


def newton_cloth(steps: TimedSteps) -> PeerResult:
    """Newton from the same folds."""
    model, mesh = steps.sim.model, steps.sim.scene.bodies[0].mesh
    bending = next(block for block in model.blocks if isinstance(block, Hinges))
    law = (scenes.CLOTH_MU, scenes.CLOTH_LAM)
    shape = {"triangles": np.array(mesh.triangles), "hinges": bending.elements, "hinge_stiffness": bending.stiffness}
    shape |= {"tets": NOTHING, "obstacle": scenes.RADIUS}
    return _newton(steps, scenes.CLOTH_STIFFNESS, laws=(law, law), **shape)


def _newton(steps: TimedSteps, stiffness: float, **scene) -> PeerResult:
    from benchmarks.peers import newton_contact  # not installed where only Pliant is timed

    rest = np.concatenate([body.mesh.points for body in steps.sim.scene.bodies])
    state, friction = steps.start, {"friction": scenes.FRICTION, "friction_speed": scenes.FRICTION_SPEED}
    scene |= {"margin": scenes.THICKNESS, "stiffness": stiffness, "gravity": scenes.GRAVITY, "h": scenes.H, **friction}
    return newton_contact.run(rest, state.x, state.v, steps.sim.model.mass, iterations=ITERATIONS, **scene)


def beside_newton(rounds: int) -> dict[str, dict]:
    """Both scenes with both simulators, printed; the best round of Pliant counts, before Newton's or after them: the
    machine may be busy for minutes.
    """
    figures = {}
    print("| | ms per step of 20 iterations | ms per iteration | ms beside | Newton over Pliant | detection's share |")
    print("|---|---|---|---|---|---|")
    contenders = {
        "pile of 64 cubes": (scenes.pile(4), PILE_STEPS, newton_pile),
        "cloth of 128^2 cells": (scenes.draped(128), CLOTH_STEPS, newton_cloth),
    }
    for name, (scene, n_steps, newton) in contenders.items():
        steps = {threads: TimedSteps(scene, n_steps, threads) for threads in (1, None)}
        before = {threads: ours.best(5 * rounds) for threads, ours in steps.items()}
        theirs = newton(steps[None])
        their_step = theirs.milliseconds_per_step_fixed + ITERATIONS * theirs.milliseconds_per_iteration
        rows = {f"{name}, newton": {"step": their_step, **_numbers(theirs)}}
        for threads, ours in steps.items():
            lines = [ours.line(3) for _ in range(rounds)]
            line = min(lines, key=lambda result: result.milliseconds_per_iteration)
            best = min(before[threads], ours.best(10 * rounds), key=lambda figures: figures["step"])
            rows[f"{name}, pliant, {threads or 'all'} threads"] = best | _numbers(line)
        for label, row in rows.items():
            row["ratio"] = their_step / row["step"]
            share = f"{100 * row['share']:.0f} %" if "share" in row else "-"
            print(
                f"| {label} | {row['step']:.1f} | {row['iteration']:.2f} | {row['beside']:.1f} | {row['ratio']:.0f} | "
                f"{share} |",
                flush=True,
            )
        figures |= rows
    return figures


def _numbers(result: PeerResult) -> dict:
    fixed, iteration = result.milliseconds_per_step_fixed, result.milliseconds_per_iteration
    return {"iteration": iteration, "beside": fixed, "note": result.note}


def growth(rounds: int = 3) -> dict[str, dict]:
    """Piles of 8 to 1,000 cubes, each in processes of its own, for their memory and in turns; the best is printed."""
    print("\n| cubes | tets | ms per step | detection's share | ns per tet and iteration | exponent from 8 | peak MB |")
    print("|---|---|---|---|---|---|---|")
    runs = [{side: _run_grown_pile(side) for side in SIDES} for _ in range(rounds)]
    figures = {}
    for side in SIDES:
        row = min((run[side] for run in runs), key=lambda row: row["step"])
        first = figures["8 cubes"]["step"] if figures else np.nan
        row["exponent"] = np.log(row["step"] / first) / np.log(side**3 / SIDES[0] ** 3) if figures else np.nan
        print(
            f"| {side**3} | {row['tets']:.0f} | {row['step']:.1f} | {100 * row['share']:.0f} % | "
            f"{1e6 * row['step'] / row['tets'] / ITERATIONS:.1f} | {row['exponent']:.2f} | {row['peak_MB']:.0f} |"
        )
        figures[f"{side**3} cubes"] = row
    return figures


def _run_grown_pile(side: int) -> dict[str, float]:
    call = [sys.executable, "-m", "benchmarks.contact", "pile", str(side)]
    answer = subprocess.run(call, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    return dict(zip(("tets", "step", "share", "peak_MB"), map(float, answer.split()), strict=True))


def grown_pile(side: int) -> None:
    """Print tets, milliseconds per step, detection's share and peak memory [MB] of a pile of side^3 cubes."""
    steps = TimedSteps(scenes.pile(side, SMALL_CELLS), 25)
    figures = steps.best(GROWN_STEPS)
    tets = sum(len(solid.tets) for solid in steps.sim.model.solids)
    print(tets, figures["step"], figures["share"], peak_megabytes())


def peak_megabytes() -> float:
    """Most memory that this process has had.  What getrusage tells on Linux includes its parent's, before it began."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def guarantee(rounds: int = 3) -> dict[str, dict]:
    """Steps without and with the guarantee of no intersections, in turns; the best of each is printed.

    Each begins where its own run has got, and has done so before (threads: all).
    """
    print("\n| | ms per step without the guarantee | with it | ratio | vertices held back in the step |")
    print("|---|---|---|---|---|")
    contenders = {
        "pile of 64 cubes": (scenes.pile(4), PILE_STEPS),
        "cloth of 128^2 cells": (scenes.draped(128), CLOTH_STEPS),
    }
    figures = {}
    for name, (scene, n_steps) in contenders.items():
        runs = []
        for is_asked in (False, True):
            scene.contact = replace(scene.contact, guarantee=is_asked)
            runs.append(TimedSteps(scene, n_steps))
        times = [[run.best(5)["step"] for run in runs] for _ in range(rounds)]
        without, with_it = (min(column) for column in zip(*times, strict=True))
        held = runs[1].sim._safe.held.held_back
        print(f"| {name} | {without:.1f} | {with_it:.1f} | {with_it / without:.2f} | {held} |", flush=True)
        figures[name] = {"without": without, "with": with_it, "ratio": with_it / without, "held back": held}
    return figures


def layers(sheets: int = 50, steps: int = 40, iterations: int = 20, threads: int = 2) -> dict[str, list[float]]:
    """Print what each step of sheets that fall on each other takes, with the guarantee; all steps in milliseconds, and
    the processor time of all threads.
    """
    solver = pl.VBD(iterations)
    sim = pl.Simulation(scenes.layers(sheets), solver, frame_rate=1 / scenes.H, substeps=1, threads=threads)
    sim._convergence.watch = lambda *_: None  # trials of other solvers, once in a run
    figures: dict[str, list[float]] = {"step": [], "processor": []}
    print("| step | ms | ms of CPU | contacts | iterations | vertices held back |\n|---|---|---|---|---|---|")
    for k in range(steps):
        began, used = time.perf_counter(), time.process_time()
        told = sim.step()
        figures["step"].append(1e3 * (time.perf_counter() - began))
        figures["processor"].append(1e3 * (time.process_time() - used))
        held = 0 if told.contact is None else told.contact.held_back
        numbers = f"{figures['step'][-1]:.0f} | {figures['processor'][-1]:.0f} | {sim.n_contacts} | {told.iterations}"
        print(f"| {k} | {numbers} | {held} |", flush=True)
    return figures


def report(rounds: int = 3) -> dict:
    """Run all parts and print their tables."""
    return {"beside newton": beside_newton(rounds), "growth": growth(rounds), "guarantee": guarantee(rounds)}


if __name__ == "__main__":
    if sys.argv[1:2] == ["pile"]:
        grown_pile(int(sys.argv[2]))
    elif sys.argv[1:2] == ["guarantee"]:
        guarantee(*map(int, sys.argv[2:]))
    elif sys.argv[1:2] == ["layers"]:
        layers(*map(int, sys.argv[2:]))
    else:
        report(*map(int, sys.argv[1:]))
