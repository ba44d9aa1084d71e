"""Errors of all cases against the number of cells or substeps, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.validation.cases import Case

LEAST = 1e-7  # a smaller error is drawn as this


def draw(cases: Sequence[Case], path: Path) -> None:
    """Relative errors; a dashed line falls with the square of the size of cells."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(11, 7), layout="constrained")
    for k, case in enumerate(case for case in cases if len(case.cells) > 1):
        errors = [max(abs(case.error(cells)), LEAST) for cells in case.cells]
        axes.loglog(case.cells, errors, marker="os^Dv<>"[k % 7], label=case.name)
    axes.loglog([5, 40], [0.05, 0.05 / 64], "k--", label="second order")
    axes.set_xlabel("cells, or substeps of a frame")
    axes.set_ylabel("relative error")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
