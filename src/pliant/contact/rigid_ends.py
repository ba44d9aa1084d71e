"""Where rigid bodies end on a way without intersections: their points move straight, and end where a pose has them.

A chain of planes proves that what moves straight never touches (primitives/separation.py), whatever it does to the
shape of a body on the way; at both ends the body has its own. Pushes of its points become a motion of the body, by its
mass and inertia; a body that is held back goes half as far as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.contact.search.near_pairs import PushedBodies
from pliant.geometry import rotations
from pliant.model import CarriedPoints


@dataclass
class RigidEnds:
    """Poses of b bodies on a way.

    now (b, 7): where it begins; wish (b, 7): where they are to go; mass (n,) [kg] of the scene's points.
    """

    carried: CarriedPoints
    now: np.ndarray
    wish: np.ndarray
    mass: np.ndarray
    poses: np.ndarray = field(init=False)  # (b, 7) where the way that is tried ends
    _halved: np.ndarray = field(init=False)  # (b,) how often bodies were held back

    def __post_init__(self) -> None:
        self._halved, self.poses = np.zeros(self.carried.count, np.int64), self.wish.copy()

    def aim(self, part: float, points: np.ndarray) -> None:
        """Try to go that part of the way from now to the wish; writes the points (n, 3) [m] of the bodies."""
        self.poses = self.wish.copy() if part == 1.0 else between(self.now, self.wish, part)
        self._halved[:] = 0
        self.write(points)

    def write(self, points: np.ndarray) -> None:
        """Put the bodies' points (n, 3) [m] where the way ends."""
        points[self.carried.points] = self.carried.places(self.poses)

    def accept(self) -> None:
        """The way is free: they are there."""
        self.now = self.poses.copy()

    def pushed(self, n: int) -> PushedBodies:
        """The bodies as pushes move them, in a scene of n vertices."""
        of_vertex = np.full(n, -1, np.int32)
        of_vertex[: len(self.carried.carrier)] = self.carried.carrier
        inverse = np.linalg.inv(self.carried.mass_matrices(self.mass, self.poses))
        return PushedBodies(of_vertex, self.poses[:, :3].copy(), inverse, np.zeros((self.carried.count, 6)))

    def follow(self, pushed: PushedBodies, points: np.ndarray, has_moved: np.ndarray) -> None:
        """Take over motions of bodies, put all their points (n, 3) [m] there, and mark these as moved, (n,) bool."""
        moves: np.ndarray = np.any(pushed.motions != 0, axis=1)
        if moves.any():
            self.poses = self.carried.moved(self.poses, pushed.motions)
            self.write(points)
            has_moved[self.carried.points] = moves[self.carried.body]

    def hold_back(self, involved: np.ndarray, points: np.ndarray, halvings: int) -> None:
        """Let the bodies of points (n, 3) [m] that are involved, (n,) bool, go half as far; after so many halvings they
        stay.
        """
        bodies = np.flatnonzero(np.bincount(self.carried.body, involved[self.carried.points], self.carried.count))
        if not len(bodies):
            return
        self._halved[bodies] += 1
        half = between(self.now[bodies], self.poses[bodies], 0.5)
        stays = (self._halved[bodies] > halvings)[:, None]
        self.poses[bodies] = np.where(stays, self.now[bodies], half)
        self.write(points)

    def stay(self, points: np.ndarray) -> None:
        """Nobody goes anywhere."""
        self.poses = self.now.copy()
        self.write(points)


def between(start: np.ndarray, end: np.ndarray, part: float) -> np.ndarray:
    """Poses (b, 7) at a part of the way between two."""
    turn = rotations.to_vectors(rotations.products(end[:, 3:], rotations.inverses(start[:, 3:])))
    turned = rotations.products(rotations.from_vectors(part * turn), start[:, 3:])
    return np.concatenate([start[:, :3] + part * (end[:, :3] - start[:, :3]), rotations.normalised(turned)], axis=1)
