"""What recording costs: the demo scene with and without a recorder, in turns within one run.

    python -m benchmarks.recording

Prints the time of a frame with each format, as a fraction more than without: medians over blocks of frames that take
turns, so that other work on the machine hits all alike.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import pliant as pl
from pliant import scenes

BLOCK, ROUNDS = 8, 15  # frames in a block; blocks of each kind
CASES = ((None, False), ("a.npz", False), ("b.pvd", False), ("c.npz", True), ("d.pvd", True))


def seconds_a_frame(sim: pl.Simulation, path: Path | None, volume: bool) -> float:
    """Of one block, setting up and closing the recorder apart: a run does them once."""
    with ExitStack() as stack:
        recorder = None if path is None else stack.enter_context(sim.record(path, volume=volume))
        sim.advance()
        began = time.perf_counter()
        for _ in range(BLOCK):
            sim.advance()
        if recorder is not None:
            recorder.wait()
        return (time.perf_counter() - began) / BLOCK


def main() -> None:
    sim = pl.Simulation(scenes.twisted_beam())
    times: dict[tuple[str | None, bool], list[float]] = {case: [] for case in CASES}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            for name, volume in CASES:
                path = None if name is None else Path(folder) / name
                times[name, volume].append(seconds_a_frame(sim, path, volume))
    plain = median(times[CASES[0]])
    print(f"without a recorder {1e3 * plain:6.2f} ms a frame")
    for (name, volume), values in times.items():
        if name is not None:
            what = f"{name[1:]} {'volume' if volume else 'surface'}"
            print(f"{what:<18} {1e3 * median(values):6.2f} ms a frame, {median(values) / plain - 1:+.1%}")


if __name__ == "__main__":
    main()
