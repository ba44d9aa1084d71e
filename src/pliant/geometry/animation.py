"""Meshes that move by themselves: frames of one topology, and a walking figure made of capsules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from pliant.arguments import NO_NUMBER, is_finite_number, is_flag
from pliant.errors import MeshError
from pliant.geometry.mannequin import walking_frames
from pliant.geometry.mesh import TriMesh


@dataclass(frozen=True, eq=False)
class Animation:
    """A triangle mesh whose vertices are given at times; between them they move in straight lines.

    triangles: (m, 3) indices; frames: (f, n, 3) positions [m]; times: (f,) [s], ascending.  repeat: begins again
    after the last; otherwise it rests before the first and after the last.  Give it to scene.add_mesh_obstacle: bodies
    feel the velocity with which it moves.
    """

    triangles: np.ndarray
    frames: np.ndarray
    times: np.ndarray
    repeat: bool = False

    def __post_init__(self) -> None:
        frames, times = _numbers(self.frames), _numbers(self.times)
        if not is_flag(self.repeat):
            raise MeshError(f"Animation: repeat is {self.repeat!r}; pass True or False.")
        if frames.ndim != 3 or frames.shape[2] != 3 or not len(frames):
            raise MeshError(f"Animation: frames have shape {frames.shape}; give (frames, vertices, 3) [m].")
        bad = np.flatnonzero(~np.isfinite(frames).all(axis=(1, 2)))
        if bad.size:
            raise MeshError(f"Animation: frame {bad[0]} has a position that is not finite; repair or remove it.")
        ascends = times.shape == (len(frames),) and np.isfinite(times).all() and (np.diff(times) > 0).all()
        if not ascends:
            raise MeshError(f"Animation: times have shape {times.shape}: give {len(frames)} that ascend [s].")
        if self.repeat and not times[-1] > times[0]:
            raise MeshError("Animation: one frame cannot be repeated; leave out repeat.")
        mesh = TriMesh(frames[0], self.triangles)
        for array in (frames, times):
            array.flags.writeable = False
        for name, value in (("triangles", mesh.triangles), ("frames", frames), ("times", times)):
            object.__setattr__(self, name, value)

    @property
    def mesh(self) -> TriMesh:
        """The first frame."""
        return TriMesh(self.frames[0], self.triangles)

    @property
    def seconds(self) -> float:
        """[s] from the first frame to the last."""
        return float(self.times[-1] - self.times[0])

    def positions(self, time: float) -> np.ndarray:
        """(n, 3) [m] at a time [s]."""
        time = _time(time)
        if self.repeat:
            time = self.times[0] + (time - self.times[0]) % self.seconds
        k = int(np.searchsorted(self.times, time, side="right"))
        if k in (0, len(self.times)):
            return self.frames[min(k, len(self.times) - 1)].copy()
        s = (time - self.times[k - 1]) / (self.times[k] - self.times[k - 1])
        return (1 - s) * self.frames[k - 1] + s * self.frames[k]

    def __call__(self, time: float) -> np.ndarray:
        """As `positions`."""
        return self.positions(time)

    def velocities(self, time: float) -> np.ndarray:
        """(n, 3) [m/s] at a time [s]: constant between two frames."""
        time = _time(time)
        if self.repeat:
            time = self.times[0] + (time - self.times[0]) % self.seconds
        k = int(np.searchsorted(self.times, time, side="right"))
        if k in (0, len(self.times)):
            return np.zeros_like(self.frames[0])
        return (self.frames[k] - self.frames[k - 1]) / (self.times[k] - self.times[k - 1])

    @classmethod
    def from_frames(
        cls, triangles: ArrayLike, frames: ArrayLike, frame_rate: float = 30.0, repeat: bool = False
    ) -> Self:
        """frames: (f, n, 3) [m] at a constant rate [1/s]; triangles: (m, 3) indices of vertices."""
        if not (is_finite_number(frame_rate) and frame_rate > 0):
            raise MeshError(f"Animation: frame_rate is {frame_rate!r}; give a positive number [1/s].")
        positions = _numbers(frames)
        times = np.arange(len(np.atleast_1d(positions))) / frame_rate
        return cls(cast(np.ndarray, triangles), positions, times, repeat)

    @classmethod
    def walking_mannequin(
        cls,
        height: float = 1.7,
        strides: int = 1,
        frame_rate: float = 30.0,
        speed: float = 1.2,
        segments: int = 12,
        arms: float = 0.0,
    ) -> Self:
        """A figure of capsules that walks along x; z is up, its feet near z = 0 [m].

        height: [m]. strides: of two steps each. speed: [m/s]; a stride is 0.8 times the height long.
        segments: of a capsule's circumference.  arms: how far they are held away from the body [rad].  Each limb is a
        closed surface that overlaps its neighbours at the joints; all have one topology.
        """
        for name, value in (("height", height), ("strides", strides), ("frame_rate", frame_rate), ("speed", speed)):
            if not (is_finite_number(value) and value > 0):
                raise MeshError(f"Animation.walking_mannequin: {name} is {value!r}; give a positive number.")
        if not (is_finite_number(segments) and segments >= 4):
            raise MeshError(f"Animation.walking_mannequin: segments is {segments!r}; give at least 4.")
        if not (is_finite_number(arms) and 0 <= arms <= 1.5):
            raise MeshError(f"Animation.walking_mannequin: arms is {arms!r}; give an angle from 0 to 1.5 [rad].")
        triangles, frames = walking_frames(height, strides, frame_rate, speed, int(segments), float(arms))
        return cls.from_frames(triangles, frames, frame_rate)


def _numbers(values: Any) -> np.ndarray:
    try:
        return np.array(values, dtype=float)
    except NO_NUMBER as error:
        frames = values if isinstance(values, list | tuple) else []
        counts = [len(frame) for frame in frames if hasattr(frame, "__len__")]
        if len(set(counts)) > 1:
            other = next(k for k, count in enumerate(counts) if count != counts[0])
            raise MeshError(
                f"Animation: frame {other} has {counts[other]} vertices, frame 0 has {counts[0]}: all frames of an "
                "animation need the same vertices and triangles."
            ) from None
        raise MeshError(f"Animation: frames and times must be arrays of numbers ({error}).") from None


def _time(value: float) -> float:
    if not is_finite_number(value):
        raise MeshError(f"Animation: the time is {value!r}: give a finite number [s].")
    return float(value)
