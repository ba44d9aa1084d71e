"""Checks of the options that solvers share."""

from __future__ import annotations

import numbers
from typing import Any

from pliant.arguments import is_finite_number, is_one_of
from pliant.errors import SolverError
from pliant.kernels.predict import STARTS


def check_count(value: Any, what: str, least: int = 1) -> None:
    """A whole number of at least 1, or of `least`."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise SolverError(f"{what} is {value!r}: give a whole number of at least {least}.")


def check_start(value: Any, what: str) -> None:
    """One of the starts of VBD 3.7."""
    if not is_one_of(value, STARTS):
        raise SolverError(f"{what} is {value!r}: choose one of {', '.join(STARTS)}.")


def check_tolerance(value: Any, what: str) -> None:
    """A part of the step's forces, or None."""
    if value is not None and not (is_finite_number(value) and 0 < value < 1):
        raise SolverError(f"{what} is {value!r}: give a part of the step's forces between 0 and 1, such as 0.01.")
