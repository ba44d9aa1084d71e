"""What can be asked of the last step of a simulation: its contacts, its residual, its time."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.contact.detector import Detector
from pliant.contact.intersections import RESTS_RIGID, RESTS_SOFT, Intersections, find_intersections
from pliant.contact.response.potential import ContactPotential
from pliant.contact.response.step_contacts import PairLoad, StepContacts, measure_contacts, no_step_contacts
from pliant.contact.rigid_overlaps import rigid_overlaps
from pliant.energies import IncrementalPotential
from pliant.energies.reactions import reactions
from pliant.errors import SimulationError
from pliant.integration import Euler
from pliant.model import CARRIED, Body, Model, Scene
from pliant.model.obstacles import Shape
from pliant.model.volume import control_of
from pliant.solvers import Solver
from pliant.solvers.contract import Work
from pliant.state import State


class LastStep:
    """The state after a step, and the step as it was posed and solved."""

    h: float  # [s]
    scene: Scene
    model: Model
    state: State
    solver: Solver[Any]
    _work: Work
    _integrator: Euler
    _detector: Detector | None
    _solved: IncrementalPotential | None  # the last step, as it was posed
    _solution: np.ndarray | None  # (n, 3) where it was solved, if that is not the end of the step
    _measured: tuple[IncrementalPotential, StepContacts] | None  # contacts of a step that was solved

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.state.step * self.h

    @property
    def integrator(self) -> str:
        """The name of the time integrator."""
        return self._integrator.name

    @property
    def contacts(self) -> StepContacts:
        """Contacts of the last step, measured when they are first asked for; none before the first step, after resuming
        and after deleting elements.
        """
        solved = self._solved
        if solved is not None and self.solver.supports.own_contacts:
            return self._work.step_contacts(self.model, self.state.x, self.time) or no_step_contacts(self.model)
        if solved is None or not isinstance(solved.contacts, ContactPotential):
            return no_step_contacts(self.model)
        if self._measured is None or self._measured[0] is not solved:
            x = self._solved_positions(solved)
            self._measured = (solved, measure_contacts(solved.contacts, solved.model, x, self.time))
        return self._measured[1]

    @property
    def reaction_forces(self) -> np.ndarray:
        """(n, 3) [N] with which pins, prescribed motions, lines and planes held the vertices in the last step, their
        weight and inertia included; zero where they are free, before the first step, after resuming and after
        deleting elements. Of bodies that deflect by less than h^2 g they fluctuate, by some percent of the weight
        with a tolerance of 0.005, by tenths of one with 0.0005.
        """
        found = np.zeros_like(self.state.x)
        if (solved := self._solved) is not None:
            model, own = solved.model, slice(solved.model.n_vertices)
            found[own] = reactions(solved, self._solved_positions(solved))
            # what is prescribed has its place as its target, so that its weight and inertia are not in G
            x, v = self.state.x[own], self.state.v[own]
            gained = (v - self.state.v_previous[own]) / self.h - model.acceleration(x, v, self.time)
            found[own] += np.where(model.prescribed, model.mass[:, None] * gained, 0.0)
        return found

    def pressure_of(self, body: Body, cavity: bool = False) -> float:
        """[Pa] that keeps the prescribed volume of a body (`body.volume`); cavity: of a solid's cavities. 0 before the
        first step.
        """
        number = next((k for k, own in enumerate(self.scene.bodies) if own is body), None)
        return float(self.state.inflation[control_of(self.model, number, body, cavity), 0])

    def contact_between(self, one: Body, other: Body | Shape) -> PairLoad:
        """What a body feels from another body or an obstacle: force [N], torque [N m], the middle of the contact, and
        whether it sticks or slips.

        one: a body of the scene, on which the force acts; other: another body, or an obstacle.
        """
        numbers = [k for k, body in enumerate(self.scene.bodies) if body is one]
        bodies = [k for k, body in enumerate(self.scene.bodies) if body is other]
        obstacles = [k for k, shape in enumerate(self.scene.shapes) if shape is other]
        if not numbers or not bodies + obstacles:
            raise SimulationError(
                "contact_between: give a body of this simulation's scene, and another body or an obstacle of it."
            )
        if bodies:
            return self.contacts.between(numbers[0], bodies[0])
        return self.contacts.between(numbers[0], obstacle=obstacles[0])

    def intersections(self) -> Intersections:
        """What intersects now: print it for a list by bodies; `plot(marks=...)` draws its points."""
        detector = self._detector
        if detector is None:
            raise SimulationError("intersections: this simulation has no contact: set scene.contact = pl.Contact().")
        about = (detector.team, detector.colliders, detector.model, tuple(self.model.body_names))
        x, time, is_rigid = self.state.x, self.time, self.model.subspace == CARRIED
        overlaps = rigid_overlaps(detector.model, detector.convex, detector.round_bodies, is_rigid, x, time)
        rests = np.where(is_rigid, RESTS_RIGID, np.where(self.model.is_free, RESTS_SOFT, np.inf))
        if self.model.particles is not None:
            rests[self.model.particles.vertices] = np.inf  # their overlaps are reported by their own search
        return find_intersections(*about, x, time, overlaps, rests)

    def _residual_of(self, step: int, problem: IncrementalPotential) -> float:
        if self.state.step != step:
            raise SimulationError(f"the residual of step {step} is gone: ask for it before the next step.")
        return self.solver.measure_residual(problem, self._solved_positions(problem), self._work)

    def _solved_positions(self, problem: IncrementalPotential) -> np.ndarray:
        """Where the last step was solved (n, 3) [m], without what has torn since."""
        x = self.state.x if self._solution is None else self._solution
        return x[: problem.model.n_vertices]
