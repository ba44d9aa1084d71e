"""What recording costs: the demo scene with and without a recorder, in turns within one run.

    python -m benchmarks.recording [ENDING...]

Prints, for each format, how much longer frames take with a recorder: the median over pairs of blocks of frames, one
with and one without, one right after the other, so that other work on the machine hits both alike, and the quartiles
around it. Closing the recorder is part of it: some formats are finished then. Every block is a recording of its own in
new files, as a run's is.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median, quantiles

import pliant as pl
from pliant import scenes

BLOCK, ROUNDS = 12, 16  # frames in a block; pairs of blocks of each kind
CASES = (
    *((ending, False) for ending in (".npz", ".pvd", ".ply", ".obj", ".usdc", ".usda", ".glb")),
    *((ending, True) for ending in (".npz", ".pvd")),
)


def seconds_a_frame(sim: pl.Simulation, path: Path | None, volume: bool) -> float:
    """Of one block, setting up the recorder apart: a run does it once."""
    with ExitStack() as stack:
        recorder = None if path is None else stack.enter_context(sim.record(path, volume=volume))
        sim.advance()
        began = time.perf_counter()
        for _ in range(BLOCK):
            sim.advance()
        if recorder is not None:
            recorder.close()
        return (time.perf_counter() - began) / BLOCK


def main() -> None:
    cases = [case for case in CASES if len(sys.argv) == 1 or case[0] in sys.argv[1:]]
    sim = pl.Simulation(scenes.twisted_beam())
    plain: list[float] = []
    ratios: dict[tuple[str, bool], list[float]] = {case: [] for case in cases}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS):
            for ending, volume in cases:
                recorded = seconds_a_frame(sim, Path(folder) / f"run{number}_{volume}{ending}", volume)
                plain.append(seconds_a_frame(sim, None, False))
                ratios[ending, volume].append(recorded / plain[-1])
    print(f"without a recorder {1e3 * median(plain):.2f} ms a frame, best {1e3 * min(plain):.2f}")
    for (ending, volume), values in ratios.items():
        low, middle, high = (quartile - 1 for quartile in quantiles(values))
        print(f"{ending:<5} {'volume' if volume else 'surface':<8} {middle:+6.1%}  ({low:+.1%} to {high:+.1%})")


if __name__ == "__main__":
    main()
