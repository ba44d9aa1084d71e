"""Motions that jump between two frames: a control loop has set a variable that they read.

Only the frame is known in which such a change happens, so it is spread evenly over the steps of the frame; in its first
step alone the velocity would be as many times too high. A motion that depends on the time alone does not jump: it gives
the same for the same time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.geometry import rotations
from pliant.model.model import KinematicVertices, Model

Pose = tuple[np.ndarray, np.ndarray]  # translation (3,) [m] and rotation (3, 3)

ROUNDING = 1e-6  # of the largest coordinate: positions come back from solvers in single precision


@dataclass(frozen=True)
class PoseJump:
    """A way (3,) [m] of the centre and a rotation vector (3,) that are taken back in so many steps."""

    way: np.ndarray
    turn: np.ndarray
    centre: np.ndarray  # (3,) of the obstacle where it was made [m]
    first: int  # step at whose end nothing is taken back yet
    steps: int

    @classmethod
    def between(cls, asked: Pose, reached: Pose, centre: np.ndarray, first: int, steps: int) -> PoseJump | None:
        """From what the function gives to where the obstacle is; None if that is the same."""
        if all(np.array_equal(new, old) for new, old in zip(asked, reached, strict=True)):
            return None
        (new, new_rotation), (old, old_rotation) = asked, reached
        way = old + old_rotation @ centre - new - new_rotation @ centre
        turn = rotations.to_vectors(rotations.from_matrix(old_rotation @ new_rotation.T))
        return cls(way, turn, centre, first, steps)

    def spread(self, pose: Pose, step: int) -> Pose:
        """What the function gives for the end of a step, with what is left of the jump."""
        part = _part_left(step, self.first, self.steps)
        if part == 0:
            return pose
        translation, rotation = pose
        turned = rotations.matrices(rotations.from_vectors(part * self.turn)) @ rotation
        return translation + rotation @ self.centre + part * self.way - turned @ self.centre, turned


class HeldJumps:
    """Of vertices whose positions a function gives."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Spread nothing."""
        self._found: list[tuple[KinematicVertices, np.ndarray]] = []
        self._first, self._steps = 0, 1

    def find(self, model: Model, x: np.ndarray, first: int, steps: int, h: float) -> None:
        """Compare positions x (n, 3) [m], after `first` steps of h [s], with what the functions give."""
        self._found, self._first, self._steps = [], first, steps
        for kinematic in model.kinematic:
            reached, columns = x[kinematic.vertices], kinematic.places[1][0]
            jump = np.zeros_like(reached)
            jump[:, columns] = (reached - kinematic.positions(first * h))[:, columns]
            if np.abs(jump).max(initial=0.0) > ROUNDING * np.abs(reached).max(initial=0.0):
                self._found.append((kinematic, jump))

    def left(self, kinematic: KinematicVertices, step: int) -> np.ndarray | float:
        """(k, 3) [m]: what is left of the jump of such vertices at the end of a step."""
        part = _part_left(step, self._first, self._steps)
        return next((part * jump for one, jump in self._found if one is kinematic), 0.0) if part else 0.0


def _part_left(step: int, first: int, steps: int) -> float:
    return min(max(1.0 - (step - first) / steps, 0.0), 1.0)
