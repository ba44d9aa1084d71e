"""All benchmarks, printed and written to bench/results.json.    python -m benchmarks.run [PART ...]

Each part runs in a process of its own: what one simulator leaves behind must not slow the next.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from pliant.lanes.host import core_count, cpu_name

# One round of the slower ones: Newton's and pbatoolkit's steps take seconds.
PARTS: dict[str, dict[str, int]] = {
    "side_by_side": {},
    "cloth": {"rounds": 2},
    "xpbd": {"rounds": 1},
    "newton_method": {},
    "contact": {"rounds": 1},
    "tearing": {},
    "own": {},
    "roofline": {},
}
FOLDER = Path("bench")


def main(names: list[str]) -> None:
    machine = {
        "cpu": cpu_name(),
        "cores": core_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }
    print(machine)
    FOLDER.mkdir(exist_ok=True)
    results: dict = {"machine": machine}
    for name in names:
        print(f"\n## {name.replace('_', ' ')}\n", flush=True)
        subprocess.run([sys.executable, "-c", f"from benchmarks.run import run; run({name!r})"], check=True)
        results[name] = json.loads(_file(name).read_text())
        _file(name).unlink()
    (FOLDER / "results.json").write_text(json.dumps(results, indent=1))
    print(f"\nwritten: {FOLDER / 'results.json'}")


def run(name: str) -> None:
    """One part, in this process."""
    figures = import_module(f"benchmarks.{name}").report(**PARTS[name])
    _file(name).write_text(json.dumps(figures, default=float))


def _file(name: str) -> Path:
    return FOLDER / f"{name}.json"


if __name__ == "__main__":
    main(sys.argv[1:] or list(PARTS))
