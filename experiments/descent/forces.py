"""Figures 10 and 11: forces of a stretched, pressed and twisted box, law by law.

python -m experiments.descent.forces
"""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from experiments.descent import box
from experiments.vbd import outputs
from experiments.vbd.pictures import moments
from rich.progress import track

import pliant as pl
from pliant.viewer.pictures import Surface

HERE = Path(__file__).parent
LOADS = {  # name: kind of motion and amounts
    "stretching": ("stretch", np.linspace(1, 2, 21)),
    "compression": ("stretch", np.linspace(1, 0.6, 17)),
    "twisting": ("twist", np.linspace(0, np.pi, 17)),
}
PAPERS = ("neo-Hookean", "Mooney-Rivlin", "Fung", "St. Venant-Kirchhoff")


def curves(cells=box.CELLS, loads=LOADS) -> dict[str, dict[str, box.Curve]]:
    """By load and law."""
    laws = box.laws()
    return {
        load: {name: box.load(law, kind, amounts, cells) for name, law in track(laws.items(), load)}
        for load, (kind, amounts) in loads.items()
    }


def cubic_misfit(curve: box.Curve) -> float:
    """Largest distance of the forces from their best cubic in the stretch ratio, in percent of the largest force."""
    fit = np.polynomial.Polynomial.fit(curve.amounts, curve.efforts, 3)
    return 100 * float(np.abs(fit(curve.amounts) - curve.efforts).max() / np.abs(curve.efforts).max())


def stiffening(curve: box.Curve) -> float:
    """Slope of the curve at its end over its slope at the beginning."""
    slopes = np.diff(curve.efforts) / np.diff(curve.amounts)
    return float(slopes[-1] / slopes[0])


def work_misfit(curve: box.Curve, unit: float) -> float:
    """How far the work of the force (trapezium rule) is from the stored energy, in percent of it; unit: [m] or 1."""
    known = np.isfinite(curve.efforts)
    work = np.trapezoid(curve.efforts[known], curve.amounts[known] * unit)
    return 100 * float(abs(work - curve.energies[known][-1]) / curve.energies[known][-1])


def numbers(results: dict[str, dict[str, box.Curve]]) -> dict:
    table: dict = {}
    for load, by_law in results.items():
        unit = 1.0 if load == "twisting" else box.SIZE[2]
        for name, curve in by_law.items():
            known = np.isfinite(curve.efforts)
            table.setdefault(name, {})[load] = {
                "last_amount": curve.amounts[known][-1],
                "effort_at_last_amount_N_or_Nm": curve.efforts[known][-1],
                "effort_over_neo_hookean_there": curve.efforts[known][-1] / by_law["neo-Hookean"].efforts[known][-1],
                "work_against_energy_percent": work_misfit(curve, unit),
            }
    for name, curve in results["stretching"].items():
        table[name]["stretching"]["end_slope_over_first_slope"] = stiffening(curve)
        table[name]["stretching"]["cubic_misfit_percent"] = cubic_misfit(curve)
    return table


def draw(results: dict[str, dict[str, box.Curve]]) -> plt.Figure:
    figure, axes = plt.subplots(2, 3, figsize=(13, 9), layout="constrained", height_ratios=(3, 2))
    surface = pl.shapes.box(box.SIZE, box.CELLS, split="kuhn")
    for load, (above, below) in zip(results, axes.T, strict=True):
        for name, curve in results[load].items():
            own = name in PAPERS
            above.plot(curve.amounts, curve.efforts / 1e3, "-" if own else ":", lw=2 if own else 1.2, label=name)
        twist = load == "twisting"
        above.set(xlabel="angle [rad]" if twist else "stretch ratio", ylabel="torque [kN m]" if twist else "force [kN]")
        above.set_title(load)
        if load == "stretching":
            above.set_ylim(0, 200)
            above.legend(fontsize=8)
        shapes = [results[load][name].positions for name in PAPERS]
        pictures = moments(shapes, Surface(surface.surface_triangles), 35, 15, 260)
        below.imshow(np.hstack(pictures))
        below.set_title(", ".join(PAPERS), fontsize=7)
        below.axis("off")
    return figure


def claims(table: dict) -> str:
    """The README's table."""
    at = {name: table[name]["stretching"] for name in PAPERS}
    over = {name: at[name]["effort_over_neo_hookean_there"] for name in PAPERS}
    grows = {name: at[name]["end_slope_over_first_slope"] for name in PAPERS}
    stiffer = all(
        table[name][load]["effort_over_neo_hookean_there"] > 1
        for name in ("Mooney-Rivlin", "Fung")
        for load in ("stretching", "compression", "twisting")
    )
    fastest = grows["Fung"] > max(grows["neo-Hookean"], grows["Mooney-Rivlin"])
    misfit = at["St. Venant-Kirchhoff"]["cubic_misfit_percent"]
    end = table["St. Venant-Kirchhoff"]["compression"]["last_amount"]
    rows = [
        ["10, 11", "Mooney-Rivlin and Fung \"behave stiffer than the neo-Hookean model\"", "curves",
         f"stretched to twice its height {over['Mooney-Rivlin']:.2f} and {over['Fung']:.2f} times its force; also "
         "pressed and twisted", "holds" if stiffer else "**missed**"],
        ["11", "the stiffness of Fung \"grows more rapidly\" than that of the other two", "curves",
         f"slope at the end over slope at the beginning: {grows['neo-Hookean']:.2f}, {grows['Mooney-Rivlin']:.2f}, "
         f"Fung {grows['Fung']:.2f}", "holds" if fastest else "**missed**"],
        ["11", "St. Venant-Kirchhoff: force \"approximately a cubic function of the stretch ratio\"", "curves",
         f"within {misfit:.2g} % of a cubic", "holds" if misfit < 2 else "**missed**"],
        ["10", "St. Venant-Kirchhoff \"is the most difficult one\", for its low resistance against compression", "-",
         f"Newton's method finds its equilibria down to the stretch {end:.2f}"
         + (", no further" if end > 0.601 else "") + "; of all others down to 0.60",
         "holds" if end > 0.601 else "not seen"],
    ]  # fmt: skip
    head = ["figure", "the paper's claim", "its number", "ours", "verdict"]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines).replace("| --- ", "|---")


def write_readme(table: dict) -> None:
    readme = HERE / "README.md"
    new = f"<!-- claims -->\n{claims(table)}\n<!-- end of claims -->"
    marks = "<!-- claims -->.*<!-- end of claims -->"
    readme.write_text(re.sub(marks, lambda _: new, readme.read_text(), flags=re.S))


if __name__ == "__main__":
    results = curves()
    table = numbers(results)
    outputs.save("forces", draw(results), table, HERE / "results")
    write_readme(table)
