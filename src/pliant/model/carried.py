"""Points that rigid bodies carry.

    x_i = p + R(q) r_i        of a body with the pose (p, q), q a unit quaternion (w, x, y, z)

A body moves by six numbers u = (dp, theta): p + dp, and q turned by the rotation vector theta [rad] in world axes. What
acts on a carried point reaches them by its Jacobian

    dx_i/du = (Identity, -[a_i]_x),    a_i = R(q) r_i

so contact, friction, attachments, springs and pressure act on rigid bodies without code of their own. So does inertia:
a body's mass is that of its points. Four points of equal mass represent any mass, centre and inertia exactly
(`mass_points`), and the inertial potential of the points is then the variational form of rigid motion of Ferguson et
al. (2021), |p - p^|^2 m / (2 h^2) + tr((R - R^) J (R - R^)^T) / (2 h^2).

Deviation: they take R^ = R_t + h dR_t/dt, which is no rotation; a free body then loses the part (w h)^2 of its angular
velocity w in every step, 2 pi w h in every turn. Here R^ = exp(h w^) R_t is where the body would be without forces,
after a step of implicit Euler that keeps the angular momentum L: I(R^) w^ = L (`kernels.rigid_motion`). A free
body then keeps L to rounding, and spinning about a principal axis loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pliant.geometry import rotations

UNKNOWNS = 6  # of a body
CORNERS = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])  # of the tet of the mass points, by its axes


class CarriedRows(NamedTuple):
    """Points that bodies carry, as kernels take them: fields of CarriedPoints."""

    points: np.ndarray  # (k,)
    start: np.ndarray  # (b + 1,)
    offsets: np.ndarray  # (k, 3)
    inertia: np.ndarray  # (b, 3, 3)


@dataclass(frozen=True)
class CarriedPoints:
    """Which points bodies carry. Arrays of points are (k, ...), body after body."""

    points: np.ndarray  # (k,) by their numbers in the scene
    start: np.ndarray  # (b + 1,) first point of each body
    offsets: np.ndarray  # (k, 3) r in the body's axes [m]
    poses: np.ndarray  # (b, 7) when the simulation starts: position [m] and orientation
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((0, 3, 3)))  # (b, 3, 3) in the bodies' axes [kg m^2]

    @property
    def count(self) -> int:
        """How many bodies there are."""
        return len(self.start) - 1

    @cached_property
    def body(self) -> np.ndarray:
        """(k,) that carries each point."""
        return np.repeat(np.arange(self.count), np.diff(self.start))

    @cached_property
    def first_points(self) -> np.ndarray:
        """(b,) the first point of each body."""
        return self.points[self.start[:-1]]

    @cached_property
    def rows(self) -> CarriedRows:
        """For kernels."""
        return CarriedRows(self.points, self.start, self.offsets, self.inertia)

    @cached_property
    def carrier(self) -> np.ndarray:
        """(m,) body of each of the first m points of the scene, -1 where there is none; none carries the rest."""
        carrier = np.full(int(self.points.max(initial=-1)) + 1, -1)
        carrier[self.points] = self.body
        return carrier

    def row_of(self, points: np.ndarray) -> np.ndarray:
        """Rows of points (k,) of the scene, -1 for those that no body carries; a model's points ascend."""
        rows = np.minimum(np.searchsorted(self.points, points), len(self.points) - 1)
        return np.where(self.points[rows] == points, rows, -1)

    @cached_property
    def inverse_inertia(self) -> np.ndarray:
        """(b, 3, 3) [1/(kg m^2)] in the bodies' axes."""
        return np.linalg.inv(self.inertia)

    def masses(self, mass: np.ndarray) -> np.ndarray:
        """(b,) [kg] of the bodies, from those of the points (n,) [kg]."""
        return np.bincount(self.body, mass[self.points], self.count)

    def arms(self, poses: np.ndarray) -> np.ndarray:
        """a (k, 3) [m] at poses (b, 7)."""
        return np.einsum("kij,kj->ki", rotations.matrices(poses[:, 3:])[self.body], self.offsets)

    def places(self, poses: np.ndarray) -> np.ndarray:
        """x (k, 3) [m] at poses (b, 7)."""
        return poses[self.body, :3] + self.arms(poses)

    def gathered(self, vectors: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """Force and torque (b, 6) on the bodies of vectors (n, 3) at the scene's points: the transposed Jacobian."""
        own = vectors[self.points]
        values = np.concatenate([own, rotations.crossed(self.arms(poses), own)], axis=1)
        return np.add.reduceat(values, self.start[:-1], axis=0) if self.count else np.zeros((0, UNKNOWNS))

    def spread(self, motions: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """Motion (k, 3) of the points for motions (b, 6) of the bodies: the Jacobian."""
        own = motions[self.body]
        return own[:, :3] + rotations.crossed(own[:, 3:], self.arms(poses))

    def mass_matrices(self, mass: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """(b, 6, 6) kinetic energy's Hessian in velocity and angular velocity, for masses (n,) [kg] of the points."""
        heavy = np.flatnonzero(mass[self.points] > 0)  # most points have none
        return self._alone(heavy).gathered_blocks(mass[self.points[heavy], None, None] * np.eye(3), poses)

    def _alone(self, rows: np.ndarray) -> CarriedPoints:
        """Without other points than those of ascending rows (l,)."""
        start = np.searchsorted(rows, self.start)
        return CarriedPoints(self.points[rows], start, self.offsets[rows], self.poses, self.inertia)

    def gathered_blocks(self, blocks: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """Sum of J_i^T B_i J_i (b, 6, 6), for symmetric B (k, 3, 3) at the points."""
        J = self.jacobians(poses)
        return np.add.reduceat(J.swapaxes(1, 2) @ (blocks @ J), self.start[:-1], axis=0)

    def jacobians(self, poses: np.ndarray) -> np.ndarray:
        """dx_i/du (k, 3, 6)."""
        a = self.arms(poses)
        J = np.zeros((len(a), 3, UNKNOWNS))
        J[:, [0, 1, 2], [0, 1, 2]] = 1.0
        J[:, [0, 1, 2], [4, 5, 3]] = a[:, [2, 0, 1]]  # -[a]_x
        J[:, [0, 1, 2], [5, 3, 4]] = -a[:, [1, 2, 0]]
        return J

    def curvatures(self, gradient: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """Sum of g_i . d2x_i/dtheta2 (b, 3, 3) for a gradient (n, 3): what turning adds to a Hessian."""
        g, a = gradient[self.points], self.arms(poses)
        product = 0.5 * np.einsum("ka,kb->kab", a, g)
        own = product + product.swapaxes(1, 2) - np.einsum("ka,ka->k", a, g)[:, None, None] * np.eye(3)
        return np.add.reduceat(own, self.start[:-1], axis=0)

    def momenta(self, poses: np.ndarray, twists: np.ndarray) -> np.ndarray:
        """Angular momenta (b, 3) [kg m^2/s] about the centres of mass, in world axes."""
        R = rotations.matrices(poses[:, 3:])
        own = np.einsum("bji,bj->bi", R, twists[:, 3:])
        return np.einsum("bij,bj->bi", R @ self.inertia, own)

    def spins_of(self, poses: np.ndarray, momenta: np.ndarray) -> np.ndarray:
        """Angular velocities (b, 3) [rad/s] of bodies with these angular momenta (b, 3)."""
        R = rotations.matrices(poses[:, 3:])
        own = np.linalg.solve(self.inertia, np.einsum("bji,bj->bi", R, momenta)[:, :, None])[:, :, 0]
        return np.einsum("bij,bj->bi", R, own)

    def moved(self, poses: np.ndarray, motions: np.ndarray) -> np.ndarray:
        """Poses (b, 7) after motions (b, 6)."""
        turned = rotations.products(rotations.from_vectors(motions[:, 3:]), poses[:, 3:])
        return np.concatenate([poses[:, :3] + motions[:, :3], rotations.normalised(turned)], axis=1)


def mass_points(mass: float, second_moments: np.ndarray) -> np.ndarray:
    """Offsets (4, 3) [m] of four points of a quarter of the mass [kg] each, with the centre at 0 and the second moments
    J = sum m r r^T (3, 3) [kg m^2] of a body; its tensor of inertia is tr(J) - J.
    """
    values, axes = np.linalg.eigh(second_moments)
    return CORNERS * np.sqrt(np.maximum(values, 0) / mass) @ axes.T


def frame_of(points: np.ndarray) -> np.ndarray:
    """Columns E_a (..., 3, 3) [m]: the principal axes that four mass points (..., 4, 3) span, as long as the root of
    the second moment over the mass.
    """
    return np.einsum("...ij,ia->...ja", points, CORNERS) / 4


def weights_of(points: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Weights (..., 4) of sum 1 with which four mass points (..., 4, 3) give places (..., 3) that they carry."""
    E = frame_of(points)
    arms = places - points.mean(axis=-2)
    along = np.einsum("...ja,...j->...a", E, arms) / np.einsum("...ja,...ja->...a", E, E)
    return (1 + along @ CORNERS.T) / 4
