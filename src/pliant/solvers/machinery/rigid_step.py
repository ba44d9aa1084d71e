"""Rigid bodies in a step with hard constraints: their motion without constraints, and where velocities lead them."""

from __future__ import annotations

import numpy as np

from pliant.constraints.rows import Rigid, rigid_room
from pliant.energies import IncrementalPotential
from pliant.geometry import rotations
from pliant.model import Model
from pliant.model.rigid import pose_of


class RigidStep:
    """The bodies of a model. Within a step their levers and tensors of inertia are those of its start."""

    def __init__(self, model: Model, dtype: np.dtype):
        self.carried = model.carried
        count = 0 if self.carried is None else self.carried.count
        self.room: Rigid = rigid_room(count, dtype)
        self.carrier_of = np.full(model.n_vertices, -1, np.int32)
        self.centres = np.zeros((count, 3))  # [m] at the start of the step
        self._spins = np.zeros((count, 3))  # [rad/s] without constraints
        self._free = np.zeros((count, 7))  # poses: centres at the start, orientations at the end without constraints
        self._ends = np.zeros((count, 7))  # poses that the velocities lead to
        if self.carried is not None:
            own = self.carried
            self.carrier_of[own.points] = own.body
            has_mass = model.mass[own.points] > 0
            self._masses = own.points[has_mass].reshape(count, -1)
            self._offsets = own.offsets[has_mass].reshape(count, -1, 3)

    def begin(self, problem: IncrementalPotential, rigid: Rigid) -> None:
        """Write twists without constraints, masses and tensors."""
        own = self.carried
        if own is None:
            return
        h, x = problem.h, problem.x_prev[self._masses]
        start = np.stack([pose_of(points, offsets) for points, offsets in zip(x, self._offsets, strict=True)])
        self.centres[:] = start[:, :3]
        turned = rotations.products(problem.poses[:, 3:], rotations.inverses(start[:, 3:]))
        self._spins[:] = rotations.to_vectors(turned) / h
        self._free[:, :3], self._free[:, 3:] = self.centres, problem.poses[:, 3:]
        masses = own.mass_matrices(problem.inertia * h**2, start)
        rigid.twist[:, :3] = (problem.y[self._masses].mean(axis=1) - self.centres) / h
        rigid.twist[:, 3:] = self._spins
        rigid.inverse_mass[:] = 1 / masses[:, 0, 0]
        rigid.inverse_inertia[:] = np.linalg.inv(masses[:, 3:, 3:])

    def inverse_mass_of_vertices(self, w: np.ndarray) -> np.ndarray:
        """(n,) [1/kg]: w (n,), with that of their bodies for vertices that are carried."""
        if self.carried is None:
            return w
        seen = w.copy()
        seen[self.carried.points] = self.room.inverse_mass[self.carried.body]
        return seen

    def write(self, problem: IncrementalPotential, x: np.ndarray, twist: np.ndarray) -> None:
        """Poses, and positions x (n, 3) [m] of carried points, that twists (b, 6) lead to."""
        if self.carried is None:
            return
        v, w = twist[:, :3].astype(float), twist[:, 3:] - self._spins
        self._ends[:] = self.carried.moved(self._free, problem.h * np.concatenate([v, w], axis=1))
        problem.poses[:] = self._ends
        x[self.carried.points] = self.carried.places(self._ends)

    def settle(self, v: np.ndarray, twists: np.ndarray, settled: np.ndarray) -> None:
        """Make settled twists (b, 6) those of the bodies, and of their points, whose velocities are v (n, 3) [m/s]."""
        if self.carried is not None:
            twists[:] = settled
            v[self.carried.points] = self.carried.spread(twists, self._ends)
