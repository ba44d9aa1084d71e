"""How far bodies as wholes are from where the forces on them balance.

Iterations that move vertex by vertex carry a stiff body along by little more than m / (h^2 k) of what is missing, so
that it hardly moves any more long before it is where it belongs, and what is seen of its motion tells nothing. But
forces inside a body have neither sum nor torque: inertia and contacts alone say how far it would go as a whole,

    (M / h^2 + K) e = f

with its force and torque f, its masses and moments M, and the stiffness K of its contacts, their other sides held.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.energies.free_parts import free_parts
from pliant.kernels.rigid_sums import rigid_sums
from pliant.kernels.whole_distances import whole_distances
from pliant.model import CARRIED

SEEN = 0.33  # of what independent roundings would add up to
THIN = 1e-10  # of the moments of inertia, added to them: a rope along a line has none about it


@dataclass(frozen=True)
class WholeBodies:
    """Bodies that only inertia, fields and contacts move as wholes."""

    number: np.ndarray  # (n,) of each vertex among them, -1 for those of other bodies
    bodies: np.ndarray  # (k,) which they are

    def touch(self, problem: IncrementalPotential) -> bool:
        """Whether there are such bodies, and contacts that may hold them."""
        return len(self.bodies) > 0 and problem.contacts is not None and problem.contacts.count > 0

    def distances(self, problem: IncrementalPotential, x: np.ndarray, count: int) -> np.ndarray:
        """(count,) [m] root mean square over each body of e; 0 for bodies that something else holds."""
        out = np.zeros(count)
        if problem.contacts is None or not self.touch(problem):
            return out
        contacts = problem.contacts.copied()
        contacts.refresh(x)
        forces, blocks = contacts.forces_and_blocks(x)
        w, k = problem.inertia, len(self.bodies)
        middle, balance, moments, found = np.zeros((k, 4)), np.zeros((k, 6)), np.zeros((k, 3, 3)), np.zeros(k)
        rigid_sums(self.number, w, x, w[:, None] * (problem.y - x), middle, balance, moments)
        arrays = (contacts.vertices, contacts.weights, forces, blocks)
        whole_distances(self.number, *arrays, np.ascontiguousarray(x), middle, balance, moments, THIN, found)
        out[self.bodies] = found
        return out

    def lost(self, rounding: np.ndarray, touching: np.ndarray) -> np.ndarray:
        """(count,) part of the step's forces that rounding of positions takes from bodies in contact as wholes.

        rounding (count,): of single vertices; touching (count,): stiffness by contacts. How a stiff body presses on
        others is a matter of strains that positions hardly resolve; rounding of n vertices, each on its own, leaves
        1 / sqrt(n) of it to the body as a whole, and a third of that was seen (block on an incline, 1e8 to 1e10 Pa).
        """
        out = np.zeros(len(rounding))
        vertices = np.bincount(self.number[self.number >= 0], minlength=len(self.bodies))
        out[self.bodies] = SEEN * rounding[self.bodies] / np.sqrt(vertices)
        return np.where(touching > 0, out, 0.0)


def find_whole_bodies(problem: IncrementalPotential, body: np.ndarray) -> WholeBodies:
    """body (n,): that of each vertex, -1 for those that do not move."""
    part = np.where(problem.model.subspace == CARRIED, -1, body)
    is_free = free_parts(problem, part)
    is_free &= np.bincount(part[part >= 0], minlength=len(is_free)) > 0
    number = np.where(is_free, np.cumsum(is_free) - 1, -1)
    own = np.full(len(part), -1)
    own[part >= 0] = number[part[part >= 0]]
    return WholeBodies(own, np.flatnonzero(is_free))
