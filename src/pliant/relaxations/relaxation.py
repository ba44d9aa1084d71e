"""What every relaxation is: a frozen dataclass of options that improves the impulses of a ConstraintProblem."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, ClassVar, TypeVar

from pliant.arguments import is_finite_number, is_one_of
from pliant.constraints.problem import ConstraintProblem
from pliant.constraints.sweeps import Pace
from pliant.errors import SolverError

R = TypeVar("R", bound="Relaxation")
RELAXATIONS: dict[str, type[Relaxation]] = {}
WEIGHTS = ("diagonal", "count", "bounded")  # in the order of their numbers in constraints.rows


class Relaxation(ABC):
    """`begin` once per step, then `iterate`; all that changes is in the problem."""

    resists_rolling: ClassVar[bool] = True  # whether it finds torques of rolling resistance

    def begin(self, problem: ConstraintProblem) -> None:
        """Prepare for new rows; where there is nothing to prepare, do nothing."""
        del problem

    @abstractmethod
    def iterate(self, problem: ConstraintProblem, n: int) -> None:
        """n iterations; n calls of one give the same bits as one of n."""

    def pace(self, done: int, planned: int) -> Pace | None:
        """How the impulses of all constraints change at once after so many of the planned iterations; None where it is
        not Jacobi, which alone runs on a device.
        """
        del done, planned
        return None

    def options(self) -> dict[str, Any]:
        """The fields of the dataclass by name."""
        return {field.name: vars(self)[field.name] for field in fields(self)}  # type: ignore[arg-type]


def register_relaxation(kind: type[R]) -> type[R]:
    """Make it known by its name to files and command lines."""
    RELAXATIONS[kind.__name__] = kind
    return kind


def relaxation_of(value: Any, what: str) -> Relaxation:
    """A relaxation, or the usual one of a name such as "jacobi"."""
    if isinstance(value, Relaxation):
        return value
    by_name = {name.casefold(): kind for name, kind in RELAXATIONS.items()}
    if isinstance(value, str) and value.casefold() in by_name:
        return by_name[value.casefold()]()
    if isinstance(value, type) and issubclass(value, Relaxation):
        raise SolverError(f"{what} is the class {value.__name__}: give an object of it, {value.__name__}().")
    raise SolverError(f"{what} is {value!r}: give one of {', '.join(f'pl.{name}()' for name in RELAXATIONS)}.")


def check_real(value: Any, what: str, least: float, below: float = math.inf, is_open: bool = True) -> None:
    """A number between two bounds; the lower one excluded if `is_open`."""
    if not is_finite_number(value) or value < least or (is_open and value == least) or value >= below:
        bounds = f"above {least:g}" if is_open else f"of at least {least:g}"
        limit = "" if below == math.inf else f" and below {below:g}"
        raise SolverError(f"{what} is {value!r}: give a number {bounds}{limit}.")


def check_weights(value: Any, what: str) -> None:
    """One of WEIGHTS."""
    if not is_one_of(value, WEIGHTS):
        raise SolverError(f"{what} is {value!r}: choose one of {', '.join(WEIGHTS)}.")
