"""Two runs of all benchmarks compared, figure by figure: what has become slower, and by how much.

    python -m benchmarks.ratios BEFORE/bench/results.json AFTER/bench/results.json

`benchmarks.run` writes such files. For an earlier state of the code, run it in a second worktree, in turns with the
first on a quiet machine: git worktree add ../before COMMIT.  A row is a figure that both files have.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SLOWER = 1.05  # times as much is marked


def figures(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """All numbers of a file with their places in it."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from figures(part, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from figures(part, f"{name}[{place}]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, float(value)


def ratios(before: Any, after: Any) -> list[tuple[str, float, float]]:
    """Place, before and after of each figure that both have and that is not zero before."""
    new = dict(figures(after))
    return [(name, old, new[name]) for name, old in figures(before) if name in new and old != 0.0]


def main() -> None:
    before, after = (json.loads(Path(path).read_text()) for path in sys.argv[1:3])
    for name, old, new in ratios(before, after):
        print(f"{name:<70}{old:>12.4g}{new:>12.4g}{new / old:>8.2f}{'  <' if new > SLOWER * old else ''}")


if __name__ == "__main__":
    main()
