"""Checks of the options that solvers share."""

from __future__ import annotations

import numbers
from typing import Any

from pliant.errors import SolverError
from pliant.kernels.predict import STARTS
from pliant.model import Model, Pressures


def check_count(value: Any, what: str) -> None:
    """A whole number of at least 1."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise SolverError(f"{what} is {value!r}: give a whole number of at least 1.")


def check_start(value: Any, what: str) -> None:
    """One of the starts of VBD 3.7."""
    if value not in STARTS:
        raise SolverError(f"{what} is {value!r}: choose one of {', '.join(STARTS)}.")


def check_solver(value: Any, what: str) -> None:
    """An object that can sweep."""
    if isinstance(value, type):
        raise SolverError(
            f"{what} is the class {value.__name__}: give an object of it, such as {value.__name__}(iterations=20)."
        )
    if not hasattr(value, "sweep"):
        raise SolverError(f"{what} is {value!r}: give a solver such as pl.VBD(iterations=20).")


def check_fits(solver: Any, model: Model) -> None:
    """Refuse a scene that the solver, or a part that wraps it, cannot carry, before any work."""
    present = {
        "contact": model.contact is not None,
        "pressure": any(isinstance(block, Pressures) for block in model.blocks),
        "pl.Invertible materials": model.internal_state.size > 0,
    }
    layers = [solver]
    while hasattr(layers[-1], "solver"):
        layers.append(layers[-1].solver)
    for what in (what for what, is_there in present.items() if is_there):
        for layer in layers:
            passes_on = hasattr(layer, "solver") and not hasattr(layer, "supports")
            if not passes_on and what not in getattr(layer, "supports", ()):
                raise SolverError(
                    f"{type(layer).__name__} does not carry {what}: use VBD or Newton, or build the scene without it."
                )
