"""Where the obstacles and held rigid bodies of a simulation are, step by step, and moving them between two steps.

The function that moves an obstacle is asked for the end of each step. Where the step begins is where the one before
ended, so the velocity of a step is that of the actual change, whatever the function reads beside the time. What changes
between two frames is spread over the steps of the next frame (model.jumps).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from pliant.arguments import NO_NUMBER
from pliant.errors import SceneError
from pliant.geometry import rotations
from pliant.model import checks
from pliant.model.body import Body
from pliant.model.jumps import HeldJumps, PoseJump
from pliant.model.mesh_obstacle import MeshObstacleBody
from pliant.model.model import Model
from pliant.model.motions import RigidMotion
from pliant.model.obstacles import Shape
from pliant.model.rigid import RigidBody

Pose = tuple[np.ndarray, np.ndarray]  # position (3,) [m]; rotation (3, 3) away from how the obstacle was made

FOR_EVER, NEXT_CALL = -1.0, -2.0  # of a command's seconds, in files
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
    is_waiting: bool = False  # takes as long as what is called next, a step or a frame; until then `seconds` is a step

    def lasting(self, seconds: float) -> Command:
        """The same way, in so many seconds."""
        rate = self.seconds / seconds
        velocity, spin = rate * self.velocity, rate * self.angular_velocity
        return replace(self, velocity=velocity, angular_velocity=spin, seconds=seconds, is_waiting=False)

    def pose(self, time: float) -> Pose:
        """Position and rotation at a time [s]."""
        elapsed = min(max(time - self.begin, 0.0), self.seconds)
        turn = rotations.matrices(rotations.from_vectors(elapsed * self.angular_velocity))
        return self.position + elapsed * self.velocity, turn @ self.rotation

    def numbers(self) -> np.ndarray:
        """(20,) that `command_of` makes a command of again."""
        seconds = NEXT_CALL if self.is_waiting else self.seconds if np.isfinite(self.seconds) else FOR_EVER
        vectors = (self.position, self.rotation.ravel(), self.velocity, self.angular_velocity)
        return np.concatenate([*vectors, [self.begin, seconds]])


def command_of(numbers: np.ndarray, h: float) -> Command:
    """The command that `Command.numbers` described, of a simulation with steps of h [s]."""
    position, rotation, velocity, angular_velocity, times = np.split(numbers.copy(), [3, 12, 15, 18])
    seconds = {FOR_EVER: np.inf, NEXT_CALL: h}.get(float(times[1]), float(times[1]))
    motion = (position, rotation.reshape(3, 3), velocity, angular_velocity, float(times[0]), seconds)
    return Command(*motion, is_waiting=bool(times[1] == NEXT_CALL))


class Placement(ABC):
    """Where one obstacle of a simulation is. `step` gives the steps done, h [s] the length of one."""

    def __init__(self, what: str, h: float, step: Callable[[], int]):
        self.what, self.h, self.step = what, h, step
        self.command: Command | None = None

    @abstractmethod
    def pose(self) -> Pose:
        """Where it is now."""

    def begin(self, steps: int) -> None:
        """Before the first of so many steps of one call, a step or a frame."""
        if self.command is not None and self.command.is_waiting:
            self.command = self.command.lasting(steps * self.h)

    def set_pose(self, position: ArrayLike | None, orientation: ArrayLike | None, seconds: float | None) -> None:
        """See Placeable.set_pose."""
        is_waiting = seconds is None
        seconds = self.h if seconds is None else checks.number(seconds, f"{self.what}.set_pose: seconds", "s") or self.h
        if seconds < self.h * (1 - 1e-9):
            raise SceneError(f"{self.what}.set_pose: seconds is {seconds:g}, less than a step of {self.h:g} s; give 0.")
        start, rotation = self.pose()
        target = start if position is None else checks.vectors(position, None, f"{self.what}.set_pose: position", "m")
        turned = rotation if orientation is None else _rotation(orientation, f"{self.what}.set_pose: orientation")
        turn = rotations.to_vectors(rotations.from_matrix(turned @ rotation.T))
        way = ((target - start) / seconds, turn / seconds)
        self.command = Command(start, rotation, *way, self.step() * self.h, seconds, is_waiting)

    def set_velocity(self, velocity: ArrayLike, angular_velocity: ArrayLike) -> None:
        """See Placeable.set_velocity."""
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
        self.command = command_of(numbers[13:], self.h) if numbers[12] else None

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
        self._jump: PoseJump | None = None
        self._rows: dict[int, np.ndarray] = {}
        self._at_rest: tuple[np.ndarray, object] | None = None  # the row of a shape that never moves, and what it needs
        self._held: dict[int, object] = {}  # what the rows point to

    def set_friction(self, coefficient: float) -> None:
        """Of contacts from now on."""
        object.__setattr__(self.shape, "friction", coefficient)
        self.friction, self._rows, self._at_rest = coefficient, {}, None

    def begin(self, steps: int) -> None:
        """Spread what its function has jumped by since the last step over the steps of a frame."""
        super().begin(steps)
        step = self.step()
        if steps > 1 and self.command is None and not _is_of_time(self.shape):
            self._jump = PoseJump.between(self.shape.pose(step * self.h), self.at(step), self._centre, step, steps)

    def begin_step(self, step: int) -> None:
        """Forget where it was thought to be going: the function is asked again."""
        if self._is_at_rest and not self._known:
            return
        self.at(step)
        self._known = {k: pose for k, pose in self._known.items() if step - 1 <= k <= step}
        self._rows = {k: row for k, row in self._rows.items() if k in self._known}
        self._held = {k: held for k, held in self._held.items() if k in self._known}

    def row(self, time: float) -> np.ndarray:
        """The numbers that kernels need (Shape.row) at the end of a step, `time` [s]."""
        if self._is_at_rest:
            if self._at_rest is None:
                self._at_rest = self.shape.placed(*self.shape.pose(0.0), 0.0), self.shape.held(0.0)
            return self._at_rest[0]
        step = round(time / self.h)
        if step not in self._rows:
            self._held[step] = self.shape.held(step * self.h)
            self._rows[step] = self.shape.placed(*self.at(step), step * self.h)
        return self._rows[step]

    @property
    def _is_at_rest(self) -> bool:
        """Whether it stays where and as it was made."""
        return self.command is None and not self.shape.moves

    def at(self, step: int) -> Pose:
        """Translation (3,) [m] and rotation (3, 3) after so many steps."""
        if step not in self._known:
            self._known[step] = self._asked(step * self.h)
        return self._known[step]

    def _asked(self, time: float) -> Pose:
        if self.command is None:
            pose = self.shape.pose(time)
            return pose if self._jump is None else self._jump.spread(pose, round(time / self.h))
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
        self._known, self._rows, self._held, self._jump, self._at_rest = {}, {}, {}, None, None


class PointsPlacement(Placement):
    """Of a mesh obstacle, or a rigid body that is pinned or moved: it is where its vertices are."""

    def __init__(
        self, body: MeshObstacleBody | RigidBody, h: float, step: Callable[[], int], positions: Callable[[], np.ndarray]
    ):
        super().__init__(body.name, h, step)
        self._positions = positions
        if isinstance(body, RigidBody):
            self._made, self._fitted = body.offsets, body.mass_vertices  # others slide to where it touches
        else:
            self._made = body.mesh.points - body.mesh.points.mean(axis=0)
            self._fitted = np.arange(len(self._made))

    def pose(self) -> Pose:
        x, made = self._positions()[self._fitted], self._made[self._fitted]
        centre, middle = x.mean(axis=0), made.mean(axis=0)
        u, _, vt = np.linalg.svd((x - centre).T @ (made - middle))  # Kabsch: the rotation that fits best
        rotation = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
        return centre - rotation @ middle, rotation

    def positions(self, time: float) -> np.ndarray | None:
        """(n, 3) [m] of its vertices at a time [s] if a command moves it."""
        if self.command is None:
            return None
        position, rotation = self.command.pose(time)
        return self._made @ rotation.T + position


class Placements:
    """Where all obstacles of a simulation are: those with formulas, then meshes and held rigid bodies, as listed in the
    scene.
    """

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
        self.bodies = {
            k: PointsPlacement(body, h, step, lambda k=k: positions(k))  # type: ignore[misc]
            for k, body in enumerate(bodies)
            if isinstance(body, MeshObstacleBody) or (isinstance(body, RigidBody) and body.is_held)
        }
        self.jumps = HeldJumps()

    def begin(self, model: Model, x: np.ndarray, steps: int) -> None:
        """Before the first of so many steps of one call, a step or a frame, from positions x (n, 3) [m]."""
        for one in self._all:
            one.begin(steps)
        if steps > 1:
            self.jumps.find(model, x, self._step(), steps, self.h)

    def place_held(self, model: Model, x: np.ndarray) -> None:
        """Put prescribed vertices in x (n, 3) [m] where they are to be at the end of the step that is being made."""
        step = self._step() + 1
        for kinematic in model.kinematic:
            kinematic.put(x, step * self.h, self.jumps.left(kinematic, step))
        for k, placement in self.bodies.items():
            commanded = placement.positions(step * self.h)
            if commanded is not None:
                x[model.vertices_of(k)] = commanded

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
        self.jumps.forget()
        for one in self._all:
            one.restart()

    @property
    def _all(self) -> list[Placement]:
        return [*self.shapes, *self.bodies.values()]


def _is_of_time(shape: Shape) -> bool:
    """Whether the time alone says where it is, to the last bit: at rest, or moved by what a file keeps."""
    return shape.motion is None or isinstance(shape.motion, RigidMotion)


def _rotation(orientation: ArrayLike, what: str) -> np.ndarray:
    """(3, 3) of a quaternion (w, x, y, z) or a rotation matrix."""
    try:
        given = np.array(orientation, dtype=float)
    except NO_NUMBER:
        given = np.empty(0)
    if given.shape == (4,) and np.isfinite(given).all() and np.linalg.norm(given) > 0:
        return rotations.matrices(rotations.normalised(given))
    if given.shape == (3, 3) and np.isfinite(given).all():
        error = np.abs(given @ given.T - np.eye(3)).max()
        if error < 1e-6 and np.linalg.det(given) > 0:
            return given
    raise SceneError(f"{what} is {orientation!r}: give a quaternion (w, x, y, z) or a rotation matrix (3, 3).")
