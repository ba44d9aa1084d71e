"""Compute all cases, and write docs/validation.md, its pictures and results/:  python -m experiments.validation

With words, only cases whose names have one of them are computed, "orders" and "cost" too; others keep their numbers
of the files: python -m experiments.validation Cook moment
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from experiments.validation import element_cost, order_cases
from experiments.validation.cases import CASES, Case
from experiments.validation.plots import draw_cases, draw_cost, draw_orders

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
RESULTS = Path(__file__).parent / "results"

SHEETS = ("elastica", "strip", "Sze", "sheet", "quarter circle")  # words of cases with a picture of their own
IRREGULAR = ("irregular", "could tear", "crossed")  # and of those among them with another
HEAD = """# Validation

Written by `python -m experiments.validation`; do not edit. Every number is that of `pl.equilibrium` or
`pl.Simulation` with default settings, on the first and the last of several resolutions: cells along the strip, across
the beam, along an edge of the membrane, or layers of the ball; segments on the capstan; of motions and the overhang,
substeps of a frame (5 is the default); of the arch, steps in which its crown is moved. The order is that by which the
error falls from the last resolution but one to the last. `tests/experiments/test_validation.py` computes all of it
again and asserts it.

| case | quantity | truth | from | default settings, coarse: value (error) | converged: value (error) | order |
|---|---|---|---|---|---|---|
"""

PICTURES = """
![Relative errors of static shapes of solids, ropes, balloons and contact against cells](images/validation.png)

![Relative errors of strips and sheets of regular triangles against cells](images/validation-sheets.png)

![Relative errors of strips and plates of irregular triangles against cells](images/validation-irregular.png)

![Relative errors of motions and paths against steps](images/validation-steps.png)
"""

ORDERS = """
## Order in the time step

Errors [m] at the end of a motion, in double precision, compared with a Runge-Kutta method for the same equations of
motion: two masses on springs that swing down from the side, 0.5 s; a clamped beam of tets (1 m x 0.2 m x 0.1 m,
E = 0.1 MPa) that vibrates freely in its first mode, 1 s, its end starting with 2 cm/s. The order is that of the last
halving of the step. Steps of the whole motion:

![Errors against the number of steps, all integrators](images/validation-orders.png)

| motion, integrator | {steps} | order |
|---|{lines}---|
"""

COST = """
## Error against time of the elements of solids

Sag of a square cantilever of 10 : 1, nu = 0, by `pl.equilibrium` with one thread, compared with Timoshenko's beam;
processor time without compiling, of the machine that wrote this page, so that only ratios mean anything.

![Error against processor time and tets](images/validation-cost.png)

| element | tets | error | processor time [s] |
|---|---|---|---|
"""

TAIL = """
What the tables show: linear tets are too stiff in bending, Kuhn's more than alternating ones of `pl.shapes.box`, and
their error falls as cells get smaller. They lock near Poisson's ratio 0.5; patches (`element="patch"`) do neither,
and reach the same error with fewer tets in less time. The quadratic and the coupled bending form converge to the
elastica on regular triangles; single dihedral angles do not. The quadratic form, the default of all sheets,
flat, curved at rest and tearing, converges on every mesh (`decisions/0105-curvatures-of-triangles.md` has small
deflections of twenty-five kinds of cells). What is left on few cells that are bent far, or curved at rest, is locking
of the membrane: flat triangles that do not stretch cannot follow the curve. Cells of four triangles that are twice as
long as wide lock most.
"""


def row(case: Case) -> str:
    ends = (case.cells[0], case.cells[-1])
    values = [f"{cells}: {case.value(cells):.5g} ({100 * case.error(cells):+.2g} %)" for cells in ends]
    order = "" if case.order is None else f"{case.order:.1f}"
    return f"| {case.name} | {case.quantity} | {case.truth:.5g} | {case.source} | {values[0]} | {values[1]} | {order} |"


def kept(name: str) -> Any:
    """What the last run wrote."""
    return json.loads((RESULTS / name).read_text())


def keep_others(words: list[str]) -> None:
    """Take the numbers of cases that no word asks for from the file."""
    numbers = kept("validation.json")
    for case in CASES:
        if not any(word in case.name for word in words) and case.name in numbers:
            case.values.update({int(cells): value for cells, value in numbers[case.name]["values"].items()})


def write(name: str, numbers: Any) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / name).write_text(json.dumps(numbers, indent=1) + "\n")


def table_of_cases() -> str:
    rows = []
    for case in CASES:
        for cells in case.cells:
            case.value(cells)
        rows.append(row(case))
        print(rows[-1], flush=True)
    write("validation.json", {case.name: {"truth": case.truth, "values": case.values} for case in CASES})
    sheets = [case for case in CASES if any(word in case.name for word in SHEETS)]
    draw_cases([case for case in CASES if case not in sheets], ("cells",), IMAGES / "validation.png")
    irregular = [case for case in sheets if any(word in case.name for word in IRREGULAR)]
    draw_cases([case for case in sheets if case not in irregular], ("cells",), IMAGES / "validation-sheets.png")
    draw_cases(irregular, ("cells",), IMAGES / "validation-irregular.png")
    draw_cases(CASES, ("substeps", "steps"), IMAGES / "validation-steps.png")
    return HEAD + "\n".join(rows) + "\n" + PICTURES


def table_of_orders(is_asked: bool) -> str:
    errors = (
        order_cases.errors()
        if is_asked
        else {k: {int(n): e for n, e in v.items()} for k, v in kept("orders.json").items()}
    )
    write("orders.json", errors)
    draw_orders(errors, IMAGES / "validation-orders.png")
    steps = order_cases.STEPS
    head = ORDERS.format(steps=" | ".join(map(str, steps)), lines="---|" * len(steps))
    rows = [
        f"| {name} | {' | '.join(f'{values[n]:.2g}' for n in steps)} | {order_cases.order(values):.2f} |"
        for name, values in errors.items()
    ]
    return head + "\n".join(rows) + "\n"


def table_of_cost(is_asked: bool) -> str:
    curves = element_cost.curves() if is_asked else kept("cost.json")
    write("cost.json", curves)
    draw_cost(curves, IMAGES / "validation-cost.png")
    rows = [
        f"| {element} | {point['tets']} | {100 * point['error']:+.2g} % | {point['seconds']:.2g} |"
        for element, points in curves.items()
        for point in points
    ]
    return COST + "\n".join(rows) + "\n"


def main() -> None:
    words = sys.argv[1:]
    if words:
        keep_others(words)
    page = (
        table_of_cases() + table_of_orders(not words or "orders" in words) + table_of_cost(not words or "cost" in words)
    )
    (ROOT / "docs" / "validation.md").write_text(page + TAIL)


if __name__ == "__main__":
    main()
