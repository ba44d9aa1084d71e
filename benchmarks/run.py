"""All benchmarks, printed and written to bench/results.json.    python -m benchmarks.run"""

from __future__ import annotations

import json
import platform
from pathlib import Path

from benchmarks import cloth, contact, own, roofline, side_by_side, xpbd
from pliant.lanes.host import core_count, cpu_name

# One round of the slower ones: Newton's and pbatoolkit's steps take seconds.
PARTS = {
    side_by_side: {},
    cloth: {"rounds": 1},
    xpbd: {"rounds": 1},
    contact: {"rounds": 1},
    own: {},
    roofline: {},
}


def main() -> None:
    machine = {
        "cpu": cpu_name(),
        "cores": core_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }
    print(machine)
    results = {"machine": machine}
    for part, options in PARTS.items():
        name = part.__name__.rpartition(".")[2]
        print(f"\n## {name.replace('_', ' ')}\n")
        results[name] = part.report(**options)
    folder = Path("bench")
    folder.mkdir(exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results, indent=1))
    print(f"\nwritten: {folder / 'results.json'}")


if __name__ == "__main__":
    main()
