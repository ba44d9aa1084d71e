"""Motions that lead vertices and that files can keep: plain numbers that give positions at any time.

body.move(top, Turn(body.initial_positions[top], axis=(0, 0, 1), turns=1.75, seconds=1.2))

Obstacles move as a whole: scene.add_sphere((0, 0, 1), 0.2, motion=Slide.rigid(velocity=(1, 0, 0)))

Any function of the time does as well, but a checkpoint or a scene file cannot hold it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.arguments import NO_NUMBER
from pliant.errors import SceneError
from pliant.model import checks


def smooth_step(s: float) -> float:
    """From 0 to 1 with no speed at either end: 3 s^2 - 2 s^3, s held within 0 to 1."""
    s = min(max(s, 0.0), 1.0)
    return s * s * (3 - 2 * s)


AXES = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])


def times_of_keys(times: ArrayLike, repeat: bool, what: str) -> np.ndarray:
    """(m,) [s], each later than the last."""
    try:
        keys = np.array(times, dtype=float)
    except NO_NUMBER:
        keys = np.empty(0)
    if keys.ndim != 1 or len(keys) == 0 or not np.isfinite(keys).all() or (np.diff(keys) <= 0).any():
        raise SceneError(f"{what}: times are {times!r}: give finite times [s], each later than the last.")
    if checks.flag(repeat, f"{what}: repeat") and keys[-1] <= 0:
        raise SceneError(f"{what}: the last time is {keys[-1]:g} s: to repeat, it must be above zero.")
    return keys


@dataclass(frozen=True)
class ComponentMotion:
    """A motion of which some components alone are prescribed (Body.move)."""

    motion: Callable[[float], ArrayLike]
    components: str  # of "xyz"

    def __call__(self, time: float) -> ArrayLike:
        """Positions (k, 3) [m] at a time [s]."""
        return self.motion(time)


@dataclass(frozen=True, eq=False)
class KeptMotion(ABC):
    """Base of motions that files keep: frozen fields, of which `points` (k, 3) [m] are where the vertices start."""

    points: ArrayLike

    def __post_init__(self) -> None:
        self._keep("points", checks.points(self.points, f"{self.name}: points", least=0))

    @abstractmethod
    def __call__(self, time: float) -> np.ndarray:
        """Positions (k, 3) [m] at a time [s]."""

    @classmethod
    def rigid(cls, **options: Any) -> RigidMotion:
        """The same motion of an obstacle, as its `motion`; options: all arguments but the points."""
        return RigidMotion(cls(AXES, **options))

    @property
    def name(self) -> str:
        """Of its kind, in files."""
        return type(self).__name__

    @property
    def options(self) -> dict[str, Any]:
        """All but the points, as plain numbers, words and lists."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "points"}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}

    def _keep(self, name: str, value: Any) -> None:
        """Set a checked field of a frozen dataclass."""
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(self, name, value)

    def _keep_vector(self, name: str, unit: str) -> None:
        self._keep(name, checks.vectors(getattr(self, name), None, f"{self.name}: {name}", unit))

    def _keep_number(self, name: str, unit: str, positive: bool = False) -> None:
        self._keep(name, checks.number(getattr(self, name), f"{self.name}: {name}", unit, positive=positive))

    def _keep_switch(self, name: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, bool):
            raise SceneError(f"{self.name}: {name} is {value!r}: give true or false.")


@dataclass(frozen=True, eq=False)
class Slide(KeptMotion):
    """Moves at a constant velocity (3,) [m/s] from `begin` [s] for `seconds` [s], then stays; None: it never stops."""

    velocity: ArrayLike = (0.0, 0.0, 0.0)
    begin: float = 0.0
    seconds: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._keep_vector("velocity", "m/s")
        self._keep_number("begin", "s")
        if self.seconds is not None:
            self._keep_number("seconds", "s", positive=True)

    def __call__(self, time: float) -> np.ndarray:
        elapsed = max(time - self.begin, 0.0)
        return np.asarray(self.points) + min(elapsed, self.seconds or elapsed) * np.asarray(self.velocity)


@dataclass(frozen=True, eq=False)
class Turn(KeptMotion):
    """Turns about an axis through a centre [m]: by `turns` within `seconds` [s] from `begin` [s] on, then stays.

    Right-handed about the axis. smooth: gently from rest to rest, else at a constant speed.
    """

    axis: ArrayLike = (0.0, 0.0, 1.0)
    centre: ArrayLike = (0.0, 0.0, 0.0)
    turns: float = 1.0
    seconds: float = 1.0
    begin: float = 0.0
    smooth: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.unit_vector(self.axis, "Turn: axis")
        self._keep_vector("axis", "any length")  # as given: to normalise a kept one again would change its bits
        self._keep_vector("centre", "m")
        turns = checks.vectors([self.turns, 0, 0], None, "Turn: turns", "1")[0]
        self._keep("turns", float(turns))
        self._keep_number("seconds", "s", positive=True)
        self._keep_number("begin", "s")
        self._keep_switch("smooth")

    def __call__(self, time: float) -> np.ndarray:
        s = min(max((time - self.begin) / self.seconds, 0.0), 1.0)
        angle = 2 * np.pi * self.turns * (smooth_step(s) if self.smooth else s)
        axis = np.asarray(self.axis) / np.linalg.norm(self.axis)
        return turned(np.asarray(self.points), axis, np.asarray(self.centre), angle)


@dataclass(frozen=True, eq=False)
class Keyframes(KeptMotion):
    """Passes through offsets (m, 3) [m] from the start at times (m,) [s]; before and after them it stays.

    smooth: comes to rest at every key, else moves at a constant speed between two. repeat: begins again after the last.
    """

    times: ArrayLike = (0.0,)
    offsets: ArrayLike = ((0.0, 0.0, 0.0),)
    smooth: bool = False
    repeat: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        times = times_of_keys(self.times, self.repeat, "Keyframes")
        self._keep("times", times)
        self._keep("offsets", checks.vectors(self.offsets, len(times), "Keyframes: offsets", "m"))
        self._keep_switch("smooth")
        self._keep_switch("repeat")

    def __call__(self, time: float) -> np.ndarray:
        times, offsets = np.asarray(self.times), np.asarray(self.offsets)
        if self.repeat:
            time = time % times[-1]
        k = int(np.searchsorted(times, time, side="right"))
        if k == 0 or k == len(times):
            return np.asarray(self.points) + offsets[min(k, len(times) - 1)]
        s = (time - times[k - 1]) / (times[k] - times[k - 1])
        s = smooth_step(s) if self.smooth else s
        return np.asarray(self.points) + ((1 - s) * offsets[k - 1] + s * offsets[k])


@dataclass(frozen=True, eq=False)
class RigidMotion:
    """A kept motion of a whole obstacle. Made by `Slide.rigid` and the like."""

    motion: KeptMotion  # of the origin and the ends of the axes' unit vectors

    def __call__(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Translation (3,) [m] and rotation (3, 3) at a time [s]."""
        origin, *ends = self.motion(time)
        return origin, np.column_stack(ends) - origin[:, None]

    def of_points(self, points: np.ndarray) -> KeptMotion:
        """The motion of the obstacle's own points (k, 3) [m]."""
        return replace(self.motion, points=points)

    def options(self) -> dict[str, Any]:
        """Its kind and arguments as plain numbers, words and lists."""
        return {"kind": self.motion.name.lower(), **self.motion.options}


def rigid_motion(kind: str, **options: Any) -> RigidMotion:
    """The rigid motion that `RigidMotion.options` described."""
    return MOTIONS[kind.capitalize()].rigid(**options)


MOTIONS: dict[str, type[KeptMotion]] = {motion.__name__: motion for motion in (Slide, Turn, Keyframes)}


def turned(points: np.ndarray, axis: np.ndarray, centre: np.ndarray, angle: float) -> np.ndarray:
    """Points (k, 3) turned about a unit axis through a centre by an angle [rad] (Rodrigues)."""
    arms = points - centre
    along = (arms @ axis)[:, None] * axis
    return centre + along + np.cos(angle) * (arms - along) + np.sin(angle) * np.cross(axis, arms)
