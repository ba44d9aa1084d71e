"""Proximal steps towards a minimum of the total potential energy E (Rockafellar 1976). Each lowers

    E(x) + s/2 |x - x_k|_M^2,        s [1/s^2]

from where the last ended: a step of implicit Euler of length 1 / sqrt(s) that starts at rest, so that every solver of
steps can do it.

Newton's method makes one iteration per step, and s follows Levenberg and Marquardt: small while whole steps go well,
so that convergence is quadratic; larger where a step is too long or only a part of it lowers the energy, as of sheets
without tension, ropes under compression and what is not yet held by contact. A step may meet what it was chosen
without: it is chosen again with it, and halved while that takes more energy than the step gives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.contact.contact_set import chosen, joined
from pliant.contact.response.potential import ContactPotential
from pliant.contact.tracking.identity import contact_ids, places_among
from pliant.energies import IncrementalPotential
from pliant.model import CARRIED, Block, Solids
from pliant.solvers import Execution, Newton, Solver
from pliant.solvers.machinery.assembly import AssembledPotential
from pliant.solvers.machinery.factorisation import NotPositiveDefinite, Solve
from pliant.solvers.machinery.step_space import StepSpace, step_space
from pliant.solvers.newton import backtrack, hessian_solve, projected_solve
from pliant.statics.following_loads import Loads, following_step, is_nearer
from pliant.statics.foresight import foreseen, gripped, is_surprised, pressing

SOFTEST, STIFFEST = 1e-11, 10.0  # of the stiffness of a vertex over its mass: the range of s
OF_OTHERS = 1e-4  # the same, of solvers other than Newton's method
FALL = 10.0  # factor of s after a whole step
FIRM = 1e-6  # as s: tried where the true Hessian is not positive definite
RISE = 4.0  # after a small part of one
JUMP = 100.0  # after one that is too long to be tried
WHOLE, SMALL = 0.9, 0.3  # parts of a step
REACH = 0.5  # of the extent of the scene: the longest way of a vertex in one step
SLIGHT = 1e-2  # of the energy of contacts: a rise by new ones that shortens no step
SHORTEST = 1e-6  # part of a step: what is not halved again for the contacts that it meets
EVERY = 3  # iterations in which the true Hessian is tried again where it is not positive definite
LEAST_GRIP = 1e-3
GOOD, BAD = 0.75, 0.25  # of what a step promises
SIGHTS = 4  # times that a step is chosen with the contacts where the one before leads
TRIES = 4  # of an iteration: each knows the contacts that the ones before have met
SAMPLE = 400  # vertices whose stiffness is looked at
NO_INERTIA = 1e100  # [s] of a step without any

Detect = Callable[[np.ndarray], ContactPotential]  # contacts of a load step of which positions (n, 3) [m] are the end


class Descent(ABC):
    """One load step's iterations."""

    is_stuck: bool = False  # no step lowers the energy any more
    is_doubtful: bool = False  # the true Hessian was last not positive definite: the shape may not be stable

    @abstractmethod
    def advance(self, problem: IncrementalPotential, x: np.ndarray, poses: np.ndarray) -> None:
        """Bring positions x (n, 3) and poses (b, 7), those of the problem, nearer to a minimum of it, in place."""


@dataclass
class LevenbergDescent(Descent):
    """One iteration of a method with Hessians per step; s follows how well it went."""

    work: AssembledPotential
    stiffness: float  # of a vertex over its mass [1/s^2]
    s: float  # [1/s^2]
    detect: Detect | None  # None: the scene has no contact

    def spaces(self, space: StepSpace) -> tuple[StepSpace, StepSpace]:
        """The unknowns with this s, and with a larger one.

        Away from equilibrium, turning what is free to turn has a small negative stiffness.
        """
        firm = max(self.s, FIRM * self.stiffness)
        return space, step_space(replace(space.problem, h=firm**-0.5), space.x, self.work)

    def space(self, problem: IncrementalPotential, x: np.ndarray) -> StepSpace:
        """The unknowns around positions x (n, 3)."""
        return step_space(replace(problem, h=self.s**-0.5), x, self.work)

    def is_too_long(self, space: StepSpace, step: np.ndarray) -> bool:
        """Whether a step (N,) leads so far that it is not tried; then s grows."""
        reach = REACH * max(float(np.ptp(space.x, axis=0).max()), 1e-300)
        if np.abs(space.moved(step)[0] - space.x).max() <= reach or self.s >= STIFFEST * self.stiffness:
            return False
        self.s *= JUMP
        return True

    def met(self, space: StepSpace, step: np.ndarray, part: float) -> ContactPotential | None:
        """The contacts that a part of a step (N,) was chosen with, and those found at its end, if these store more than
        the energy falls by.
        """
        problem, work = space.problem, space.work
        if self.detect is None or part == 0.0:
            return None
        known = problem.contacts
        assert isinstance(known, ContactPotential)
        trial, _ = space.moved(part * step)
        found, stored = self.detect(trial), known.stored(trial)
        rise = found.stored(trial) - stored
        if rise <= SLIGHT * stored:
            return None
        if rise <= work.energy(problem, space.x) - work.energy(problem, trial):
            return None
        is_new = places_among(contact_ids(found.contacts), contact_ids(known.contacts)) < 0
        new = chosen(found.contacts, is_new & (found.depths(trial) > 0))
        return replace(known, contacts=joined(known.contacts, new))

    def held_back(self, space: StepSpace, step: np.ndarray, part: float) -> float:
        """The part of a step (N,) that is taken: halved while it meets what it was chosen without."""
        while part > SHORTEST and self.met(space, step, part) is not None:
            part /= 2
        return part

    def learn(self, part: float) -> None:
        """Go on from a step of which this part was taken."""
        self.is_stuck = part == 0.0 and self.s >= self.stiffness
        if part >= WHOLE:
            self.s = max(self.s / FALL, SOFTEST * self.stiffness)
        elif part < SMALL:
            self.s = min(self.s * (RISE if part else JUMP), STIFFEST * self.stiffness)


@dataclass
class NewtonDescent(LevenbergDescent):
    """One iteration of Newton's method per step."""

    solver: Newton
    loads: Loads | None = None  # that follow positions
    projected: int = 0  # iterations since the true Hessian was positive definite
    grip: float = 1.0  # of contacts (statics.foresight)
    promise: tuple[float, float] | None = None  # [J] before the last step, and by how much it was to lower it

    def advance(self, problem: IncrementalPotential, x: np.ndarray, poses: np.ndarray) -> None:
        problem.refresh_contacts(x)
        self._adapt_grip(problem, x)
        for _ in range(TRIES):
            while True:
                space = self.space(problem, x)
                g = space.gradient()
                if not g.any():
                    return
                step, follows = self._direction(space, g)
                if not self.is_too_long(space, step):
                    break
            is_good = follows and self.loads is not None and is_nearer(space, step, self.loads)
            part = 1.0 if is_good else backtrack(space, step, float(g @ step))
            step, part = self._with_foresight(space, g, step, part)
            met = self.met(space, step, part)
            if met is None:
                break
            assert problem.contacts is not None
            if met.count == problem.contacts.count:
                break
            problem = replace(problem, contacts=met)
            problem.refresh_contacts(x)
        part = self.held_back(space, step, part)
        if problem.contacts is not None:
            fall = part * (1 - 0.5 * part) * abs(float(g @ step))
            self.promise = (self.work.energy(problem, x), fall)
        x[:], poses[:] = space.moved(part * step)
        self.learn(part)

    def _adapt_grip(self, problem: IncrementalPotential, x: np.ndarray) -> None:
        """Let contacts slide more easily where the last step did what it promised."""
        if problem.contacts is None or self.promise is None:
            return
        before, fall = self.promise
        kept = (before - self.work.energy(problem, x)) / max(fall, 1e-300)
        if kept > GOOD:
            self.grip = max(self.grip / FALL, LEAST_GRIP)
        elif kept < BAD:
            self.grip = min(self.grip * FALL, 1.0)

    def _with_foresight(
        self, space: StepSpace, g: np.ndarray, step: np.ndarray, part: float
    ) -> tuple[np.ndarray, float]:  # fmt: skip
        """A step (N,) and the part of it to take, or those of a step that is chosen with the contacts that will press,
        if these lower the energy further.
        """
        contacts = space.problem.contacts
        if not isinstance(contacts, ContactPotential) or not contacts.count:
            return step, part
        presses, found = pressing(contacts, space.x), step
        for _ in range(SIGHTS):
            trial, _ = space.moved(found)
            if not is_surprised(contacts, presses, trial, 0.5 * abs(float(g @ found))):
                break
            presses = pressing(contacts, trial)
            twin, pulls = foreseen(contacts, space.x, presses)
            there = step_space(replace(space.problem, contacts=twin), space.x, self.work)
            found = self._direction(there, there.gradient() - there.along(twin.at_vertices(pulls, len(space.x))))[0]
        slope = float(g @ found)
        if found is step or slope >= 0:
            return step, part
        own = backtrack(space, found, slope)
        energies = (self.work.energy(space.problem, space.moved(a * d)[0]) for a, d in ((part, step), (own, found)))
        return (step, part) if next(energies) <= next(energies) else (found, own)

    def _direction(self, space: StepSpace, g: np.ndarray) -> tuple[np.ndarray, bool]:
        """A descent direction with the true Hessian, if need be with a larger s, else with a positive one; and whether
        it takes into account how loads follow.
        """
        contacts, model = space.problem.contacts, space.problem.model.contact
        if isinstance(contacts, ContactPotential) and contacts.count and model is not None:
            held = gripped(contacts, space.x, model.edge, self.grip)
            space = step_space(replace(space.problem, contacts=held), space.x, self.work)
        solve, step = self._solution(space, -g)
        if self.loads is None or self.solver.linear != "direct":
            return step, False
        found = following_step(space, g, step, solve, self.loads)
        return (step, False) if found is None else (found, True)

    def _solution(self, space: StepSpace, b: np.ndarray) -> tuple[Solve, np.ndarray]:
        if self.projected % EVERY == 0:
            for candidate in self.spaces(space):
                try:
                    found = hessian_solve(candidate, self.solver.linear, False, b)
                    self.projected, self.is_doubtful = 0, candidate is not space
                    return found
                except NotPositiveDefinite:
                    continue
        self.projected, self.is_doubtful = self.projected + 1, True
        return projected_solve(space, self.solver.linear, b)


@dataclass
class SolverDescent(Descent):
    """All iterations of any solver per step, with s constant."""

    solver: Solver[Any]
    execution: Execution
    h: float  # [s]

    def advance(self, problem: IncrementalPotential, x: np.ndarray, poses: np.ndarray) -> None:
        step = replace(problem, h=self.h)
        work = self.solver.init(step, self.execution)  # loads may have changed
        self.solver.begin_step(step, work)
        self.solver.sweep(step, x, work, self.solver.iterations)


def vertex_stiffness(problem: IncrementalPotential) -> float:
    """The median over vertices, at most SAMPLE of them, of stiffness over mass [1/s^2], elements alone."""
    model = problem.model
    own = np.flatnonzero(model.is_free & (model.subspace != CARRIED) & (model.mass > 0))
    if not len(own):
        return 1.0
    own = own[:: -(-len(own) // SAMPLE)]
    around = np.zeros(model.n_vertices, bool)
    around[own] = True
    near = tuple(_sampled(block, around) for block in model.blocks)
    blocks = replace(problem, model=replace(model, blocks=near), contacts=None, h=NO_INERTIA).vertex_blocks(
        problem.x_prev
    )
    ratio = np.einsum("naa->n", blocks)[own] / (3 * model.mass[own])
    ratio = ratio[np.isfinite(ratio) & (ratio > 0)]
    return float(np.median(ratio)) if len(ratio) else 1.0


def _sampled(block: Block, around: np.ndarray) -> Block:
    """The elements of solids at some vertices (n,); of other blocks, all."""
    return block.taken(np.flatnonzero(around[block.elements].any(axis=1))) if isinstance(block, Solids) else block
