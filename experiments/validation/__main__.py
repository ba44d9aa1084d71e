"""Compute all cases, and write docs/validation.md and results/validation.json:  python -m experiments.validation"""

from __future__ import annotations

import json
from pathlib import Path

from experiments.validation.cases import CASES, Case

ROOT = Path(__file__).resolve().parents[2]
HEAD = """# Validation

Written by `python -m experiments.validation`; do not edit. Every number is that of `pl.equilibrium` with default
settings; `tests/experiments/test_validation.py` asserts the errors. Cells are those along the strip, across the beam,
along an edge of the membrane, or layers of the ball.

| case | quantity | truth | from | cells: value (error) |
|---|---|---|---|---|
"""


def row(case: Case) -> str:
    values = ", ".join(f"{cells}: {case.value(cells):.5g} ({100 * case.error(cells):+.2g} %)" for cells in case.cells)
    return f"| {case.name} | {case.quantity} | {case.truth:.5g} | {case.source} | {values} |"


def main() -> None:
    rows = []
    for case in CASES:
        rows.append(row(case))
        print(rows[-1], flush=True)
    (ROOT / "docs" / "validation.md").write_text(HEAD + "\n".join(rows) + "\n" + TAIL)
    numbers = {case.name: {"truth": case.truth, "values": case.values} for case in CASES}
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "validation.json").write_text(json.dumps(numbers, indent=1) + "\n")


TAIL = """
What the table shows: linear tets are too stiff in bending, less so with the symmetric splits of `pl.shapes.box`, and
their error falls as cells get smaller. The quadratic bending form converges to the elastica; the dihedral form
does not on regular strips. Linear tets lock near Poisson's ratio 0.5; there is no remedy yet, and no case here.
"""

if __name__ == "__main__":
    main()
