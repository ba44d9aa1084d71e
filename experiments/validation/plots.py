"""Errors of all cases as pictures: against cells, against substeps, against the time step, against processor time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from experiments.validation.cases import Case
from matplotlib import pyplot

LEAST = 1e-8  # a smaller error is drawn as this
MARKERS = "os^Dv<>"


def draw_cases(cases: Sequence[Case], resolutions: Sequence[str], path: Path) -> None:
    """Relative errors; a dashed line falls with the square of the size of cells or steps."""
    chosen = [case for case in cases if case.resolution in resolutions and len(case.cells) > 1]
    curves = ((case.name, case.cells, [abs(case.error(cells)) for cells in case.cells]) for case in chosen)
    least, most = (end(end(case.cells) for case in chosen) for end in (min, max))
    _draw(curves, (max(most / 8, least), most), " or ".join(resolutions), "relative error", path)


def draw_orders(errors: dict[str, dict[int, float]], path: Path) -> None:
    """Errors of motions against the number of steps, all integrators."""
    curves = ((name, list(values), list(values.values())) for name, values in errors.items())
    _draw(curves, (64, 256), "steps", "error at the end", path)


def draw_cost(curves: dict[str, list[dict[str, float]]], path: Path) -> None:
    """Errors of the elements of solids against processor time, and against the number of tets."""
    figure, both = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
    for axes, key, label in zip(both, ("seconds", "tets"), ("processor time [s]", "tets"), strict=True):
        for k, (element, points) in enumerate(curves.items()):
            errors = [abs(point["error"]) for point in points]
            axes.loglog([point[key] for point in points], errors, marker=MARKERS[k], label=element)
        axes.set_xlabel(label)
        axes.grid(alpha=0.3, which="both")
    both[0].set_ylabel("relative error of the sag")
    both[0].legend()
    _save(figure, path)


def _draw(
    curves: Iterable[tuple[str, Any, Any]], ends: tuple[float, float], across: str, upwards: str, path: Path
) -> None:
    figure, axes = pyplot.subplots(figsize=(11, 6), layout="constrained")
    places: set[float] = set()
    for k, (name, numbers, errors) in enumerate(curves):
        places.update(numbers)
        drawn = [max(error, LEAST) for error in errors]
        axes.loglog(numbers, drawn, marker=MARKERS[k % len(MARKERS)], label=name)
    low, high = ends
    axes.loglog([low, high], [0.05, 0.05 * (low / high) ** 2], "k--", label="second order")
    axes.loglog([low, high], [0.05, 0.05 * low / high], "k:", label="first order")
    axes.set_xticks(sorted(places), [f"{place:g}" for place in sorted(places)])
    axes.minorticks_off()
    axes.set_xlabel(across)
    axes.set_ylabel(upwards)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
