"""The energy of one step, island by island of bodies that touch: what came in, what there is, and what is too much
(decision 0040).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pliant.contact.response.potential import ContactPotential
from pliant.contact.response.rigid_velocities import rigid_velocities
from pliant.energies.elements import energy_of
from pliant.lanes.compiled import cached, compiled
from pliant.model import CARRIED, Model

PAYABLE = 1.0 - 1e-9  # of the kinetic energy of an island: that can be taken out of its velocities
TOLERANCE = 1e-5  # of the energy at hand: what rounding and potentials that are not convex may add in a step


@dataclass
class StepEnds:
    """A step that was solved: where it began and where it ended. v is changed in place."""

    model: Model  # with the internal state of its end
    contacts: ContactPotential
    stiffness: np.ndarray  # (k,) [N/m] of contacts as the step began, before any was overloaded
    acceleration: np.ndarray  # (n, 3) [m/s^2] by gravity and other forces
    x0: np.ndarray  # (n, 3) [m]
    v0: np.ndarray  # (n, 3) [m/s]
    x: np.ndarray
    v: np.ndarray


class Islands(NamedTuple):
    """Bodies that press each other in a step, as one."""

    of_body: np.ndarray  # (bodies,)
    size: int
    contacts: np.ndarray  # (k,) numbers of those that press
    of_contact: np.ndarray  # (k,)
    touches: np.ndarray  # (size,) bool: whether anything presses there
    is_free: np.ndarray  # (size,) bool: nothing of it is held, and no obstacle presses it


class Rise(NamedTuple):
    """Energy that contact has added in a step [J], over all islands, and how much of it was taken out again."""

    risen: float = 0.0
    removed: float = 0.0


@dataclass
class StepAccount:
    """Energies of the islands of a step.

    body (n,): of each vertex; depths (k,) [m]: of contacts at its end; before (bodies,) [J]: energies of elements at
    its start; elements_at: the energies of elements (bodies,) [J] at positions (n, 3) [m].
    """

    step: StepEnds
    islands: Islands
    body: np.ndarray
    depths: np.ndarray
    before: np.ndarray
    elements_at: Callable[[np.ndarray], np.ndarray]
    _island: np.ndarray = field(init=False)  # (n,) of each vertex that may move, -1 for others
    _mass: np.ndarray = field(init=False)  # (n,) [kg] zero for those that may not
    _kinetic_before: np.ndarray = field(init=False)  # (islands,) [J] at the start
    _pressed_before: np.ndarray = field(init=False)  # (islands,) [J] in contacts at the start
    _is_left_alone: np.ndarray = field(init=False)  # (islands,) bool: nothing presses, or a rigid body is part of it

    def __post_init__(self) -> None:
        model, islands = self.step.model, self.islands
        self._island = np.where(model.is_free, islands.of_body[self.body], -1)
        self._mass = np.where(model.is_free, model.mass, 0.0)
        self._kinetic_before = self._kinetic(self.step.v0)
        self._pressed_before = self._in_contacts(self.step.contacts.start_depths)
        self._is_left_alone = ~islands.touches
        self._is_left_alone[self._island[model.subspace == CARRIED]] = True

    def unpaid(self) -> np.ndarray:
        """(n,) bool: vertices of islands that have more too much than can be taken out of their velocities."""
        excess = self._excess()
        if not excess.any():
            return np.zeros(len(self._island), bool)
        owes = excess > PAYABLE * self._kinetic(self._relative())
        return (self._island >= 0) & owes[self._island]

    def settle(self, is_enforced: bool) -> Rise:
        """Take out of velocities what is too much, as far as there are any; or only look."""
        excess = self._excess()
        risen = float(excess.sum())
        return Rise(risen, self._slow_down(excess) if is_enforced and risen > 0 else 0.0)

    def _excess(self) -> np.ndarray:
        """(islands,) [J] by which the energy is above what it was and what was put in, beyond the tolerance."""
        now = self._kinetic(self.step.v)
        had = self._kinetic_before + (self._of_bodies(self.before) + self._pressed_before)
        stored = self._of_bodies(self.elements_at(self.step.x)) + self._in_contacts(self.depths)
        rise = stored + now - had - self._put_in
        return np.where(self._is_left_alone, 0.0, np.maximum(rise - TOLERANCE * self._scale(now), 0.0))

    def _scale(self, now: np.ndarray) -> np.ndarray:
        """(islands,) [J] the energy at hand, with the kinetic energy at the end of the step, now (islands,) [J]."""
        stored = self._of_bodies(np.abs(self.before)) + self._pressed_before
        return np.maximum(now, self._kinetic_before) + stored + np.abs(self._put_in)

    def _slow_down(self, excess: np.ndarray) -> float:
        """Take an excess (islands,) [J] out of velocities; how much that was [J]."""
        step = self.step
        before, chosen = self._kinetic(step.v).sum(), np.where(self._island >= 0, excess[self._island] > 0, False)
        relative = self._relative()
        relative[~chosen] = 0.0
        kept = np.sqrt(np.maximum(1.0 - excess / np.maximum(self._kinetic(relative), 1e-300), 0.0))
        part = np.where(chosen, (1.0 - kept)[self._island], 0.0)
        step.v -= step.model.project(part[:, None] * relative)
        return float(before - self._kinetic(step.v).sum())

    def _relative(self) -> np.ndarray:
        """(n, 3) [m/s] velocities without those that move islands which nothing holds as rigid bodies."""
        label, v = np.where((self._island >= 0) & self.islands.is_free[self._island], self._island, -1), self.step.v
        return v - rigid_velocities(label, self.islands.size, self._mass, self.step.x, v)

    def _in_contacts(self, depths: np.ndarray) -> np.ndarray:
        """(islands,) [J] with depths (k,) [m]. The next step begins with contacts as stiff as they were before any was
        overloaded.
        """
        return self._of_contacts((0.5 * self.step.stiffness * depths**2)[self.islands.contacts])

    @cached_property
    def _put_in(self) -> np.ndarray:
        """(islands,) [J] by gravity and other forces, and by what is prescribed."""
        step, potential = self.step, self.step.contacts
        contacts, moves = potential.contacts, step.model.is_free
        way = step.x - step.x0
        work = self._of_vertices(step.acceleration, way)
        held_move = bool(way[~moves].any())
        if not held_move and not contacts.motions.any():
            return work
        forces = potential.forces(step.x)
        by_contacts = np.einsum("ka,ka->k", forces, contacts.motions)
        if held_move:
            prescribed = np.where(moves[:, None], 0.0, way)
            prescribed_sides = np.einsum("ki,kia->ka", contacts.weights, prescribed[potential.vertices])
            by_contacts -= np.einsum("ka,ka->k", forces, prescribed_sides)
            work += self._of_bodies(self._work_of_held(prescribed))
        return work + self._of_contacts(by_contacts[self.islands.contacts])

    def _work_of_held(self, prescribed: np.ndarray) -> np.ndarray:
        """(bodies,) [J] that held vertices do to elements on their way (n, 3) [m]."""
        total = np.zeros(len(self.before))
        for block in self.step.model.blocks:
            if block.is_stored and prescribed[block.elements].any():
                pull = energy_of(block).gradient(block, self.step.x)
                total += np.bincount(self.body, np.einsum("na,na->n", pull, prescribed), len(total))
        return total

    def _kinetic(self, v: np.ndarray) -> np.ndarray:
        """(islands,) [J]."""
        return 0.5 * self._of_vertices(v, v)

    def _of_vertices(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """(islands,) sums of mass times the product of vectors (n, 3) of vertices."""
        total = np.zeros(self.islands.size)
        cached(sum_products)(self._island, self._mass, a, b, total)
        return total

    def _of_bodies(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.islands.of_body, values, self.islands.size)

    def _of_contacts(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.islands.of_contact, values, self.islands.size)


@compiled
def sum_products(island, mass, a, b, total):
    """Add mass times the product of vectors a and b (n, 3) of each vertex to its island, if it has one."""
    for i in range(len(island)):
        if island[i] >= 0:
            total[island[i]] += mass[i] * (a[i, 0] * b[i, 0] + a[i, 1] * b[i, 1] + a[i, 2] * b[i, 2])
