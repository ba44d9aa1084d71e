"""Compute all cases, and write docs/validation.md and results/validation.json:  python -m experiments.validation

With words, only cases whose names have one of them are computed; others keep their numbers of the file:
python -m experiments.validation Cook moment
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from experiments.validation.cases import CASES, Case
from experiments.validation.plots import draw

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).parent / "results"
HEAD = """# Validation

Written by `python -m experiments.validation`; do not edit. Every number is that of `pl.equilibrium` or `pl.Simulation`
with default settings; `tests/experiments/test_validation.py` asserts the errors. Cells are those along the strip,
across the beam, along an edge of the membrane, or layers of the ball; of motions and the overhang, substeps of
a frame; of the arch, steps in which its crown is moved.

![Relative errors against cells or substeps](images/validation.png)

| case | quantity | truth | from | cells: value (error) |
|---|---|---|---|---|
"""


def row(case: Case) -> str:
    values = ", ".join(f"{cells}: {case.value(cells):.5g} ({100 * case.error(cells):+.2g} %)" for cells in case.cells)
    return f"| {case.name} | {case.quantity} | {case.truth:.5g} | {case.source} | {values} |"


def keep_others(words: list[str]) -> None:
    """Take the numbers of cases that no word asks for from the file."""
    kept = json.loads((RESULTS / "validation.json").read_text())
    for case in CASES:
        if not any(word in case.name for word in words) and case.name in kept:
            case.values.update({int(cells): value for cells, value in kept[case.name]["values"].items()})


def main() -> None:
    if sys.argv[1:]:
        keep_others(sys.argv[1:])
    rows = []
    for case in CASES:
        rows.append(row(case))
        print(rows[-1], flush=True)
    (ROOT / "docs" / "validation.md").write_text(HEAD + "\n".join(rows) + "\n" + TAIL)
    numbers = {case.name: {"truth": case.truth, "values": case.values} for case in CASES}
    draw(CASES, ROOT / "docs" / "images" / "validation.png")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "validation.json").write_text(json.dumps(numbers, indent=1) + "\n")


TAIL = """
What the table shows: linear tets are too stiff in bending, less so with the symmetric splits of `pl.shapes.box`, and
their error falls as cells get smaller. They lock near Poisson's ratio 0.5; patches (`element="patch"`) do neither. The
quadratic and the coupled bending form converge to the elastica; single dihedral angles do not on regular strips.
"""

if __name__ == "__main__":
    main()
