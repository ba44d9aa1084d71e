"""Steps without intersections (decision 0030): from where bodies are apart, towards where a solver would have them as
far as is proved to be free of contact.

All vertices move straight and in the same time. Pairs that the broad phase leaves out stay apart; of every other pair
a chain of separating directions proves it (primitives/separation.py). Pairs without a proof are pushed apart where
they end, by their masses, and looked at again; what that does not solve, such as a pair that is apart at the end but
meets on the way, is done in halves and quarters of the way; and what that does not solve is held back: its vertices go
half as far, and then not at all. What nobody moves cannot meet, so this always ends. Who is prescribed, as obstacles
and held vertices are, is not held back; if others do not get out of the way even in small parts of the step, they are
squeezed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from pliant.contact.detector import Detector
from pliant.contact.response.overload import FLOOR
from pliant.contact.response.report import words_of_touching
from pliant.contact.rigid_ends import RigidEnds
from pliant.contact.search.colliders import Colliders
from pliant.contact.search.near_pairs import NearPairs, look_at_pairs, near_pairs, no_bodies, push_pairs
from pliant.contact.search.near_shapes import NearShape, look_at_shape, near_shape, push_from_shape
from pliant.contact.search.round_cores import Cores, core_pairs, cores_of, touching_cores
from pliant.contact.search.start_pairs import touching_pairs, touching_shape
from pliant.contact.tracking.passing import Skipped
from pliant.elements.closest import VERTEX_TRIANGLE
from pliant.errors import SimulationError
from pliant.geometry import rotations
from pliant.kernels.threads import Team
from pliant.lanes.compiled import cached
from pliant.model import CARRIED, ContactModel, Model
from pliant.model.obstacles import KIND_NAMES, SIZES

PUSHES = 30  # rounds of pushing pairs apart in one pass
IN_VAIN = 5  # rounds that leave no fewer pairs, after which a pass ends
LITTLE = 1e-3  # of the margin: pushes that are shorter do not help
PUSHING, PASSES = 6, 40  # passes that push, and passes in all; then all stay where they were
HALVINGS = 1  # after which a vertex stays where it was
MORE_SOLUTIONS = 2  # of a step that would have passed through something, with the guarantee
ONE_MORE = 1  # without it
AGAIN = 2  # further ways in a step for those who were held back
UNCUT = 0.125  # part of a step up to which a way is divided before anybody is held back
SMALLEST = 1.0 / 256.0  # part of a step in which others must get out of the way of who is prescribed


class Held(NamedTuple):
    """What the guarantee changed in a step, as of ContactReport."""

    held_back: int
    furthest_held_back: float


@dataclass
class SafeMotion:
    """Moves the vertices of a scene without intersections.

    scene: gives the model as it is now.
    """

    model: ContactModel
    colliders: Colliders
    team: Team
    scene: Callable[[], Model]
    ahead: Callable[[], float | None] = lambda: None
    skipped: Skipped | None = None  # who is not held apart; None: all are
    held: Held = field(default_factory=lambda: Held(0, 0.0))  # in the last step
    _kept: np.ndarray = field(init=False)  # (n,) share of the distance that pairs keep [m]
    _cores: Cores = field(init=False)  # of round rigid bodies
    _faces: np.ndarray = field(init=False)  # (k, 3) triangles, springs and cores with -1, that obstacles are asked for
    _kept_faces: np.ndarray = field(init=False)  # (k,) distance they keep [m]
    _radii: np.ndarray = field(init=False)  # (k,) of cores, zero of others [m]
    _inverse_mass: np.ndarray = field(
        default_factory=lambda: np.zeros(0)
    )  # (n,) [1/kg]; zero for who is held or prescribed
    _rigid: RigidEnds | None = None  # rigid bodies on the way that is tried
    _has_held_back: bool = False  # anybody on the way, who may try again
    _apart_at: np.ndarray | None = None  # (n, 3) [m] where all is apart, as was proved
    _margin: float = field(init=False)  # [m] that vertices may be pushed by before pairs are searched for again

    def __post_init__(self) -> None:
        model, surface = self.model, self.colliders.surface
        self._kept = FLOOR * model.radius
        self._margin = float(model.radius.max(initial=0.0))
        self._cores = cores_of(model, self.colliders)
        lines = np.concatenate([model.springs, self._cores.ends])
        faces = np.concatenate([surface.triangles, np.column_stack([lines, np.full(len(lines), -1)])]).astype(np.int32)
        radii = np.concatenate([np.zeros(len(faces) - len(self._cores.ends)), self._cores.radius])
        scene = self.scene()  # meshes that are prescribed do not touch obstacles
        skips = model.excluded | ((scene.mass == 0) & (scene.subspace != CARRIED))
        skips[self._cores.ends] = ~scene.is_free[self._cores.ends]
        counts = ~(skips[faces] & (faces >= 0)).any(axis=1)
        self._faces, self._radii = np.ascontiguousarray(faces[counts]), radii[counts]
        self._kept_faces = self._kept[self._faces[:, 0]]

    def require_apart(self, x: np.ndarray, rows: list[np.ndarray]) -> None:
        """Refuse to go on from positions x (n, 3) [m] of which nothing proves that all is apart; rows: of each obstacle
        with a formula. Where the step before ended all is.
        """
        if self._apart_at is not None and np.array_equal(self._apart_at, x):
            return
        pairs, *at_shapes = self.touching_at(x, rows)
        names = [f"{KIND_NAMES[shape.kind]} {k}" for k, shape in enumerate(self.model.shapes)]
        said = words_of_touching(self.scene().describe_vertex, pairs, at_shapes, names)
        if said:
            raise SimulationError(said)
        self._apart_at = x.copy()

    def advance(
        self,
        x: np.ndarray,
        target: np.ndarray,
        rows: list[tuple[np.ndarray, np.ndarray]],
        poses: tuple[np.ndarray, np.ndarray],
    ) -> bool:
        """Change the target (n, 3) [m] to where vertices can get from x (n, 3) without touching; whether that is within
        the thickness of where it was.

        rows: of each obstacle with a formula, where the step begins and where it ends; poses (b, 7): of rigid bodies,
        likewise, of which the second are changed too.
        """
        self._begin(poses)
        x, blocked = self._go(x, target.copy(), rows)
        if blocked is not None:
            raise SimulationError(self._words_of_squeeze(blocked))
        self._apart_at = x.copy()
        return self._end(x, target, poses)

    def keep_apart(
        self, x: np.ndarray, target: np.ndarray, poses: tuple[np.ndarray, np.ndarray], skipped: Skipped, uncut: float
    ) -> bool:
        """The same where nothing is guaranteed: bodies that are squeezed by what is prescribed, and who is skipped, may
        pass. Obstacles with formulas are left to contact forces. uncut: as of `_go`.
        """
        self.skipped = skipped
        self._begin(poses)
        x, blocked = self._go(x, target.copy(), [], uncut)
        return self._end(x, target, poses) if blocked is None else True

    def _go(
        self, x: np.ndarray, wish: np.ndarray, rows: list[tuple[np.ndarray, np.ndarray]], uncut: float = UNCUT
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Where vertices get from x to the wish (n, 3) [m]; and who is squeezed by what is prescribed, else None. In
        parts of the step up to `uncut`, some may be held back.
        """
        begin, part = 0.0, 1.0
        while begin < 1.0:
            end = min(begin + part, 1.0)
            goal = self._goal(x, wish, 1.0 if end == 1.0 else (end - begin) / (1.0 - begin))
            way_rows = [_between(*row, begin, end) for row in rows]
            reached, blocked = self._way(x, goal, way_rows, holds_back=part <= uncut)
            if reached is not None:
                x, begin = self._accept(reached), end
                continue
            part *= 0.5
            if part < SMALLEST:
                return x, blocked
        for _ in range(AGAIN if self._has_held_back else 0):
            reached, _ = self._way(x, self._goal(x, wish, 1.0), [(end, end) for _, end in rows], holds_back=True)
            if reached is None or not _differ(reached, x).any():
                break
            x = self._accept(reached)
        return x, None

    def _end(self, x: np.ndarray, target: np.ndarray, poses: tuple[np.ndarray, np.ndarray]) -> bool:
        """Write where vertices (n, 3) [m] and rigid bodies have got; whether that is near the target."""
        self.measure(x, target)
        target[:] = x
        if self._rigid is not None:
            poses[1][:] = self._rigid.now
        return self.held.furthest_held_back <= 2 * self._margin

    def measure(self, x: np.ndarray, target: np.ndarray) -> None:
        """Keep in mind how far vertices, at x (n, 3) [m], are from where they were to go."""
        away = np.linalg.norm(x - target, axis=1)
        self.held = Held(int((away > 0).sum()), float(away.max(initial=0.0)))

    def _begin(self, poses: tuple[np.ndarray, np.ndarray]) -> None:
        """Make ready for the masses that the scene has now; poses: as of `advance`."""
        model = self.scene()
        self._inverse_mass = np.where(model.is_free, 1.0 / np.maximum(model.mass, 1e-300), 0.0)
        self._rigid, self._has_held_back = None, False
        if model.carried is not None:
            self._rigid = RigidEnds(model.carried, poses[0].copy(), poses[1].copy(), model.mass)
            self._inverse_mass[model.carried.points] = 1.0  # bodies take pushes as wholes

    def _goal(self, x: np.ndarray, wish: np.ndarray, part: float) -> np.ndarray:
        """(n, 3) [m] a part of the way from x to the wish (n, 3); rigid bodies keep their shape."""
        goal = wish.copy() if part == 1.0 else x + part * (wish - x)
        if self._rigid is not None:
            self._rigid.aim(part, goal)
        return goal

    def _accept(self, reached: np.ndarray) -> np.ndarray:
        """The vertices are there (n, 3) [m], and so are rigid bodies."""
        if self._rigid is not None:
            self._rigid.accept()
        return reached

    def touching_at(self, x: np.ndarray, rows: list[np.ndarray]) -> list[np.ndarray]:
        """Vertices of what is not proved to be apart at x (n, 3) [m]: (k, 5) edges and triangles, then for each
        obstacle with a formula (k, 3) triangles and springs, the last -1 for these.
        """
        found = [np.concatenate([touching_pairs(self.team, self.colliders, x), touching_cores(self._cores, x)])]
        for shape, row in zip(self.model.shapes, rows, strict=True):
            near = near_shape(shape.kind, row, row, self._faces, self._kept_faces, self._radii)
            found.append(touching_shape(self.team, near, x))
        return found

    def _way(
        self, x: np.ndarray, goal: np.ndarray, rows: list[tuple[np.ndarray, np.ndarray]], holds_back: bool
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Where vertices get from x towards the goal, None if they do not get there unless some are held back and that
        is not to be done; and the vertices of a pair that blocks who is prescribed, else None.
        """
        end, halved, is_pushing = goal.copy(), np.zeros(len(x), np.int8), True
        free = self._inverse_mass > 0
        for number in range(PASSES + 1):
            asked, pairs, shapes = end.copy(), self._pairs(x, end), self._near_shapes(rows)
            touching = self._look(pairs, shapes, x, end, np.ones(len(x), bool))
            if not len(touching):
                return end, None
            if is_pushing and number < PUSHING:
                touching = self._push(touching, pairs, shapes, x, end)
                pushed = np.linalg.norm(end - asked, axis=1).max()
                if not len(touching) and pushed <= self._margin:
                    return end, None
                is_pushing = pushed > LITTLE * self._margin
                if is_pushing:
                    continue
            if not holds_back:
                return None, None
            blocked = self._hold_back(touching, x, end, halved, free, number == PASSES)
            if blocked is not None:
                return None, blocked
        return self._none_goes(x, goal, free), None

    def _pairs(self, x: np.ndarray, end: np.ndarray) -> NearPairs:
        """All that may come near each other on the way from x to the end (n, 3) [m]."""
        separation = 2 * self._margin + 2 * self._kept.max(initial=0.0)
        pairs = near_pairs(self.team, self.colliders, x, end, separation, self._kept, self.ahead())
        if self.skipped is not None:
            v = pairs.vertices
            own = np.where(pairs.kind == VERTEX_TRIANGLE, 1, 2)
            counts = (self._kept[v[:, [0, 2]]] > 0).any(axis=1) & ~self.skipped.pairs(v, own)
            pairs = NearPairs(*(array[counts] for array in pairs))
        if not len(self._cores.ends):
            return pairs
        others = core_pairs(self._cores, x, end, separation, self._kept)
        return NearPairs(*(np.concatenate(both) for both in zip(pairs, others, strict=True)))

    def _near_shapes(self, rows: list[tuple[np.ndarray, np.ndarray]]) -> list[NearShape]:
        """Obstacles with what they are asked for; rows: of each, where the way begins and ends."""
        return [
            near_shape(shape.kind, *row, self._faces, self._kept_faces, self._radii)
            for shape, row in zip(self.model.shapes, rows, strict=True)
        ]

    def _none_goes(self, x: np.ndarray, goal: np.ndarray, free: np.ndarray) -> np.ndarray:
        """(n, 3) [m] with all that is free where it was."""
        self._has_held_back = True
        end = np.where(free[:, None], x, goal)
        if self._rigid is not None:
            self._rigid.stay(end)
        return end

    def _look(
        self, pairs: NearPairs, shapes: list[NearShape], x: np.ndarray, end: np.ndarray, has_moved: np.ndarray
    ) -> np.ndarray:
        """Vertices (k, 4) of all that does not stay apart, -1 where there are fewer."""
        look_at_pairs(self.team, pairs, x, end, has_moved)
        found = [pairs.vertices[pairs.touching]]
        for near in shapes:
            look_at_shape(self.team, near, x, end, has_moved)
            corners = near.corners[near.touching]
            found.append(np.column_stack([corners, np.full(len(corners), -1, np.int32)]))
        return np.concatenate(found)

    def _push(
        self, touching: np.ndarray, pairs: NearPairs, shapes: list[NearShape], x: np.ndarray, end: np.ndarray
    ) -> np.ndarray:
        """Push apart what does not stay apart, by vertices (k, 4); what is left of it."""
        before, fewest, since = end.copy(), len(touching), 0
        for _ in range(PUSHES):
            has_moved = np.zeros(len(x), bool)
            bodies = no_bodies(len(x)) if self._rigid is None else self._rigid.pushed(len(x))
            for near in shapes:
                cached(push_from_shape)(near.touching, near, x, end, self._inverse_mass, bodies, has_moved)
            cached(push_pairs)(pairs.touching, pairs, x, end, self._inverse_mass, bodies, has_moved)
            if not has_moved.any():
                break
            moved = np.flatnonzero(has_moved)
            end[moved] = before[moved] + self.scene().project(end[moved] - before[moved], moved)
            if self._rigid is not None:
                self._rigid.follow(bodies, end, has_moved)
            touching = self._look(pairs, shapes, x, end, has_moved)
            since = 0 if len(touching) < fewest else since + 1
            fewest = min(fewest, len(touching))
            if not len(touching) or since == IN_VAIN:
                break
        return touching

    def _hold_back(
        self, touching: np.ndarray, x: np.ndarray, end: np.ndarray, halved: np.ndarray, free: np.ndarray, is_last: bool
    ) -> np.ndarray | None:
        """Let vertices of pairs that do not stay apart go half as far; those of a pair in which none of them moves any
        more, although it is not apart.
        """
        involved = np.unique(touching[touching >= 0])
        involved = involved[free[involved]]
        moves = _differ(end, x) & free
        stuck = np.flatnonzero(~(moves[touching] & (touching >= 0)).any(axis=1))
        if len(stuck):
            return touching[stuck[0]][touching[stuck[0]] >= 0]
        if is_last:
            prescribed = _differ(end, x) & ~free
            return touching[0][touching[0] >= 0] if prescribed.any() else None
        self._has_held_back = True
        halved[involved] += 1
        stop = involved[halved[involved] > HALVINGS]
        end[involved] = x[involved] + 0.5 * (end[involved] - x[involved])
        end[stop] = x[stop]
        if self._rigid is not None:
            self._rigid.hold_back(np.isin(np.arange(len(x)), involved), end, HALVINGS)
        return None

    def _words_of_squeeze(self, vertices: np.ndarray) -> str:
        names = ", ".join(dict.fromkeys(self.scene().describe_vertex(int(v)) for v in vertices))
        return (
            f"contact: {names} cannot get out of the way of what is moved there, an obstacle or held vertices, without "
            "an intersection, and guarantee=True allows none. Leave more room, move it more slowly, or use a softer "
            "body."
        )


def safe_motion(detector: Detector, scene: Callable[[], Model]) -> SafeMotion | None:
    """For the bodies of a detector, if their guarantee is asked for; scene: gives the model as it is now."""
    if not detector.model.settings.guarantee:
        return None
    return SafeMotion(detector.model, detector.colliders, detector.team, scene, lambda: detector._straight.reach)


def keeping_apart(detector: Detector, scene: Callable[[], Model]) -> SafeMotion | None:
    """For the bodies of a detector without a guarantee, if any keeps a distance; a stiffness that is given holds what
    it holds.
    """
    model, radius = detector.model, detector.colliders.radius
    if model.settings.guarantee or model.settings.stiffness is not None or not radius.any():
        return None
    return SafeMotion(replace(model, shapes=(), radius=radius), detector.colliders, detector.team, scene)


def _differ(x: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(n,) which rows do."""
    return (x != other).any(axis=1)


def _between(start: np.ndarray, end: np.ndarray, begin: float, until: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows of numbers of an obstacle at two parts of the way between two rows."""
    if np.array_equal(start, end):
        return start, end
    return _at(start, end, begin), _at(start, end, until)


def _at(start: np.ndarray, end: np.ndarray, part: float) -> np.ndarray:
    if part in (0.0, 1.0):
        return end if part == 1.0 else start
    row = end.copy()
    row[:3] = start[:3] + part * (end[:3] - start[:3])
    before, after = start[3:SIZES].reshape(3, 3), end[3:SIZES].reshape(3, 3)
    turn = rotations.to_vectors(rotations.from_matrix(after @ before.T))
    row[3:SIZES] = (rotations.matrices(rotations.from_vectors(part * turn)) @ before).ravel()
    return row
