"""Checks of the options that constraint solvers share."""

from __future__ import annotations

import numbers
from typing import Any

from pliant.errors import SolverError

MODES = ("gauss-seidel", "jacobi")


def check_projection(solver: str, mode: Any, relaxation: Any) -> None:
    """How elements are visited, and how much of a correction is made."""
    if mode not in MODES:
        raise SolverError(f"{solver}: mode is {mode!r}: choose one of {', '.join(MODES)}.")
    is_number = isinstance(relaxation, numbers.Real) and not isinstance(relaxation, bool)
    if not is_number or not 0 < relaxation < 2:
        raise SolverError(f"{solver}: relaxation is {relaxation!r}: give a number between 0 and 2, both excluded.")
