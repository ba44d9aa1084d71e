"""Linear and angular momentum of bodies on which nothing acts but fields, restored after every solve.

Forces inside a body sum to zero and have no torque. So at the exact minimum of the step's potential

    sum_i w_i (x_i - y_i) = 0   and   sum_i w_i x_i x (x_i - y_i) = 0,   w = m / h^2   (with air damping's part),

that is, momenta change by gravity, wind and other fields alone. Iterations that end early leave both equations open,
and a body gains momentum from nothing. Of all rigid motions of the body one closes both: it moves the centre of x to
that of y and turns x about it to where sum w |x - y|^2 is least. Elastic energy does not notice, so it lowers G.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements.block import Invariance
from pliant.energies import IncrementalPotential
from pliant.geometry import vertex_graph
from pliant.geometry.components import connected_components
from pliant.integration import Euler, StepStart
from pliant.kernels.rigid_alignment import join_components, restore_momenta
from pliant.kernels.rigid_motion import write_twists
from pliant.model import CARRIED, FREE, Model

NO_POINTS = np.zeros(0, np.int64)


@dataclass(frozen=True)
class FreeComponents:
    """The connected parts of a model that nothing holds."""

    component: np.ndarray  # (n,) of each vertex, -1 for those of held parts
    turns: np.ndarray  # (components,) bool: whether their inner forces have no torque either

    @classmethod
    def of(cls, model: Model) -> FreeComponents:
        start, neighbours = vertex_graph([block.elements for block in model.blocks], model.n_vertices)
        links = np.column_stack([np.repeat(np.arange(model.n_vertices), np.diff(start)), neighbours])
        is_carried = model.subspace == CARRIED
        if model.carried is not None:
            of_body = model.carried.points[model.carried.start[model.carried.body]]
            links = np.concatenate([links, np.column_stack([of_body, model.carried.points])])
        count, label = connected_components(links, model.n_vertices)
        is_held = (model.subspace != FREE) | (model.vertex_damping > 0) | (model.mass <= 0)
        is_held &= ~is_carried
        can_turn = ~is_carried  # rigid bodies keep their angular momenta by themselves
        for block in model.blocks:
            if block.invariance is Invariance.NONE:
                is_held[block.elements] = True
            elif block.invariance is Invariance.TRANSLATION:
                can_turn[block.elements] = False
        return cls(label, np.ones(count, bool)).without(is_held)._turning(can_turn)

    def without(self, marked: np.ndarray) -> FreeComponents:
        """Those of which no vertex is marked (n,)."""
        keep = np.ones(len(self.turns), bool)
        keep[self.component[marked & (self.component >= 0)]] = False
        if keep.all():
            return self
        number = np.where(keep, np.cumsum(keep) - 1, -1)
        own = np.where(self.component >= 0, number[self.component], -1)
        return FreeComponents(own, self.turns[keep])

    def joined(self, vertices: np.ndarray, is_between_vertices: np.ndarray) -> FreeComponents:
        """With the parts that contacts of vertices (k, 4), -1 where there are fewer, join as one: forces of a contact
        sum to zero, and no shift of all its vertices changes them. Contacts that are not between vertices hold their
        parts.
        """
        count = len(self.turns)
        joint, turns = np.empty_like(self.component), np.empty_like(self.turns)
        scratch = (np.arange(count), np.zeros((3, count), np.int64))
        count = join_components(self.component, self.turns, vertices, is_between_vertices, *scratch, joint, turns)
        return FreeComponents(joint, turns[:count])

    def _turning(self, can_turn: np.ndarray) -> FreeComponents:
        turns = self.turns.copy()
        turns[self.component[~can_turn & (self.component >= 0)]] = False
        return FreeComponents(self.component, turns)

    def restore_momenta(self, problem: IncrementalPotential, x: np.ndarray) -> None:
        """Move each part of x (n, 3) [m], in place, so that force and torque on it vanish. Parts that touch each other
        move as one, without a turn; those that touch what is held or an obstacle stay as they are. Rigid bodies among
        them are shifted with their poses.
        """
        free = self
        if problem.contacts is not None and problem.contacts.count:
            free = self.joined(problem.contacts.corners, problem.contacts.is_between_vertices)
        count = len(free.turns)
        if not count:
            return
        carried, model = problem.model.carried, problem.model
        first = NO_POINTS if carried is None else carried.first_points
        own = (free.component, free.turns, model.mass, model.air_damping, problem.h, x, problem.y)
        restore_momenta(*own, first, np.empty((count, 7)), np.empty((count, 3, 3)), problem.poses)


def twists_after(model: Model, start: StepStart, poses: np.ndarray, integrator: Euler) -> np.ndarray:
    """Twists (b, 6) of rigid bodies after a step of implicit Euler to poses (b, 7).

    Of second order the angular momentum is what the free body has and what the torque, by which the step has turned it
    away from there, has added.
    """
    carried = model.carried
    assert carried is not None
    spins, twists = start.spins, np.empty((carried.count, 6))
    write_twists(start.poses, poses, spins, start.s, twists)
    if integrator.is_first_order:
        return twists
    nothing, free = np.zeros_like(spins), np.concatenate([np.zeros_like(spins), spins], axis=1)
    away = np.concatenate([nothing, twists[:, 3:] - spins], axis=1)
    at_free = carried.moved(start.poses, start.s * free)
    momenta = carried.momenta(at_free, free) + carried.momenta(poses, away)
    return np.concatenate([twists[:, :3], carried.spins_of(poses, momenta)], axis=1)
