"""What can be asked of the last step of a simulation: its contacts, its residual, its time."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.contact.response.potential import ContactPotential
from pliant.contact.response.step_contacts import StepContacts, measure_contacts, no_step_contacts
from pliant.energies import IncrementalPotential
from pliant.errors import SimulationError
from pliant.model import Model
from pliant.solvers import Solver
from pliant.solvers.contract import Work
from pliant.state import State


class LastStep:
    """The state after a step, and the step as it was posed and solved."""

    h: float  # [s]
    model: Model
    state: State
    solver: Solver[Any]
    _work: Work
    _solved: IncrementalPotential | None  # the last step, as it was posed
    _solution: np.ndarray | None  # (n, 3) where it was solved, if that is not the end of the step
    _measured: tuple[IncrementalPotential, StepContacts] | None  # contacts of a step that was solved

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.state.step * self.h

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

    def _residual_of(self, step: int, problem: IncrementalPotential) -> float:
        if self.state.step != step:
            raise SimulationError(f"the residual of step {step} is gone: ask for it before the next step.")
        return self.solver.measure_residual(problem, self._solved_positions(problem), self._work)

    def _solved_positions(self, problem: IncrementalPotential) -> np.ndarray:
        """Where the last step was solved (n, 3) [m], without what has torn since."""
        x = self.state.x if self._solution is None else self._solution
        return x[: problem.model.n_vertices]
