"""Steps beside other busy programs: the number of threads that Pliant chooses against every fixed number.

    python -m benchmarks.busy [--rounds 8] [--loads 0 1 2]

Starts so many processes that do nothing but compute, and ends them again.  Simulations of one scene take the same steps
in turn, a slice of them each; the median slice counts.  With others beside it, a step should take at most 1.3 times
that of the best fixed number of threads, on a quiet computer at most 1.03 times.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

import pliant as pl
from benchmarks.contact_scenes import pile
from benchmarks.own import hanging
from pliant.kernels.thread_choice import candidates
from pliant.lanes.host import core_count

SLICE = 0.12  # [s] of steps of one simulation, before the next has its turn
TARGETS = {0: 1.03}  # times the best fixed number, by the number of busy processes; else:
TARGET = 1.3
# ends by itself if this program is killed
COMPUTE = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(10**5): pass"
SCENES: dict[str, Callable[[], pl.Scene]] = {
    "cube of 10,000 tets": lambda: hanging(pl.shapes.box(cells=(12, 12, 12), split="kuhn")),
    "cube of 94,000 tets": lambda: hanging(pl.shapes.box(cells=(25, 25, 25), split="kuhn")),
    "pile of 27 cubes": lambda: pile(3),
}


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """So many processes that compute all the time; they end with the block, however it ends."""
    processes: list[subprocess.Popen] = []
    try:
        for _ in range(count):
            processes.append(subprocess.Popen([sys.executable, "-c", COMPUTE]))
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


class Contest:
    """One scene on every fixed number of threads, and on as many as Pliant chooses (None)."""

    def __init__(self, name: str, make: Callable[[], pl.Scene]):
        self.name = name
        numbers = [*sorted(candidates(core_count())), None]
        self.simulations = {threads: pl.Simulation(make(), threads=threads) for threads in numbers}
        for simulation in self.simulations.values():
            simulation.step()
        seconds = min(_seconds(self.simulations[1], 1) for _ in range(5))
        for threads, simulation in self.simulations.items():
            if threads != 1:
                _seconds(simulation, 5)
        self.steps = max(1, round(SLICE / seconds))

    def run(self, rounds: int) -> dict[int | None, list[float]]:
        """Seconds per step of each slice."""
        times: dict[int | None, list[float]] = {threads: [] for threads in self.simulations}
        for _ in range(rounds):
            for threads, simulation in self.simulations.items():
                times[threads].append(_seconds(simulation, self.steps) / self.steps)
        first, *others = (simulation.positions for simulation in self.simulations.values())
        assert all(np.array_equal(first, x) for x in others), "the number of threads has changed the result"
        return times


def _seconds(simulation: pl.Simulation, steps: int) -> float:
    began = time.perf_counter()
    for _ in range(steps):
        simulation.step()
    return time.perf_counter() - began


def report(rounds: int = 8, loads: tuple[int, ...] = (0, 1, 2)) -> dict:
    """A table of milliseconds per step; whether the targets are met."""
    contests = [Contest(name, make) for name, make in SCENES.items()]
    numbers = list(contests[0].simulations)
    titles = [f"{threads or 'chosen'} thread{'' if threads == 1 else 's'}" for threads in numbers]
    print("Milliseconds per step, median (best) of slices.\n")
    print("| busy processes | scene |", " | ".join(titles), "| chosen / best fixed | target |")
    print("|" + "---|" * (len(titles) + 4))
    figures: dict = {"rows": []}
    for load in loads:
        with busy_processes(load):
            for contest in contests:
                times = contest.run(rounds)
                median = {threads: 1e3 * statistics.median(slices) for threads, slices in times.items()}
                best = {threads: 1e3 * min(slices) for threads, slices in times.items()}
                ratio = median[None] / min(median[threads] for threads in numbers if threads)
                target = TARGETS.get(load, TARGET)
                cells = [f"{median[threads]:.2f} ({best[threads]:.2f})" for threads in numbers]
                verdict = f"at most {target}: {'met' if ratio <= target else 'MISSED'}"
                print(f"| {load} | {contest.name} |", " | ".join(cells), f"| {ratio:.2f} | {verdict} |", flush=True)
                row = {"busy": load, "scene": contest.name, "median_ms": list(median.values()), "ratio": ratio}
                figures["rows"].append({**row, "best_ms": list(best.values()), "threads": numbers, "target": target})
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--loads", type=int, nargs="+", default=[0, 1, 2])
    chosen = parser.parse_args()
    report(chosen.rounds, tuple(chosen.loads))
