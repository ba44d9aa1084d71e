"""What recording costs: the demo scene with and without a recorder, in turns within one run.

    python -m benchmarks.recording

Prints, for each format, how much longer frames take with a recorder: the median over pairs of blocks of frames, one
with and one without, one right after the other, so that other work on the machine hits both alike. Closing the recorder
is part of it: some formats are finished then.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import pliant as pl
from pliant import scenes

BLOCK, ROUNDS = 12, 16  # frames in a block; pairs of blocks of each kind
CASES = (
    *((ending, False) for ending in (".npz", ".pvd", ".ply", ".usdc", ".glb")),
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
    sim = pl.Simulation(scenes.twisted_beam())
    plain: list[float] = []
    ratios: dict[tuple[str, bool], list[float]] = {case: [] for case in CASES}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            for ending, volume in CASES:
                recorded = seconds_a_frame(sim, Path(folder) / f"run{ending}", volume)
                plain.append(seconds_a_frame(sim, None, False))
                ratios[ending, volume].append(recorded / plain[-1])
    print(f"without a recorder {1e3 * median(plain):.2f} ms a frame, best {1e3 * min(plain):.2f}")
    for (ending, volume), values in ratios.items():
        print(f"{ending} {'volume' if volume else 'surface':<8} {median(values) - 1:+.1%}")


if __name__ == "__main__":
    main()
