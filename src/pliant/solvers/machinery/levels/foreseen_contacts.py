"""Contacts where a motion that the levels propose would end.

The matrix of a correction has the contacts that press where it begins. What falls towards something that it does not
press yet would go through it, and what takes off would be held back. So contacts are asked again where the motion ends,
as vertex block descent asks them for the step of a vertex (decision 0049), and the levels' equations are solved again
with those until both agree: Newton's method for the quadratic of elements and the energy of contacts, in the unknowns
of the levels.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.contact.response.potential import ContactPotential

SOLUTIONS = 12  # of the levels' equations for one correction at most
FOREIGN = 0.5  # of the fall of energy that a solution promises: what contacts may do beyond its quadratic
LITTLE = 0.3  # of the fall of all solutions: what the last one promises where they end


@dataclass
class ForeseenContacts:
    """Contacts along the motion of a correction, their closest points, normals and friction limits held."""

    potential: ContactPotential
    energy: float  # where the correction begins [J]
    forces: np.ndarray  # (k, 3) [N] and
    blocks: np.ndarray  # (k, 3, 3) [N/m] where the last solution was taken up
    first_forces: np.ndarray  # (k, 3) [N] where the correction begins
    way: np.ndarray  # (k, 3) [m] by which separations have changed since the correction began
    linear: np.ndarray  # (k, 3) [N] that the solutions so far have taken contacts to change by
    stored: float  # where the motion has come to [J]
    step: np.ndarray = field(init=False)  # (k, 3) [m] of `way` by the last solution, and
    taken: np.ndarray = field(init=False)  # (k, 3) [N] of `linear`

    def follow(self, x: np.ndarray, motion: np.ndarray) -> float:
        """Go a motion (n, 3) further, to x (n, 3); the energy [J] that the last solution did not know of."""
        own = self.potential
        self.step = np.einsum("ki,kia->ka", own.weights, motion[own.vertices])
        self.taken = np.einsum("kab,kb->ka", self.blocks, self.step)
        expected = self.stored - float(np.sum((self.forces - 0.5 * self.taken) * self.step))
        self.way, self.linear = self.way + self.step, self.linear + self.taken
        self.stored = own.energy(x)
        return self.stored - expected

    def fall(self, work: float, curvature: float) -> float:
        """How far the energy falls to where the motion has come to [J].

        work: of the forces where the correction begins, along the motion; curvature: of all solutions, motion times
        matrix times motion, of elements and of contacts as these were taken to be [J].
        """
        of_elements = curvature - float(np.sum(self.way * self.linear))
        of_contacts = self.stored - self.energy + float(np.sum(self.first_forces * self.way))
        return work - 0.5 * of_elements - of_contacts

    def take_up(self, x: np.ndarray) -> np.ndarray:
        """Let contacts be those at x (n, 3), where the motion has come to: the forces (n, 3) [N] that the last solution
        did not know of.
        """
        before = self.forces
        self.forces, self.blocks = self.potential.forces_and_upper_blocks(x)
        return self.potential.at_vertices(self.forces - before + self.taken, len(x))


def foresee(potential: ContactPotential, x: np.ndarray) -> ForeseenContacts:
    """Contacts of a correction that begins at x (n, 3) [m]."""
    forces, blocks = potential.forces_and_upper_blocks(x)
    nothing = np.zeros_like(forces)
    stored = potential.energy(x)
    return ForeseenContacts(potential, stored, forces, blocks, forces, nothing, nothing, stored)
