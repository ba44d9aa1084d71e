"""The energy of all contacts of a step, for the potential that solvers minimise (elements.contact has the formulas)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from pliant.contact.contact_set import Contacts, refresh
from pliant.contact.response.penalty import f0_array, f1_over_u_array
from pliant.contact.response.touches import Touches
from pliant.elements.closest import row
from pliant.energies.scatter import sum_at_vertices, sum_blocks_at_vertices
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import add_scaled, dot, subtract


@dataclass
class ContactPotential:
    """Contacts with their weights and normals held, and the friction limit mu k d of the last refresh."""

    touches: Touches
    stiffness: float  # k_c [N/m]
    slip: float  # friction_speed h [m]
    damping: float  # k_d / h
    x_prev: np.ndarray  # (n, 3) positions at the start of the step [m]
    start_depths: np.ndarray = field(init=False)  # (k,) at the start of the step [m]
    limits: np.ndarray = field(init=False)  # (k,) friction limit [N]

    def __post_init__(self) -> None:
        self.start_depths = self.depths(self.x_prev)
        self.limits = self.touches.friction * self.stiffness * self.start_depths

    @property
    def count(self) -> int:
        """How many contacts there are."""
        return len(self.limits)

    def refresh(self, x: np.ndarray) -> None:
        """Find closest points again where they follow, and set friction limits; solvers do so before an iteration."""
        t = self.touches
        follows = np.flatnonzero(t.follows)
        if len(follows):
            part = Contacts(
                np.zeros(len(follows), np.int8),
                t.vertices[follows].astype(np.int32),
                t.weights[follows],
                t.normals[follows],
                t.gaps[follows],
                np.ones(len(follows), bool),
            )
            refresh(part, np.ascontiguousarray(x, dtype=float))
            t.weights[follows], t.normals[follows] = part.weights, part.normals
        self.limits = t.friction * self.stiffness * self.depths(x)

    def depths(self, x: np.ndarray) -> np.ndarray:
        """d (k,) [m]."""
        d = np.empty(len(self.touches.gaps))
        cached(write_depths)(self.touches, x, d)
        return d

    def stored(self, x: np.ndarray) -> float:
        """k/2 d^2 of all contacts [J], without friction and damping."""
        return 0.5 * self.stiffness * float(np.sum(self.depths(x) ** 2))

    def energy(self, x: np.ndarray) -> float:
        """[J], friction's potential included."""
        d, _, across, tangent = self._state(x)
        damped = np.where(d > 0, self.damping * across**2, 0.0)
        friction = self.limits * (f0_array(np.linalg.norm(tangent, axis=1), self.slip) - self.slip / 3)
        return float(np.sum(0.5 * self.stiffness * (d**2 + damped) + friction))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """(n, 3) [N]."""
        return sum_at_vertices(self._vertices, -self.forces(x), len(x))

    def penetrations(self, x: np.ndarray) -> np.ndarray:
        """(n,) [m] of vertices: the deepest contact that each takes part in."""
        deepest = np.zeros(len(x))
        taking_part = self.touches.weights != 0
        np.maximum.at(
            deepest,
            self._vertices[taking_part],
            np.broadcast_to(self.depths(x)[:, None], taking_part.shape)[taking_part],
        )
        return deepest

    def forces(self, x: np.ndarray) -> np.ndarray:
        """(k, 4, 3) [N] on the vertices of each contact; zero where there is none."""
        t = self.touches
        d, _, across, tangent = self._state(x)
        push = self.stiffness * np.where(d > 0, d - self.damping * across, 0.0)
        drag = self.limits * f1_over_u_array(np.linalg.norm(tangent, axis=1), self.slip)
        return t.weights[:, :, None] * (push[:, None] * t.normals - drag[:, None] * tangent)[:, None, :]

    def hessian(self, x: np.ndarray) -> sp.csr_matrix:
        """(3n, 3n) [N/m], with |u| held constant as in Equation 16: positive semidefinite."""
        t, size = self.touches, 3 * len(x)
        blocks = np.einsum("ki,kj,kab->kiajb", t.weights, t.weights, self._stiffness(x), optimize=True)
        index = (3 * self._vertices[:, :, None] + np.arange(3)).reshape(-1, 12)
        rows, columns = np.repeat(index, 12, axis=1).ravel(), np.tile(index, (1, 12)).ravel()
        return sp.csr_matrix((blocks.ravel(), (rows, columns)), shape=(size, size))

    def vertex_blocks(self, x: np.ndarray) -> np.ndarray:
        """(n, 3, 3) [N/m]."""
        own = self.touches.weights[:, :, None, None] ** 2 * self._stiffness(x)[:, None]
        return sum_blocks_at_vertices(self._vertices, own, len(x))

    @property
    def _vertices(self) -> np.ndarray:
        """(k, 4); the first repeated where there are fewer: its weight there is zero."""
        v = self.touches.vertices
        return np.where(v >= 0, v, v[:, :1])

    def _combined(self, values: np.ndarray) -> np.ndarray:
        """sum_i w_i values_i (k, 3), relative to the first vertex so that large coordinates cancel."""
        sums = np.empty((len(self.touches.gaps), 3))
        cached(write_separations)(self.touches, values, sums)
        return sums

    def _state(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Depths, relative motion, its part along the normal, and across it."""
        t = self.touches
        u = self._combined(x - self.x_prev) + t.outside[:, None] * t.motions
        across = np.einsum("ka,ka->k", u, t.normals)
        return self.depths(x), u, across, u - across[:, None] * t.normals

    def _stiffness(self, x: np.ndarray) -> np.ndarray:
        """(k, 3, 3): the block of a vertex of weight 1."""
        t = self.touches
        d, _, _, tangent = self._state(x)
        along = np.einsum("ka,kb->kab", t.normals, t.normals)
        push = self.stiffness * (d > 0) * (1 + self.damping)
        drag = self.limits * f1_over_u_array(np.linalg.norm(tangent, axis=1), self.slip)
        return push[:, None, None] * along + drag[:, None, None] * (np.eye(3) - along)


@compiled
def write_depths(touches, x, d):
    for place in range(len(d)):
        k = np.uint64(place)
        s, p, n = separation(touches, k, x), row(touches.points, k), row(touches.normals, k)
        d[k] = max(0.0, touches.gaps[k] - dot(add_scaled(s, touches.outside[k], p), n))


@compiled
def write_separations(touches, values, sums):
    for k in range(len(sums)):
        sums[k, 0], sums[k, 1], sums[k, 2] = separation(touches, k, values)


@inlined
def separation(touches, k, values):
    """Sum over the vertices of a contact, less the first's value where weights sum to zero."""
    v, w = touches.vertices, touches.weights
    first = row(values, v[k, 0])
    if touches.outside[k] != 0.0:
        return (w[k, 0] * first[0], w[k, 0] * first[1], w[k, 0] * first[2])
    total = (0.0, 0.0, 0.0)
    for i in range(1, 4):
        total = add_scaled(total, w[k, i], subtract(row(values, v[k, i]), first))
    return total
