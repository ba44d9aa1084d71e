"""Comparisons as the pictures and numbers of this folder."""

from __future__ import annotations

from pathlib import Path

from experiments.vbd import outputs as files

from pliant.comparison import Comparison, outputs

FOLDER = Path(__file__).parent / "results"
ACCURACIES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)
MOMENTS = (8, 32, 96, 200)  # iterations whose errors are kept


def save(name: str, comparison: Comparison) -> None:
    """results/NAME.png and results/NAME.json."""
    files.save(name, outputs.draw(comparison), numbers_of(comparison), FOLDER)


def numbers_of(comparison: Comparison) -> dict:
    return {
        "vertices": comparison.vertices,
        "precision": comparison.precision,
        "reference_residual_m_per_s2": comparison.reference_residual,
        "verdicts": comparison.verdicts(),
        "runs": {
            run.name: {
                "ms_an_iteration": 1e3 * run.seconds[-1] / run.iterations[-1],
                "setup_ms": 1e3 * run.setup_seconds,
                "iterations_and_ms_to_error": {
                    f"{a:g}": None if run.reaches(a) is None else [run.reaches(a)[0], 1e3 * run.reaches(a)[1]]
                    for a in ACCURACIES
                },
                "error_after_iterations": {str(n): error_after(run, n) for n in MOMENTS},
                "error_at_end": run.errors[-1],
                "iterations": run.iterations[-1],
            }
            for run in comparison.runs
        },
    }


def error_after(run, n: int) -> float | None:
    """The error at the last measured moment up to n iterations; None if it did fewer."""
    if run.iterations[-1] < n:
        return None
    return [error for done, error in zip(run.iterations, run.errors, strict=True) if done <= n][-1]
