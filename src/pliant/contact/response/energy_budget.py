"""No energy from contact: the energy of bodies that touch rises by no more than forces and obstacles put in (0040).

The minimum of a step of implicit Euler, with convex potentials, satisfies

    T + E + C  <=  T_0 + E_0 + C_0 + sum_i m_i a_i . d_i + sum_o f_o . d_o

with kinetic energy T, that of elements E and of contacts C, the displacements d of the step, accelerations a by gravity
and other forces, and the forces f at the end of the step on what is prescribed, obstacles and held vertices. It breaks
by a step that ended early or was cut short by the guarantee; by normals, weights and friction limits that changed
after they were used. All of it is seen in the difference, island by island of bodies that touch, and is taken out of
their velocities, but for rigid motions of free islands, whose momenta stay. C_0 is of the contacts of the step as it
begins: what detection finds late begins without force (decision 0024).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pliant.contact.response.step_account import Islands, Rise, StepAccount, StepEnds
from pliant.energies.elements import energy_of
from pliant.geometry.components import connected_components
from pliant.lanes.compiled import cached, compiled
from pliant.model import CARRIED, Block, Model

MOST_BLOCKS = 16  # of which it is remembered whose elements they are
REMEMBERED = 3  # positions: the start of a step, its end, and what was tried between


class Known(NamedTuple):
    """Energies of elements (bodies,) [J] of some blocks at positions x (n, 3) [m]."""

    x: np.ndarray
    blocks: tuple[Block, ...]
    elements: np.ndarray


@dataclass
class EnergyBudget:
    """Takes out of bodies what energy they should not have.

    body (n,): of each vertex; links (k, 2): bodies that elements connect.
    """

    body: np.ndarray
    bodies: int
    links: np.ndarray
    _owners: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)  # elements, and bodies of each
    _known: list[Known] = field(default_factory=list)  # what was measured last, the latest first

    def unpaid(self, step: StepEnds) -> np.ndarray:
        """(n,) bool: vertices of bodies that have gained more in a step than can be taken out of their velocities."""
        account = self._account(step)
        return np.zeros(len(step.x), bool) if account is None else account.unpaid()

    def settle(self, step: StepEnds, is_enforced: bool) -> Rise:
        """Look at a step that is done, and if the budget is enforced slow down what has gained energy."""
        account = self._account(step)
        return Rise() if account is None else account.settle(is_enforced)

    def _account(self, step: StepEnds) -> StepAccount | None:
        """None if nothing presses, or all that does is part of an island with a rigid body, which is left alone."""
        if not step.contacts.count:
            return None
        depths = step.contacts.depths_at_end(step.x)[0]
        contacts, start_depths = step.contacts.contacts, step.contacts.start_depths
        if cached(all_are_rigid)(contacts, start_depths, depths, step.model.subspace, CARRIED):
            return None
        pressing = np.flatnonzero(np.maximum(start_depths, depths) > 0)
        islands = self._islands(step, pressing)
        elements_at = lambda x: self._elements(step.model, x)  # noqa: E731
        return StepAccount(step, islands, self.body, depths, elements_at(step.x0), elements_at)

    def _elements(self, model: Model, x: np.ndarray) -> np.ndarray:
        """(bodies,) energies of elements [J] at x (n, 3) [m], those asked for last without measuring them again."""
        for known in self._known:
            is_same = all(one is other for one, other in zip(known.blocks, model.blocks, strict=True))
            if is_same and not len(model.internal_state) and np.array_equal(known.x, x):
                return known.elements
        total = np.zeros(self.bodies)
        for block in model.blocks:
            if block.is_stored and len(block.elements):
                total += np.bincount(self._bodies_of(block), energy_of(block).energies(block, x), self.bodies)
        self._known = [Known(x.copy(), model.blocks, total), *self._known[: REMEMBERED - 1]]
        return total

    def _bodies_of(self, block: Block) -> np.ndarray:
        """(m,) of each element."""
        for elements, bodies in self._owners:
            if elements is block.elements:
                return bodies
        bodies = self.body[block.elements[:, 0]]
        self._owners = [(block.elements, bodies), *self._owners[: MOST_BLOCKS - 1]]
        return bodies

    def _islands(self, step: StepEnds, pressing: np.ndarray) -> Islands:
        """Bodies that contacts (k,) which press at either end of a step join; what is held joins nothing."""
        corners, moves = step.contacts.contacts.vertices, step.model.is_free
        first, is_held = np.empty(len(pressing), np.int64), np.empty(len(pressing), bool)
        pairs = np.empty((3 * len(pressing), 2), np.int64)
        used = cached(join_bodies)(pressing, corners, self.body, moves, first, is_held, pairs)
        count, of_body = connected_components(np.concatenate([self.links, pairs[:used]]), self.bodies)
        touches, is_free = np.zeros(count, bool), np.ones(count, bool)
        of_contact = of_body[first]
        touches[of_contact] = True
        is_free[of_contact[is_held]] = False
        is_free[of_body[self.body[~step.model.is_free]]] = False
        return Islands(of_body, count, pressing, of_contact, touches, is_free)


@compiled
def all_are_rigid(contacts, start_depths, depths, subspace, carried):
    """Whether each contact that presses at either end of a step has a rigid body that moves."""
    for c in range(len(depths)):
        if start_depths[c] <= 0.0 and depths[c] <= 0.0:
            continue
        is_rigid = False
        for i in range(4):
            v = contacts.vertices[c, i]
            is_rigid = is_rigid or (v >= 0 and subspace[v] == carried)
        if not is_rigid:
            return False
    return True


@compiled
def join_bodies(pressing, corners, body, moves, first, is_held, pairs):
    """Of each of some contacts with corners (k, 4): the body of the first that moves, or of the first; whether a corner
    does not move, or is an obstacle's. Bodies of its other corners that move are pairs with the first; how many.
    """
    used = 0
    for k in range(len(pressing)):
        c = pressing[k]
        one, is_held[k] = -1, False
        for i in range(4):
            v = corners[c, i]
            if v < 0 or not moves[v]:
                is_held[k] = True
            elif one < 0:
                one = body[v]
            elif body[v] != one:
                pairs[used, 0], pairs[used, 1] = one, body[v]
                used += 1
        first[k] = one if one >= 0 else body[corners[c, 0]]
    return used


def energy_budget(model: Model) -> EnergyBudget | None:
    """For the bodies of a model; None for particles, which other solvers move."""
    if model.contact is None or model.particles is not None:
        return None
    body = model.contact.body
    links = [np.zeros((0, 2), np.int64)]
    for block in model.blocks:
        own = body[block.elements]
        across = own[(own != own[:, :1]).any(axis=1)]
        links += [across[:, [0, k]] for k in range(1, across.shape[1])]
    return EnergyBudget(body, len(model.contact.allowed), np.concatenate(links))
