"""What recording costs: the demo scene with and without a recorder, in turns within one run.

    python -m benchmarks.recording [ENDING...]

Prints, for each format, how much longer frames take with a recorder: the median over pairs of blocks of frames, one
with and one without, one right after the other, and the quartiles around it. A block counts by its median frame, so
that bursts of other work on the machine do not hide a cost that is a fraction of a millisecond; closing the recorder,
when some formats are finished, is shared out over its frames. Every block is a recording of its own in new files, as a
run's is.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median, quantiles

import pliant as pl
from pliant import scenes

BLOCK, ROUNDS = 40, 12  # frames in a block, a third of the demo; pairs of blocks of each kind
CASES = (
    *((ending, False) for ending in (".npz", ".pvd", ".ply", ".obj", ".usdc", ".usda", ".glb")),
    *((ending, True) for ending in (".npz", ".pvd")),
)


def seconds_a_frame(sim: pl.Simulation, path: Path | None, volume: bool) -> float:
    """Of one block, setting up the recorder apart: a run does it once."""
    with ExitStack() as stack:
        recorder = None if path is None else stack.enter_context(sim.record(path, volume=volume))
        sim.advance()
        frames = [seconds(sim.advance) for _ in range(BLOCK)]
        return median(frames) + (0.0 if recorder is None else seconds(recorder.close) / BLOCK)


def seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def main() -> None:
    cases = [case for case in CASES if len(sys.argv) == 1 or case[0] in sys.argv[1:]]
    sim = pl.Simulation(scenes.twisted_beam())
    pairs: dict[tuple[str, bool], list[tuple[float, float]]] = {case: [] for case in cases}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS):
            for ending, volume in cases:
                recorded = seconds_a_frame(sim, Path(folder) / f"run{number}_{volume}{ending}", volume)
                pairs[ending, volume].append((recorded, seconds_a_frame(sim, None, False)))
    plain = [without for values in pairs.values() for _, without in values]
    print(f"without a recorder {1e3 * median(plain):.2f} ms per frame, best {1e3 * min(plain):.2f}")
    for (ending, volume), values in pairs.items():
        low, middle, high = (quartile - 1 for quartile in quantiles(recorded / without for recorded, without in values))
        what = f"{ending:<5} {'volume' if volume else 'surface':<8}"
        print(f"{what} {middle:+6.1%}  ({low:+.1%} to {high:+.1%})")


if __name__ == "__main__":
    main()
