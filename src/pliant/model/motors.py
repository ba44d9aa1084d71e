"""Motors of joints: what a hinge or a slider is driven with."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from pliant.errors import SceneError
from pliant.model import checks

UNITS = {"angle": "rad or m", "speed": "rad/s or m/s", "torque": "N m or N"}


@dataclass(frozen=True)
class Motor:
    """What drives a hinge, or a slider, whose numbers are then lengths and forces.

        pl.Motor(speed=10.0, max_torque=2.0)  # turns at 10 rad/s (slides at 10 m/s) with at most 2 N m (2 N)
        pl.Motor(angle=1.0)  # goes to 1 rad (1 m) from where the scene starts, and holds it
        pl.Motor(angle=1.0, speed=2.0)  # the same, at no more than 2 rad/s on the way
        pl.Motor(torque=5.0)  # pushes with 5 N m (5 N)

    Positive is the first body about the axis by the right-hand rule, or along it, seen from the second body or the
    world. The second body feels the opposite. An angle is reached the shorter way round, or within the limits.
    joint.motor = pl.Motor(...) gives another command between two steps.
    """

    angle: float | None = None
    speed: float | None = None
    torque: float | None = None
    max_torque: float = math.inf

    def __post_init__(self) -> None:
        if (self.angle is None and self.speed is None) == (self.torque is None):
            raise SceneError(
                f"Motor: angle is {self.angle}, speed {self.speed} and torque {self.torque}: give an angle, a speed, "
                "both (the speed is then the largest on the way), or a torque."
            )
        for name in ("angle", "speed", "torque"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, checks.real(value, f"Motor: {name}", UNITS[name]))
        if self.angle is not None and self.speed is not None and self.speed <= 0:
            raise SceneError(f"Motor: speed is {self.speed:g}: to reach an angle, give a speed above 0 [rad/s or m/s].")
        if not checks.is_infinite(self.max_torque):
            checks.number(self.max_torque, "Motor: max_torque", "N m or N", positive=True)
        object.__setattr__(self, "max_torque", float(self.max_torque))

    def options(self) -> dict[str, Any]:
        """Its arguments that are given."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in given.items() if value is not None and value != math.inf}
