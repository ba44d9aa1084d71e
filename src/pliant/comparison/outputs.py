"""A comparison as a table, files and a picture."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from pliant.comparison.motion import MotionComparison
from pliant.comparison.step import Comparison
from pliant.errors import PliantError

SHOWN = (1e-1, 1e-2, 1e-4, 1e-6)  # accuracies in the table
SMALLEST = 1e-14  # error that is still drawn: below it is rounding


def table(comparison: Comparison) -> Table:
    """One row per solver: time an iteration, time to each accuracy, and where it ended."""
    result = Table(title=f"One step of {comparison.vertices:,} vertices, {comparison.precision} precision")
    result.add_column("solver")
    for head in ("setup", "an iteration", *(f"to {a:g}" for a in SHOWN), "at the end", "residual"):
        result.add_column(head, justify="right")
    for run in comparison.runs:
        reached = [run.reaches(accuracy) for accuracy in SHOWN]
        cells = ["-" if r is None else f"{_duration(r[1])} ({r[0]})" for r in reached]
        each = run.seconds[-1] / max(run.iterations[-1], 1)
        end = (f"{run.errors[-1]:.1e}", f"{run.residuals[-1]:.1e} m/s^2")
        result.add_row(run.name, _duration(run.setup_seconds), _duration(each), *cells, *end)
    return result


def _duration(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"


def summary(comparison: Comparison) -> dict[str, Any]:
    """What the table and the sentences say, as numbers; iterations and seconds to each accuracy, or None."""
    solvers = []
    for run in comparison.runs:
        reached = {f"{accuracy:g}": run.reaches(accuracy) for accuracy in SHOWN}
        solvers.append(
            {
                "name": run.name,
                "setup_seconds": run.setup_seconds,
                "iterations": run.iterations[-1],
                "seconds": run.seconds[-1],
                "relative_energy_error": run.errors[-1],
                "residual_m_per_s2": run.residuals[-1],
                "reached": {a: r and {"iterations": r[0], "seconds": r[1]} for a, r in reached.items()},
            }
        )
    about = {"vertices": comparison.vertices, "precision": comparison.precision}
    return {**about, "solvers": solvers, "verdicts": comparison.verdicts()}


def motion_summary(motion: MotionComparison) -> list[dict[str, Any]]:
    """Of each solver: frames it did, its distances to the converged motion over the scene's size, seconds per frame."""
    return [
        {
            "name": run.name,
            "frames": len(run.distances),
            "distance_at_end": run.distances[-1] if run.distances else None,
            "distance_largest": max(run.distances, default=None),
            "seconds_a_frame": sum(run.seconds) / len(run.seconds) if run.seconds else None,
            "ended": run.ended,
        }
        for run in motion.runs
    ]


def save(comparison: Comparison, folder: Path, name: str = "compare") -> list[Path]:
    """Write NAME.csv and NAME.json; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{kind}" for kind in ("csv", "json")]
    with paths[0].open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["solver", "iterations", "seconds", "relative_energy_error", "residual_m_per_s2"])
        for run in comparison.runs:
            for row in zip(run.iterations, run.seconds, run.errors, run.residuals, strict=True):
                writer.writerow([run.name, *row])
    about = {**asdict(comparison), "verdicts": comparison.verdicts()}
    paths[1].write_text(json.dumps(about, indent=1) + "\n")
    return paths


def save_pictures(comparison: Comparison, folder: Path, name: str = "compare") -> list[Path]:
    """Write NAME.png and NAME.svg; their paths."""
    figure = draw(comparison)
    paths = [folder / f"{name}.{kind}" for kind in ("png", "svg")]
    for path in paths:
        figure.savefig(path, dpi=120, facecolor="white")
    return paths


def draw(comparison: Comparison) -> Any:
    """Relative error of the energy against iterations and against time, side by side."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise PliantError('Curves need the package matplotlib: pip install "pliant[plot]".') from None
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    lowest = 1.0
    for number, run in enumerate(comparison.runs):
        errors = np.maximum(run.errors, SMALLEST)
        lowest = min(lowest, float(np.nanmin(errors)))
        style = {"color": f"C{number % 10}", "ls": ("-", "--", ":")[number // 10 % 3], "lw": 1.5}
        axes[0].loglog(np.maximum(run.iterations, 0.5), errors, label=run.name, **style)
        axes[1].loglog(np.maximum(run.seconds, run.seconds[1] / 2), errors, **style)
    axes[0].set(xlabel="iterations (start at 0.5)", ylabel="relative error of the energy", ylim=(0.5 * lowest, 3))
    axes[1].set(xlabel="seconds in the solver")
    for ax in axes:
        ax.grid(alpha=0.3)
    figure.legend(loc="outside right upper", fontsize=8)
    return figure
