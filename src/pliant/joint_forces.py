"""Forces of joints in a step, and joints that break."""

from __future__ import annotations

import logging
import math
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.elements.reference import gradients
from pliant.elements.registry import element_of
from pliant.energies import IncrementalPotential
from pliant.model import Model
from pliant.model.joint_rows import JointRows, without_joints
from pliant.solvers import Solver
from pliant.solvers.contract import Work

logger = logging.getLogger("pliant")


class BreakingJoints(ABC):
    """The part of a step that measures joints and lets them break."""

    model: Model
    solver: Solver[Any]
    _work: Work
    _solved: IncrementalPotential | None
    _joint_forces: tuple[IncrementalPotential, list[np.ndarray]] | None = None  # of a step in which one broke

    @property
    @abstractmethod
    def time(self) -> float:
        """Simulated time [s]."""

    @abstractmethod
    def _prepare(self) -> None: ...

    @abstractmethod
    def _solved_positions(self, problem: IncrementalPotential) -> np.ndarray: ...

    def _break_joints(self) -> None:
        """Leave out joints that the step pulled at with more than they bear."""
        if self._solved is None or not breakable(self.model):
            return
        solved = self.solver.with_multipliers(self._solved, self._work)
        broken = broken_model(self.model, solved, self._solved_positions(solved), self.time)
        if broken is not None:
            numbers = range(len(self.model.joints))
            self._joint_forces = (self._solved, [self._joint_force(k) for k in numbers])  # other tables follow
            self.model = broken
            self._prepare()

    def _joint_force(self, number: int) -> np.ndarray:
        """(3,) [N] on the first body of a joint in the last step; zero before."""
        if self._solved is None:
            return np.zeros(3)
        if self._joint_forces is not None and self._joint_forces[0] is self._solved:
            return self._joint_forces[1][number]
        solved = self.solver.with_multipliers(self._solved, self._work)
        return joint_force(solved, self.model.joints[number], self._solved_positions(solved))


def joint_force(problem: IncrementalPotential, rows: JointRows, x: np.ndarray) -> np.ndarray:
    """(3,) [N] on the first body of a joint at x (n, 3) [m]; problem: with the multipliers that its rows have."""
    total = np.zeros(3)
    for number, own in rows.rows:
        block = problem.blocks[number].taken(np.arange(own.start, own.stop))
        on_first = np.isin(block.elements, rows.vertices)
        total -= gradients(element_of(block), block, x)[on_first].sum(axis=0)
    return total


def breakable(model: Model) -> list[JointRows]:
    """Joints that break above a force and have not yet."""
    return [rows for rows in model.joints if rows.joint.break_force < math.inf and not rows.joint.is_broken]


def broken_model(model: Model, problem: IncrementalPotential, x: np.ndarray, time: float) -> Model | None:
    """The model without the joints that broke in a step, at its end x (n, 3) [m]; None if none did."""
    found = []
    for rows in breakable(model):
        force = float(np.linalg.norm(joint_force(problem, rows, x)))
        if force > rows.joint.break_force:
            rows.joint.is_broken = True
            logger.info("%s broke at t = %g s under %g N.", rows.joint.name, time, force)
            found.append(rows)
    return replace(model, blocks=without_joints(model.blocks, found)) if found else None
