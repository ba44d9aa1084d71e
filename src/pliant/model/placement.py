"""Where the obstacles of a simulation are, step by step, and moving them between two steps.

The function that moves an obstacle is asked once per step, for its end. Where the step begins is where the one before
ended, so the velocity of a step is that of the actual change, whatever the function reads beside the time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import SceneError
from pliant.geometry import rotations
from pliant.model import checks
from pliant.model.body import Body
from pliant.model.mesh_obstacle import MeshObstacleBody
from pliant.model.motions import RigidMotion
from pliant.model.obstacles import Shape

Pose = tuple[np.ndarray, np.ndarray]  # position (3,) [m]; rotation (3, 3) away from how the obstacle was made

FOR_EVER = -1.0  # of a command's seconds, in files
ROW = 33  # numbers of an obstacle in files: pose (12), whether it has a command, the command (20)


@dataclass(frozen=True)
class Command:
    """Motion at a constant velocity [m/s] and angular velocity [rad/s] from a pose at `begin` [s], for so long."""

    position: np.ndarray
    rotation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    begin: float
    seconds: float  # infinite: for ever

    def pose(self, time: float) -> Pose:
        """Position and rotation at a time [s]."""
        elapsed = min(max(time - self.begin, 0.0), self.seconds)
        turn = rotations.matrices(rotations.from_vectors(elapsed * self.angular_velocity))
        return self.position + elapsed * self.velocity, turn @ self.rotation

    def numbers(self) -> np.ndarray:
        """(20,) that `command_of` makes a command of again."""
        seconds = self.seconds if np.isfinite(self.seconds) else FOR_EVER
        vectors = (self.position, self.rotation.ravel(), self.velocity, self.angular_velocity)
        return np.concatenate([*vectors, [self.begin, seconds]])


def command_of(numbers: np.ndarray) -> Command:
    """The command that `Command.numbers` described."""
    position, rotation, velocity, angular_velocity, times = np.split(numbers.copy(), [3, 12, 15, 18])
    seconds = np.inf if times[1] == FOR_EVER else float(times[1])
    return Command(position, rotation.reshape(3, 3), velocity, angular_velocity, float(times[0]), seconds)


class Placement(ABC):
    """Where one obstacle of a simulation is. `step` gives the steps done, h [s] the length of one."""

    def __init__(self, what: str, h: float, step: Callable[[], int]):
        self.what, self.h, self.step = what, h, step
        self.command: Command | None = None

    @abstractmethod
    def pose(self) -> Pose:
        """Where it is now."""

    def set_pose(self, position: ArrayLike | None, orientation: ArrayLike | None, seconds: float) -> None:
        """See Obstacle.set_pose."""
        seconds = checks.number(seconds, f"{self.what}.set_pose: seconds", "s") or self.h
        if seconds < self.h * (1 - 1e-9):
            raise SceneError(f"{self.what}.set_pose: seconds is {seconds:g}, less than a step of {self.h:g} s; give 0.")
        start, rotation = self.pose()
        target = start if position is None else checks.vectors(position, None, f"{self.what}.set_pose: position", "m")
        turned = rotation if orientation is None else _rotation(orientation, f"{self.what}.set_pose: orientation")
        turn = rotations.to_vectors(rotations.from_matrix(turned @ rotation.T))
        self.command = Command(
            start, rotation, (target - start) / seconds, turn / seconds, self.step() * self.h, seconds
        )

    def set_velocity(self, velocity: ArrayLike, angular_velocity: ArrayLike) -> None:
        """See Obstacle.set_velocity."""
        velocity = checks.vectors(velocity, None, f"{self.what}.set_velocity: velocity", "m/s")
        spin = checks.vectors(angular_velocity, None, f"{self.what}.set_velocity: angular_velocity", "rad/s")
        self.command = Command(*self.pose(), velocity, spin, self.step() * self.h, np.inf)

    def numbers(self) -> np.ndarray:
        """(33,) for files: where it is, and the command."""
        position, rotation = self.pose()
        command = np.zeros(20) if self.command is None else self.command.numbers()
        return np.concatenate([position, rotation.ravel(), [self.command is not None], command])

    def load(self, numbers: np.ndarray) -> None:
        """Go on from what `numbers` gave."""
        self.restart()
        self.command = command_of(numbers[13:]) if numbers[12] else None

    def restart(self) -> None:
        """Be moved as the scene says again."""
        self.command = None


class ShapePlacement(Placement):
    """Of an obstacle with a formula. Contact reads it in place of the shape itself."""

    def __init__(self, shape: Shape, h: float, step: Callable[[], int]):
        super().__init__(type(shape).__name__, h, step)
        self.shape, self.kind, self.friction = shape, shape.kind, shape.friction
        self._centre = shape.frame()[0]
        self._known: dict[int, Pose] = {}  # translations and rotations at the ends of steps
        self._rows: dict[int, np.ndarray] = {}
        self._held: dict[int, object] = {}  # what the rows point to

    def set_friction(self, coefficient: float) -> None:
        """Of contacts from now on."""
        object.__setattr__(self.shape, "friction", coefficient)
        self.friction, self._rows = coefficient, {}

    def begin_step(self, step: int) -> None:
        """Forget where it was thought to be going: the function is asked again."""
        self.at(step)
        self._known = {k: pose for k, pose in self._known.items() if step - 1 <= k <= step}
        self._rows = {k: row for k, row in self._rows.items() if k in self._known}
        self._held = {k: held for k, held in self._held.items() if k in self._known}

    def row(self, time: float) -> np.ndarray:
        """The numbers that kernels need (Shape.row) at the end of a step, `time` [s]."""
        step = round(time / self.h)
        if step not in self._rows:
            self._held[step] = self.shape.held(step * self.h)
            self._rows[step] = self.shape.placed(*self.at(step), step * self.h)
        return self._rows[step]

    def at(self, step: int) -> Pose:
        """Translation (3,) [m] and rotation (3, 3) after so many steps."""
        if step not in self._known:
            self._known[step] = self._asked(step * self.h)
        return self._known[step]

    def _asked(self, time: float) -> Pose:
        if self.command is None:
            return self.shape.pose(time)
        position, rotation = self.command.pose(time)
        return position - rotation @ self._centre, rotation

    def pose(self) -> Pose:
        translation, rotation = self.at(self.step())
        return translation + rotation @ self._centre, rotation

    def load(self, numbers: np.ndarray) -> None:
        super().load(numbers)
        rotation = numbers[3:12].reshape(3, 3).copy()
        if self.command is not None or not _is_of_time(self.shape):
            self._known[self.step()] = (numbers[:3] - rotation @ self._centre, rotation)

    def restart(self) -> None:
        super().restart()
        self._known, self._rows, self._held = {}, {}, {}


class MeshPlacement(Placement):
    """Of a mesh obstacle: the vertices are where they are, its position is their mean."""

    def __init__(self, body: MeshObstacleBody, h: float, step: Callable[[], int], positions: Callable[[], np.ndarray]):
        super().__init__(body.name, h, step)
        self._positions = positions
        self._made = body.mesh.points - body.mesh.points.mean(axis=0)

    def pose(self) -> Pose:
        x = self._positions()
        centre = x.mean(axis=0)
        u, _, vt = np.linalg.svd((x - centre).T @ self._made)  # Kabsch: the rotation that fits best
        sign = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
        return centre, u @ sign @ vt

    def positions(self, time: float) -> np.ndarray | None:
        """(n, 3) [m] of its vertices at a time [s] if a command moves it."""
        if self.command is None:
            return None
        position, rotation = self.command.pose(time)
        return self._made @ rotation.T + position


class Placements:
    """Where all obstacles of a simulation are: those with formulas, then meshes, each as the scene lists them."""

    def __init__(
        self,
        shapes: Sequence[Shape],
        bodies: Sequence[Body],
        h: float,
        step: Callable[[], int],
        positions: Callable[[int], np.ndarray],
    ):
        self.h, self._step = h, step
        self.shapes = [ShapePlacement(shape, h, step) for shape in shapes]
        self.meshes = {
            k: MeshPlacement(body, h, step, lambda k=k: positions(k))  # type: ignore[misc]
            for k, body in enumerate(bodies)
            if isinstance(body, MeshObstacleBody)
        }

    def begin_step(self) -> None:
        """Before contacts of the next step are detected."""
        for shape in self.shapes:
            shape.begin_step(self._step())

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """(k, 16) of obstacles with formulas, one step earlier and now."""
        times = ((self._step() - 1) * self.h, self._step() * self.h)
        before, now = (np.array([shape.row(time) for shape in self.shapes]) for time in times)
        return before, now

    def rows_of_step(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of each obstacle with a formula, now and at the end of the step that is being made."""
        times = (self._step() * self.h, (self._step() + 1) * self.h)
        return [(shape.row(times[0]), shape.row(times[1])) for shape in self.shapes]

    def move_in_step(self) -> bool:
        """Whether an obstacle with a formula does in the step that is being made."""
        return any((start != end).any() for start, end in self.rows_of_step())

    def numbers(self) -> np.ndarray:
        """(obstacles, 33) for files."""
        return np.array([one.numbers() for one in self._all]).reshape(-1, ROW)

    def load(self, numbers: np.ndarray) -> None:
        """Go on from what `numbers` gave at the same step."""
        for one, row in zip(self._all, numbers, strict=True):
            one.load(row)

    def restart(self) -> None:
        """As the scene says: without commands, nothing known."""
        for one in self._all:
            one.restart()

    @property
    def _all(self) -> list[Placement]:
        return [*self.shapes, *self.meshes.values()]


def _is_of_time(shape: Shape) -> bool:
    """Whether the time alone says where it is, to the last bit: at rest, or moved by what a file keeps."""
    return shape.motion is None or isinstance(shape.motion, RigidMotion)


def _rotation(orientation: ArrayLike, what: str) -> np.ndarray:
    """(3, 3) of a quaternion (w, x, y, z) or a rotation matrix."""
    try:
        given = np.array(orientation, dtype=float)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.shape == (4,) and np.isfinite(given).all() and np.linalg.norm(given) > 0:
        return rotations.matrices(rotations.normalised(given))
    if given.shape == (3, 3) and np.isfinite(given).all():
        error = np.abs(given @ given.T - np.eye(3)).max()
        if error < 1e-6 and np.linalg.det(given) > 0:
            return given
    raise SceneError(f"{what} is {orientation!r}: give a quaternion (w, x, y, z) or a rotation matrix (3, 3).")
