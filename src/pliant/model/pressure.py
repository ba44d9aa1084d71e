"""Pressure inside the closed surfaces of bodies: energy -p V, with p constant, given by a function of time, or what a
prescribed volume needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pliant.errors import SceneError
from pliant.geometry.surface import enclosed_volume, unmatched_edge
from pliant.model import checks
from pliant.model.blocks import Block, Pressures
from pliant.model.volume import Volume

Pressure = float | Callable[[float], float]  # [Pa], or time [s] -> [Pa]
INWARD = 1e-9  # of the cube of the extent: a volume below minus that is no rounding of zero


Given = tuple[str, np.ndarray, Pressure, Volume | None]  # "" or "cavity_", triangles, what is set of them


class Inflated(NamedTuple):
    """A closed surface of a body and the pressure or the volume inside."""

    what: str  # in messages: the body and the name of its pressure
    triangles: np.ndarray  # (k, 3) the body's vertices, outward oriented
    pressure: Pressure
    volume: Volume | None  # prescribed, in place of a pressure


@dataclass(frozen=True)
class PressureSchedule:
    """A function's pressure on the triangles first..last of the block of pressures."""

    what: str
    first: int
    last: int
    function: Callable[[float], float]

    def value(self, time: float) -> float:
        """[Pa] at a time [s], checked: the function is the user's."""
        return checks.real(self.function(time), f"{self.what} at t = {time:g} s", "Pa")


def at_time(block: Block, schedules: tuple[PressureSchedule, ...], time: float) -> Block:
    """A block with the pressures of a time [s], if it has any."""
    if not isinstance(block, Pressures):
        return block
    pressures = block.pressures.copy()
    for schedule in schedules:
        pressures[schedule.first : schedule.last] = schedule.value(time)
    return replace(block, pressures=pressures)


def checked_pressure(value: Pressure, what: str) -> Pressure:
    """A number or a function."""
    return value if callable(value) else checks.real(value, what, "Pa")


def inflated_surfaces(name: str, given: Iterable[Given]) -> list[Inflated]:
    """The surfaces of a body in which there is a pressure, now or at some time, or a prescribed volume."""
    found = []
    for kind, triangles, pressure, volume in given:
        if volume is None and not is_present(pressure):
            continue
        if volume is not None and is_present(pressure):
            raise SceneError(
                f"{name}: both {kind}pressure and {kind}volume are given. A volume is kept by the pressure that it "
                f"needs: set {kind}pressure to 0 or {kind}volume to None."
            )
        what = "pressure" if volume is None else "volume"
        found.append(Inflated(f"{name}: {kind}{what}", triangles, pressure, volume))
    return found


def is_present(pressure: Pressure) -> bool:
    """Whether there is a pressure, now or at some time."""
    return callable(pressure) or pressure != 0


def pressure_block(inflated: Inflated, first: int, points: np.ndarray) -> Pressures:
    """The scene's triangles under pressure; `first` is the scene's number of the body's vertex 0, its points (n, 3) [m]
    tell which side is inside. What functions give is zero until Model.at asks them.
    """
    what, triangles, pressure, _ = inflated
    _check_surface(what, triangles, points)
    return Pressures(triangles + first, np.full(len(triangles), 0.0 if callable(pressure) else pressure))


def _check_surface(what: str, triangles: np.ndarray, points: np.ndarray) -> None:
    if len(triangles) == 0:
        raise SceneError(f"{what}: the body has no surface that could hold it; leave it out.")
    edge = unmatched_edge(triangles, len(points))
    if edge is not None:
        raise SceneError(
            f"{what}: the surface is not closed, triangles on the two sides of the edge {edge} do not match: there is "
            "a hole, or neighbours are oriented differently. Close it and orient all triangles outwards."
        )
    volume, extent = enclosed_volume(points, triangles), float(np.ptp(points, axis=0).max())
    if volume < -INWARD * extent**3:
        raise SceneError(
            f"{what}: the surface encloses {volume:.3g} m^3, so its triangles face inwards; "
            "reverse them (triangles[:, ::-1]) to let a pressure act outwards."
        )
