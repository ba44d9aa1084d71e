"""A picture of a sweep's table: one column over the first key, a line per combination of the others."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from pliant.errors import PliantError
from pliant.scenes.sweeps import COLUMNS, Sweep


def check_column(column: str) -> None:
    """Refuse a column that the table does not have, or that cannot be drawn, before anything runs."""
    if column not in COLUMNS:
        raise PliantError(f"--plot {column}: the table has no such column; choose one of {', '.join(COLUMNS)}.")
    _pyplot()


def lines(sweep: Sweep, column: str) -> dict[str, list[tuple[str, float]]]:
    """Values of the first key and of the column, of all runs that are done, by the values of the other keys."""
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for job, (first, *others) in enumerate(sweep.jobs):
        value = (sweep.report_of(job) or {}).get(column)
        if value is not None:
            label = ", ".join(f"{one.key}={v}" for one, v in zip(sweep.grid[1:], others, strict=True))
            found[label].append((first, float(value)))
    return dict(found)


def draw(sweep: Sweep, column: str) -> Path:
    """results.png in the sweep's folder."""
    plt = _pyplot()
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for label, points in lines(sweep, column).items():
        keys = [_number(key) for key, _ in points]
        axes.plot(keys, [value for _, value in points], marker="o", label=label)
    axes.set(xlabel=sweep.grid[0].key, ylabel=column)
    if len(sweep.grid) > 1:
        axes.legend(frameon=False)
    path = sweep.folder / "results.png"
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return path


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise PliantError('--plot needs the package matplotlib: pip install "pliant[plot]".') from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt
