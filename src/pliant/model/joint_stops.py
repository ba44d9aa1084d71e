"""Limits of joints with more than one angle.

    ball        cone   the largest angle between the axis of a and that of b, from 0 to pi
                twist  the angle of a direction across a's axis, about b's axis
    universal   bend   the angle of a's axis about b's direction across it
                twist  the angle of a about its own axis

All are rows of elements.joint_drive. A cone of the angle c is a slide: the tip of a's axis, l from the joint, is at
least l cos(c) along the axis of b, which turns with a torque l sin(c) times its force. Bend and twist are angles. The
twist of a ball is that of a decomposition into swing and twist where either is zero; in a swing s it may differ by
atan(tan^2(s/2)), 1 degree at 15 and 4 degrees at 30.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from pliant.errors import SceneError
from pliant.model import checks
from pliant.model.joint_drives import check_limits

NARROWEST = 0.01  # [rad] of a cone: a smaller one is a universal's or a hinge's task


@dataclass
class Stop:
    """Limits of one coordinate: the angle of a hinge or the way of a slider."""

    coordinate: str  # "hinge" or "slider"
    limits: tuple[float, float]  # [rad] or [m]
    lines: tuple[int, ...]  # about which of the joint's three directions it turns (joint_points.axes_of)
    corners: list[tuple[int, int]] = field(default_factory=list)  # (side, vertex)


def check_stops(
    what: str, kind: str, cone: float | None, twist: Any, bend: Any
) -> tuple[float | None, tuple[float, float] | None, tuple[float, float] | None]:
    """Cone [rad], limits of twist and of bend [rad] as a user gives them for a joint of a kind."""
    if cone is not None and kind != "ball":
        raise SceneError(f"{what}: only a ball has a cone; leave it out.")
    if twist is not None and kind not in ("ball", "universal"):
        raise SceneError(f"{what}: only a ball or a universal has a twist; leave it out.")
    if cone is not None:
        cone = checks.number(cone, f"{what}: cone", "rad", positive=True)
        if not NARROWEST <= cone < math.pi:
            raise SceneError(
                f"{what}: cone is {cone:g}: give an angle from {NARROWEST:g} to below 3.1416 rad; hinges and fixed "
                "joints leave less free."
            )
    if kind == "ball" and twist is not None and (cone is None or cone >= 0.5 * math.pi):
        raise SceneError(f"{what}: twist needs a cone below 1.5708 rad, within which it is an angle; give one.")
    about = None if twist is None else check_limits(twist, f"{what}: twist", "hinge", "rad")
    return cone, about, None if bend is None else check_limits(bend, f"{what}: limits", "hinge", "rad")
