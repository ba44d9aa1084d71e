"""All benchmarks, printed and written to bench/results.json.    python -m benchmarks.run"""

from __future__ import annotations

import json
import platform
from pathlib import Path

from benchmarks import own, roofline, side_by_side
from pliant.lanes.host import core_count, cpu_name


def main() -> None:
    machine = {
        "cpu": cpu_name(),
        "cores": core_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }
    print(machine)
    results = {"machine": machine}
    for part in (side_by_side, own, roofline):
        print(f"\n## {part.__name__.rpartition('.')[2].replace('_', ' ')}\n")
        results[part.__name__.rpartition(".")[2]] = part.report()
    folder = Path("bench")
    folder.mkdir(exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results, indent=1))
    print(f"\nwritten: {folder / 'results.json'}")


if __name__ == "__main__":
    main()
