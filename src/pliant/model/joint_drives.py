"""Limits, springs, dampers and motors of hinges, sliders and distances: rows of elements.joint_drive."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.elements.joint import RATIO
from pliant.elements.joint_drive import (
    DAMPER,
    HIGH,
    LOW,
    SPEED,
    SPRING,
    TARGET,
    TORQUE,
    JointAngles,
    JointDrives,
    JointSlides,
)
from pliant.elements.joint_length import JointLengths
from pliant.errors import SceneError
from pliant.model import checks
from pliant.model.motors import Motor

DRIVEN: dict[str, type[JointDrives]] = {"hinge": JointAngles, "slider": JointSlides, "distance": JointLengths}
LENGTHS = ("m", "N/m", "N s/m")
UNITS = {"hinge": ("rad", "N m/rad", "N m s/rad"), "slider": LENGTHS, "distance": LENGTHS}


@dataclass
class Drive:
    """What drives and stops a joint. Made by Scene.add_joint; a motor may be replaced by another one."""

    limits: tuple[float, float] | None = None  # [rad] or [m] from where the scene starts, of a distance [m]
    spring: float = 0.0  # [N m/rad] or [N/m]
    damping: float = 0.0  # [N m s/rad] or [N s/m]
    rest: float = 0.0  # of the spring [rad] or [m]
    motor: Motor | None = None

    @property
    def is_there(self) -> bool:
        """Whether it does anything."""
        return self.limits is not None or self.spring > 0 or self.damping > 0 or self.motor is not None

    def rows(self) -> list[tuple[int, float, float, float, float]]:
        """Role, value, largest torque, largest speed and stiffness (inf: rigid) of each; a motor's is the last one."""
        rows = []
        if self.limits is not None:
            ends = zip((LOW, HIGH), self.limits, strict=True)
            rows += [(role, end, math.inf, 0.0, math.inf) for role, end in ends if math.isfinite(end)]
        if self.spring > 0:
            rows.append((SPRING, self.rest, math.inf, 0.0, self.spring))
        if self.damping > 0:
            rows.append((DAMPER, 0.0, math.inf, 0.0, self.damping))
        return rows if self.motor is None else [*rows, motor_row(self.motor)]

    def block(self, kind: str, corners: np.ndarray, stiffness: float, inertia: float) -> JointDrives:
        """Its rows at corners (4,) of a scene; stiffness [N m/rad or N/m] of limits, 0 of a joint that is broken;
        inertia [kg m^2 or kg] of what it moves.
        """
        rows = self.rows()
        role, value, most, pace, own = (np.array(column) for column in zip(*rows, strict=True))
        k = np.where(np.isin(role, (LOW, HIGH)), stiffness, own)
        is_rigid = np.isinf(k)
        k = np.where(is_rigid, RATIO * inertia, k) * (stiffness > 0)
        middle = math.nan if self.limits is None else 0.5 * sum(self.limits)
        middles = np.full(len(rows), middle if math.isfinite(middle) else math.nan)
        zero = np.zeros(len(rows))
        numbers = (middles, np.full(len(rows), inertia), is_rigid, zero, zero, k, zero, zero)
        return DRIVEN[kind](np.tile(corners, (len(rows), 1)), role, value, most, pace, *numbers)


def motor_row(motor: Motor) -> tuple[int, float, float, float, float]:
    """Role, value, largest torque, largest speed on the way and stiffness."""
    if motor.torque is not None:
        return TORQUE, motor.torque, motor.max_torque, 0.0, math.inf
    if motor.angle is None:
        return SPEED, float(motor.speed or 0.0), motor.max_torque, 0.0, math.inf
    return TARGET, motor.angle, motor.max_torque, math.inf if motor.speed is None else motor.speed, math.inf


def make_drive(
    what: str, kind: str, start: float, limits: Any, spring: float, damping: float, rest: float | None,
    motor: Motor | None,
) -> Drive | None:  # fmt: skip
    """Check what a user gives for a joint of a kind; what: for messages; start: the coordinate of a distance [m], 0 of
    others. None if nothing is given.
    """
    if not (limits is not None or spring or damping or rest or motor is not None):
        return None
    if kind not in DRIVEN:
        raise SceneError(
            f"{what}: limits, spring, damping, rest and motor belong to a hinge, a slider or a distance; leave them "
            "out. A ball has cone and twist, a universal limits and twist."
        )
    way, stiff, viscous = UNITS[kind]
    if motor is not None:
        checks.instance(motor, Motor, f"{what}: motor", "pl.Motor(speed=..., max_torque=...)")
    drive = Drive(
        None if limits is None else check_limits(limits, f"{what}: limits", kind, way, start),
        checks.number(spring, f"{what}: spring", stiff),
        checks.number(damping, f"{what}: damping", viscous),
        (start if spring else 0.0) if rest is None else checks.real(rest, f"{what}: rest", way),
        motor,
    )
    if rest and not spring:
        raise SceneError(f"{what}: rest belongs to a spring: give spring [{stiff}] too.")
    return drive


def check_limits(given: Any, what: str, kind: str, unit: str, start: float = 0.0) -> tuple[float, float]:
    """Two limits of a coordinate that starts between them."""
    try:
        low, high = (checks.real(value, what, unit) for value in given)
    except (TypeError, ValueError):
        raise SceneError(f"{what} are {given!r}: give two numbers [{unit}], the lower one first.") from None
    if not low < high:
        raise SceneError(f"{what} are {low:g} and {high:g}: the lower one comes first; give ({high:g}, {low:g}).")
    if not low <= start <= high:
        raise SceneError(f"{what} are {low:g} and {high:g}: {start:g}, where the joint starts, must be within them.")
    if kind == "hinge" and high - low >= 2 * math.pi:
        raise SceneError(
            f"{what} are {low:g} and {high:g}: a hinge with limits turns less than a full turn, 6.283 rad."
        )
    return low, high
