"""Volumes that are prescribed: the pressure inside a closed surface is what keeps it at a volume.

The volume is a constraint V(x) = V_t with the pressure p as its multiplier: the energy -p (V - V_t), the force p dV/dx.
A balloon whose volume grows passes the greatest pressure that it can hold, which one of a given pressure cannot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import SceneError
from pliant.geometry.surface import enclosed_volume
from pliant.model import checks
from pliant.model.blocks import Pressures

if TYPE_CHECKING:
    from pliant.model.model import Model

Volume = float | Callable[[float], float]  # [m^3], or time [s] -> [m^3]


@dataclass(frozen=True)
class VolumeControl:
    """A surface of prescribed volume: the triangles first..last of the block of pressures."""

    what: str
    body: int  # its number
    first: int
    last: int
    target: Volume
    start: float  # V of the scene [m^3]

    @property
    def is_cavity(self) -> bool:
        """Whether it is that of a solid's cavities."""
        return self.what.endswith("cavity_volume")

    def value(self, time: float) -> float:
        """V_t [m^3] at a time [s], checked: a function is the user's."""
        if not callable(self.target):
            return self.target
        return checks.number(self.target(time), f"{self.what} at t = {time:g} s", "m^3", positive=True)


def checked_volume(value: Volume | None, what: str) -> Volume | None:
    """A positive number, a function, or None."""
    return value if value is None or callable(value) else checks.number(value, what, "m^3", positive=True)


def volumes(model: Model, x: np.ndarray) -> np.ndarray:
    """(k,) [m^3] enclosed by the surfaces of prescribed volume at positions x (n, 3)."""
    return np.array([enclosed_volume(x, triangles) for triangles in _surfaces(model)])


def volume_gradients(model: Model, x: np.ndarray) -> np.ndarray:
    """dV/dx (k, n, 3) [m^2]: a third of the area vectors of the triangles around each vertex."""
    gradients = np.zeros((len(model.volume_controls), *x.shape))
    for own, triangles in zip(gradients, _surfaces(model), strict=True):
        corner = x[triangles]
        sixth = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]) / 6
        for k in range(3):
            np.add.at(own, triangles[:, k], sixth)
    return gradients


def control_of(model: Model, number: int | None, body: object, cavity: bool) -> int:
    """Which of the prescribed volumes is that of a body of this number, or of its cavities."""
    what = f"{'cavity_' if cavity else ''}volume"
    for k, control in enumerate(model.volume_controls):
        if control.body == number and control.is_cavity == cavity:
            return k
    name = body if number is None else model.body_names[number]
    raise SceneError(f"pressure_of: {name!r} has no prescribed {what} here: set body.{what} before the scene is built.")


def with_controlled(model: Model, pressures: np.ndarray) -> Model:
    """The model with the pressures (k,) [Pa] of its surfaces of prescribed volume; itself if there is none."""
    if not model.volume_controls:
        return model
    block = _block(model)
    values = block.pressures.copy()
    for control, pressure in zip(model.volume_controls, pressures, strict=True):
        values[control.first : control.last] = pressure
    pressed = replace(block, pressures=values)
    return replace(model, blocks=tuple(pressed if own is block else own for own in model.blocks))


def _surfaces(model: Model) -> list[np.ndarray]:
    """Triangles of each surface of prescribed volume."""
    if not model.volume_controls:
        return []
    elements = _block(model).elements
    return [elements[control.first : control.last] for control in model.volume_controls]


def _block(model: Model) -> Pressures:
    return next(block for block in model.blocks if isinstance(block, Pressures))
