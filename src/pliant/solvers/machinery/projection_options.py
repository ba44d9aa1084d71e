"""Checks of the options that constraint solvers share."""

from __future__ import annotations

from typing import Any

from pliant.arguments import is_finite_number, is_one_of
from pliant.errors import SolverError

MODES = ("gauss-seidel", "jacobi")


def check_projection(solver: str, mode: Any, relaxation: Any) -> None:
    """How elements are visited, and how much of a correction is made."""
    if not is_one_of(mode, MODES):
        raise SolverError(f"{solver}: mode is {mode!r}: choose one of {', '.join(MODES)}.")
    if not (is_finite_number(relaxation) and 0 < relaxation < 2):
        raise SolverError(f"{solver}: relaxation is {relaxation!r}: give a number between 0 and 2, both excluded.")
