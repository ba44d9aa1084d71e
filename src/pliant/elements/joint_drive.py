"""What drives and stops a joint: limits, springs, dampers and motors, as rows of its coordinate q.

    angle  q [rad] of a hinge: of the first body about the axis, which the second one carries
    slide  q [m] of a slider: of the first body along the axis of the second

        1  axis, on the second body            slide  q = (x_0 - x_1) . (x_3 - x_2)
        |                                             x_0 on the first body, others on the second,
    2 --0-- 3                                         |x_3 - x_2| = 1 m
        arms of the second and the first body

A distance is in elements.joint_length.

Every row is a spring whose force has bounds:

    dE/dq = clamp(k (q - rest), lowest, highest),    E its integral

    limit     rest at the limit, bounds 0 and infinite      damper  k = c / h, rest at the start of the step
    spring    no bounds                                     torque  both bounds equal to it
    speed     rest at the start of the step and h times the speed, bounds of the motor's largest torque
    target    rest at the target, or as far towards it as the motor's speed leads within the step; same bounds

A block of a model holds what a user gives; `over` makes the numbers of a step of it. Infinite k is RATIO I / h^2 with
the inertia I about the axis, as of elements.joint; pl.AVBD holds such rows by multipliers (elements.hard).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pliant.elements.block import Block, Invariance
from pliant.elements.element import Element, View
from pliant.elements.hinge import angle_at_edge, angle_at_wing
from pliant.lanes import maximum, minimum, number, select
from pliant.lanes.vectors import add_scaled, add_square, dot, physics, subtract

LOW, HIGH, SPRING, DAMPER, TORQUE, SPEED, TARGET = range(7)  # what a row does
UNBOUNDED = 1e30  # [N m] in place of an infinite bound
MOVING, AXIS = 1.25, 10.0  # blocks of the second body's three corners: 1 / 1.25 + 2 / 10 = 1 bounds their sum squared
HALF_TURN = math.pi
TINY = 1e-37  # divides in place of zero
HARD_PATH = "hard drives"


@dataclass(frozen=True)
class JointDrives(Block, ABC):
    """Rows (m, 4) of joints' coordinates. offset, rest, lowest and highest belong to a step."""

    energy_name = "drive"
    is_stored = False
    invariance = Invariance.RIGID

    role: np.ndarray  # (m,) LOW to TARGET
    value: np.ndarray  # (m,) limit, rest or target [rad or m], speed [rad/s or m/s], torque [N m or N]
    most: np.ndarray  # (m,) largest torque of a motor [N m or N]
    pace: np.ndarray  # (m,) largest speed on the way to a target
    middle: np.ndarray  # (m,) of the limits, about which angles are counted; nan without
    inertia: np.ndarray  # (m,) about the axis [kg m^2], or along it [kg]
    is_rigid: np.ndarray  # (m,) bool: whether the stiffness is RATIO times the inertia
    offset: np.ndarray  # (m,) that q is counted from
    rest: np.ndarray  # (m,) of q - offset
    stiffness: np.ndarray  # (m,) k [N m/rad or N/m]; of a damper [N m s]; of a broken joint 0
    lowest: np.ndarray  # (m,) of dE/dq [N m or N]
    highest: np.ndarray  # (m,)

    @abstractmethod
    def coordinates(self, x: np.ndarray) -> np.ndarray:
        """q (m,) at positions x (n, 3) [m]; angles within half a turn of zero."""

    def over(self, h: float, x_prev: np.ndarray) -> Self:
        q, role = self.coordinates(x_prev), self.role
        fixed = np.isin(role, (SPRING, TARGET))
        offset = np.where(np.isnan(self.middle), np.where(fixed, self.value, q), self.middle)
        q = offset + self.nearest(q - offset)
        step = np.select(
            [role == DAMPER, role == SPEED, role == TARGET, role == TORQUE],
            [q, q + h * self.value, q + np.clip(self.value - q, -h * self.pace, h * self.pace), offset],
            self.value,
        )
        most = np.minimum(self.most, UNBOUNDED)
        lowest, highest = np.where(role == HIGH, 0.0, -most), np.where(role == LOW, 0.0, most)
        works = self.stiffness > 0
        lowest, highest = (
            works * np.where(role == TORQUE, -np.clip(self.value, -most, most), bound) for bound in (lowest, highest)
        )
        k = np.where(self.is_rigid, self.stiffness / h**2, np.where(role == DAMPER, self.stiffness / h, self.stiffness))
        return replace(self, offset=offset, rest=step - offset, stiffness=k, lowest=lowest, highest=highest)

    def nearest(self, q: np.ndarray) -> np.ndarray:
        """Coordinates (m,), of angles within half a turn of zero."""
        return q

    @property
    def returns(self) -> np.ndarray:
        """(m,) bool: rows of a place that does not move with the step, to which errors are taken back slowly."""
        return np.isin(self.role, (LOW, HIGH, SPRING))


@dataclass(frozen=True)
class JointAngles(JointDrives):
    """Angles of hinges."""

    def coordinates(self, x: np.ndarray) -> np.ndarray:
        return joint_angles(x[self.elements])

    def over(self, h: float, x_prev: np.ndarray) -> Self:
        step = super().over(h, x_prev)
        return replace(step, offset=self.nearest(step.offset))

    def nearest(self, q: np.ndarray) -> np.ndarray:
        return np.pi - np.mod(np.pi - q, 2 * np.pi)


@dataclass(frozen=True)
class JointSlides(JointDrives):
    """Ways along sliders."""

    def coordinates(self, x: np.ndarray) -> np.ndarray:
        return joint_slides(x[self.elements])


@dataclass(frozen=True)
class HardAngles(JointAngles):
    """Angles whose rests are shifted by multipliers."""

    def over(self, h: float, x_prev: np.ndarray) -> Self:
        return self  # its numbers are those of a step


@dataclass(frozen=True)
class HardSlides(JointSlides):
    """Ways along sliders whose rests are shifted by multipliers."""

    def over(self, h: float, x_prev: np.ndarray) -> Self:
        return self  # its numbers are those of a step


def joint_angles(corners: np.ndarray) -> np.ndarray:
    """q (m,) [rad] of hinges with corners (m, 4, 3), in (-pi, pi]: of arm 3 against arm 2 about the axis."""
    axis, mine, theirs = (corners[:, k] - corners[:, 0] for k in (1, 3, 2))
    length = np.linalg.norm(axis, axis=1)
    sine = np.einsum("ma,ma->m", axis, np.cross(theirs, mine)) * length
    cosine = np.einsum("ma,ma->m", np.cross(axis, theirs), np.cross(axis, mine))
    return np.arctan2(sine, cosine)


def joint_slides(corners: np.ndarray) -> np.ndarray:
    """q (m,) [m] of sliders with corners (m, 4, 3)."""
    return np.einsum("ma,ma->m", corners[:, 0] - corners[:, 1], corners[:, 3] - corners[:, 2])


@physics
def bounded_force(c, stiffness, lowest, highest):
    """dE/dq [N m or N] at c = q - rest."""
    return minimum(maximum(stiffness * c, lowest), highest)


@physics
def turned_back(c):
    """An angle within two turns of zero, by a turn nearer to it."""
    half = number(HALF_TURN, c)
    c = select(c > half, c - 2.0 * half, c)
    return select(c < -half, c + 2.0 * half, c)


@physics
def angle_from(theta, offset, rest):
    """q - rest of a hinge of elements.hinge with the angle theta, which is half a turn where both arms coincide."""
    half = number(HALF_TURN, theta)
    return turned_back(turned_back(theta - offset) + half) - rest


@physics
def bounded_energy(c, stiffness, lowest, highest):
    """E [J] at c = q - rest."""
    force = bounded_force(c, stiffness, lowest, highest)
    return force * c - 0.5 * force * force / maximum(stiffness, number(TINY, stiffness))


@physics
def add_bounded(f, H, c, gradient, share, stiffness, lowest, highest):
    """Add the force on a corner and its block, `share` times as large; gradient dq/dx of the corner.

    Where a bound acts the block has the secant's slope, force / c, with which a step never passes the other bound
    (iteratively reweighted least squares); the exact one, zero, makes positions alternate about the rest.
    """
    force = bounded_force(c, stiffness, lowest, highest)
    zero = number(0.0, c)
    k = select(force == stiffness * c, stiffness, maximum(force / c, zero))
    k = select(lowest < highest, k, zero)
    return add_scaled(f, -force, gradient), add_square(H, share * k, gradient)


@physics
def arm_energy(a, b, c, offset, rest, stiffness, lowest, highest):
    """E [J] of an angle, seen from an arm: as elements.hinge.energy_at_wing."""
    theta, _ = angle_at_wing(a, b, c)
    return bounded_energy(angle_from(theta, offset, rest), stiffness, lowest, highest)


@physics
def add_first_arm(f, H, a, b, c, offset, rest, stiffness, lowest, highest):
    """Add the force on the first body's arm and its block."""
    theta, gradient = angle_at_wing(a, b, c)
    return add_bounded(f, H, angle_from(theta, offset, rest), gradient, 1.0, stiffness, lowest, highest)


@physics
def add_second_arm(f, H, a, b, c, offset, rest, stiffness, lowest, highest):
    """Add the force on the second body's arm and its block."""
    theta, gradient = angle_at_wing(a, b, c)
    return add_bounded(f, H, angle_from(theta, offset, rest), gradient, MOVING, stiffness, lowest, highest)


@physics
def axis_energy(b, c, d, offset, rest, stiffness, lowest, highest):
    """E [J] of an angle, seen from an end of the axis."""
    theta, _ = angle_at_edge(b, c, d)
    return bounded_energy(angle_from(theta, offset, rest), stiffness, lowest, highest)


@physics
def add_axis(f, H, b, c, d, offset, rest, stiffness, lowest, highest):
    """Add the force on an end of the axis and its block."""
    theta, gradient = angle_at_edge(b, c, d)
    return add_bounded(f, H, angle_from(theta, offset, rest), gradient, AXIS, stiffness, lowest, highest)


@physics
def first_slide_energy(other, start, end, offset, rest, stiffness, lowest, highest):
    """E [J] of a slide, seen from the first body's point."""
    return bounded_energy(-dot(other, subtract(end, start)) - offset - rest, stiffness, lowest, highest)


@physics
def add_first_slide(f, H, other, start, end, offset, rest, stiffness, lowest, highest):
    """Add the force on the first body's point and its block."""
    axis = subtract(end, start)
    return add_bounded(f, H, -dot(other, axis) - offset - rest, axis, 1.0, stiffness, lowest, highest)


@physics
def second_slide_energy(other, start, end, offset, rest, stiffness, lowest, highest):
    """E [J] of a slide, seen from the second body's point."""
    return bounded_energy(dot(other, subtract(end, start)) - offset - rest, stiffness, lowest, highest)


@physics
def add_second_slide(f, H, other, start, end, offset, rest, stiffness, lowest, highest):
    """Add the force on the second body's point and its block."""
    axis = subtract(start, end)
    return add_bounded(f, H, -dot(other, axis) - offset - rest, axis, MOVING, stiffness, lowest, highest)


@physics
def slide_axis_energy(other, one, two, offset, rest, stiffness, lowest, highest):
    """E [J] of a slide, seen from an end of the axis: its other end, and the points towards which it counts."""
    return bounded_energy(dot(other, subtract(one, two)) - offset - rest, stiffness, lowest, highest)


@physics
def add_slide_axis(f, H, other, one, two, offset, rest, stiffness, lowest, highest):
    """Add the force on an end of the axis and its block."""
    way = subtract(two, one)
    return add_bounded(f, H, -dot(other, way) - offset - rest, way, AXIS, stiffness, lowest, highest)


NUMBERS = ("offset", "rest", "stiffness", "lowest", "highest")

JOINT_ANGLE = Element(
    JointAngles,
    "joints' angles",
    corners=4,
    numbers=NUMBERS,
    views=(
        View(((3, 1, 0, 2),), add_first_arm, arm_energy),
        View(((2, 0, 1, 3),), add_second_arm, arm_energy),
        View(((0, 1, 2, 3), (1, 0, 3, 2)), add_axis, axis_energy),
    ),
    changes=True,
)
JOINT_SLIDE = Element(
    JointSlides,
    "joints' slides",
    corners=4,
    numbers=NUMBERS,
    views=(
        View(((0, 1, 2, 3),), add_first_slide, first_slide_energy),
        View(((1, 0, 2, 3),), add_second_slide, second_slide_energy),
        View(((2, 3, 0, 1), (3, 2, 1, 0)), add_slide_axis, slide_axis_energy),
    ),
    changes=True,
)
HARD_ANGLE = replace(JOINT_ANGLE, block=HardAngles, name="hard angles", changes=False, path=HARD_PATH)
HARD_SLIDE = replace(JOINT_SLIDE, block=HardSlides, name="hard slides", changes=False, path=HARD_PATH)
