"""The distance of two points as a joint's coordinate, with the rows of elements.joint_drive.

    q = |x_1 - x_0| [m]

Limits, springs, dampers and winches act along the line between the points. Where a row pulls, its block has the part
across the line that elements.spring has; where it pushes, that part is negative and left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pliant.elements.element import Element, View
from pliant.elements.joint_drive import HARD_PATH, NUMBERS, JointDrives, add_bounded, bounded_energy, bounded_force
from pliant.elements.spring import LEAST_LENGTH
from pliant.lanes import maximum, number, sqrt
from pliant.lanes.vectors import add_identity, add_square, dot, physics


@dataclass(frozen=True)
class JointLengths(JointDrives):
    """Distances of points (m, 2)."""

    def coordinates(self, x: np.ndarray) -> np.ndarray:
        ends = x[self.elements]
        return np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)


@dataclass(frozen=True)
class HardLengths(JointLengths):
    """Distances whose rests are shifted by multipliers."""

    def over(self, h: float, x_prev: np.ndarray) -> Self:
        return self  # its numbers are those of a step


@physics
def length_energy(r, offset, rest, stiffness, lowest, highest):
    """E [J]; r from the point to the other one."""
    return bounded_energy(sqrt(dot(r, r)) - offset - rest, stiffness, lowest, highest)


@physics
def add_length(f, H, r, offset, rest, stiffness, lowest, highest):
    """Add the force on the point and its block."""
    length = sqrt(dot(r, r))
    inverse = 1.0 / maximum(length, number(LEAST_LENGTH, length))
    gradient = (-inverse * r[0], -inverse * r[1], -inverse * r[2])
    c = length - offset - rest
    pull = maximum(bounded_force(c, stiffness, lowest, highest), number(0.0, c)) * inverse
    H = add_square(add_identity(H, pull), -pull, gradient)
    return add_bounded(f, H, c, gradient, 1.0, stiffness, lowest, highest)


JOINT_LENGTH = Element(
    JointLengths,
    "joints' distances",
    corners=2,
    numbers=NUMBERS,
    views=(View(((0, 1), (1, 0)), add_length, length_energy),),
    changes=True,
)
HARD_LENGTH = replace(JOINT_LENGTH, block=HardLengths, name="hard distances", changes=False, path=HARD_PATH)
