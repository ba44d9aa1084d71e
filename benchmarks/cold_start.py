"""How long people wait for the first frame: gallery scenes in new processes, with an empty cache and with a full one.

    python -m benchmarks.cold_start [SCENE...]

Each scene gets an empty cache of its own, so nothing is shared between scenes.  A row gives seconds from the start of
the process to the end of the first frame on the clock and of the CPU (which a busy machine changes less), cold and then
warm, and what was compiled or loaded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from pliant.scenes.gallery import entries

FIRST_FRAME = """
import json, sys, time
from pliant.scenes.plans import open_plan
open_plan(sys.argv[1]).simulation().advance()
from pliant.lanes.entry import USES
count = {origin: sum(use.origin == origin for use in USES) for origin in ("compiled", "cache", "wheel")}
print(json.dumps([time.process_time(), count]))
"""


class Start(NamedTuple):
    """The first frame of one process."""

    clock: float  # seconds
    cpu: float  # seconds
    functions: dict[str, int]  # by origin


def first_frame(scene: str, cache: str) -> Start:
    environment = os.environ | {"PLIANT_CACHE_DIR": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # most people's Python keeps bytecode
    started = time.perf_counter()
    command = [sys.executable, "-c", FIRST_FRAME, scene]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    cpu, functions = json.loads(printed)
    return Start(time.perf_counter() - started, cpu, functions)


def main() -> None:
    scenes = sys.argv[1:] or [entry.name for entry in entries()]
    print(f"{'':<12}{'cold [s]':>10}{'CPU':>8}{'warm [s]':>10}{'CPU':>8}{'compiled':>10}{'wheel':>7}")
    for scene in scenes:
        with tempfile.TemporaryDirectory() as cache:
            cold = first_frame(scene, cache)
            warm = min(first_frame(scene, cache) for _ in range(3))
        counts = f"{cold.functions['compiled']:>10}{cold.functions['wheel']:>7}"
        print(f"{scene:<12}{cold.clock:>10.1f}{cold.cpu:>8.1f}{warm.clock:>10.2f}{warm.cpu:>8.2f}{counts}", flush=True)


if __name__ == "__main__":
    main()
