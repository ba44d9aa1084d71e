"""Pressure inside the closed surface of a body: energy -p V, with p constant or given by a function of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.errors import SceneError
from pliant.geometry.surface import enclosed_volume, unmatched_edge
from pliant.model import checks
from pliant.model.blocks import Pressures

Pressure = float | Callable[[float], float]  # [Pa], or time [s] -> [Pa]
INWARD = 1e-9  # of the cube of the extent: a volume below minus that is no rounding of zero


@dataclass(frozen=True)
class PressureCourse:
    """A function's pressure on the triangles first..last of the block of pressures."""

    body: str
    first: int
    last: int
    function: Callable[[float], float]

    def value(self, time: float) -> float:
        """[Pa] at a time [s], checked: the function is the user's."""
        return checks.real(self.function(time), f"{self.body}: pressure at t = {time:g} s", "Pa")


def checked_pressure(value: Pressure, body: str) -> Pressure:
    """A number or a function."""
    if callable(value):
        return value
    return checks.real(value, f"{body}: pressure", "Pa (or a function of the time [s])")


def pressure_block(body: str, triangles: np.ndarray, points: np.ndarray, pressure: Pressure) -> Pressures:
    """A body's surface (k, 3) under pressure; points (n, 3) [m] tell which side is inside. Functions start at zero."""
    _check_surface(body, triangles, points)
    start = 0.0 if callable(pressure) else pressure
    return Pressures(triangles, np.full(len(triangles), start))


def _check_surface(body: str, triangles: np.ndarray, points: np.ndarray) -> None:
    if len(triangles) == 0:
        raise SceneError(f"{body}: it has no surface that could hold a pressure; leave body.pressure at 0.")
    edge = unmatched_edge(triangles, len(points))
    if edge is not None:
        raise SceneError(
            f"{body}: its surface holds no pressure, because the triangles on both sides of edge {edge} do not match: "
            "there is a hole, or neighbours are oriented differently. Close it and orient all triangles outwards."
        )
    volume, extent = enclosed_volume(points, triangles), float(np.ptp(points, axis=0).max())
    if volume < -INWARD * extent**3:
        raise SceneError(
            f"{body}: its surface encloses {volume:.3g} m^3, so its triangles face inwards; "
            "reverse them (triangles[:, ::-1]) to let a pressure act outwards."
        )
