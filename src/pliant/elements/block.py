"""Elements of one kind, of all bodies, as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import ClassVar, Self

import numpy as np


class Tearing(Enum):
    """What becomes of elements when a sheet tears, a spring breaks or something is deleted."""

    STAYS = "stays"  # nothing: they cannot be taken apart
    FOLLOWS_TRIANGLES = "follows triangles"  # one for each triangle of a sheet, at its corners
    FOLLOWS_FOLDS = "follows folds"  # two neighbouring triangles of a sheet; gone when these part
    FOLLOWS_FOLD_PAIRS = "follows fold pairs"  # a triangle of a sheet and two neighbours; gone when one parts
    FOLLOWS_PLATE = "follows plate"  # a triangle of a sheet and those around it; gone when one parts
    FOLLOWS_FOLD_FANS = "follows fold fans"  # four triangles around a vertex of a sheet; gone when one parts
    BREAKS = "breaks"  # by itself, when it is too long
    FOLLOWS_SPRINGS = "follows springs"  # gone when a spring between two of its neighbouring corners breaks
    GROWS = "grows"  # one for each vertex, new ones too


class Invariance(Enum):
    """Which motions of all corners together leave an element's energy as it is: momentum that no element changes."""

    NONE = "none"
    TRANSLATION = "translation"
    RIGID = "rigid"  # translation and rotation


@dataclass(frozen=True)
class Block:
    """Elements of one kind. Every array has one entry per element first."""

    energy_name: ClassVar[str] = "elastic"  # under which energies are reported
    is_viscous: ClassVar[bool] = False  # whether it sees displacements since the start of the step, not positions
    is_stored: ClassVar[bool] = True  # whether its energy belongs to a state; that of damping belongs to a step
    tearing: ClassVar[Tearing] = Tearing.STAYS
    invariance: ClassVar[Invariance] = Invariance.NONE
    changes_in_time: ClassVar[bool] = False  # whether `at` gives other numbers at other times

    elements: np.ndarray  # (m, k) vertices

    @property
    def key(self) -> tuple[type, ...]:
        """Blocks of the same key are one block."""
        return (type(self),)

    @property
    def internal_state_size(self) -> int:
        """How many numbers its elements keep from iteration to iteration."""
        return 0

    def taken(self, rows: np.ndarray) -> Self:
        """Some of its elements."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: array[rows] for name, array in arrays.items() if isinstance(array, np.ndarray)})

    def with_internal_state(self, internal_state: np.ndarray) -> Block:
        """The same block, whose internal state (internal_state_size,) is this array and changes with it."""
        return self

    def at(self, time: float) -> Self:
        """As it is at a time [s]."""
        return self

    def over(self, h: float, x_prev: np.ndarray) -> Self:
        """As a step of length h [s] from x_prev (n, 3) [m] sees it."""
        return self
