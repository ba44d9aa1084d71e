"""What vertex block descent asks of its work object, on a CPU and on a device alike."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.kernels.bounds import middle_of
from pliant.model.tearing import TopologyChange
from pliant.solvers.contract import Momentum, Work


class DescentWork(Work, ABC):
    """Tables of a scene, and iterations over them."""

    @abstractmethod
    def begin_step(self, problem: IncrementalPotential) -> None:
        """Load the step's inertial target and other numbers, and measure its damping."""

    @abstractmethod
    def update_contacts(self, problem: IncrementalPotential) -> None:
        """Load what was detected last, within a step."""

    @abstractmethod
    def update_topology(self, problem: IncrementalPotential, change: TopologyChange) -> bool:
        """Take up a torn scene without building all tables again; whether there was room for it."""

    @abstractmethod
    def iterate(self, problem: IncrementalPotential, x: np.ndarray, n: int, momentum: Momentum | None) -> None:
        """n iterations from x (n, 3) [m] in place; with momentum each is carried on by Equation 18."""


def load_target(problem: IncrementalPotential) -> np.ndarray:
    """The inertial target (n, 3) [m] that viscous elements, whose pull is constant, have moved."""
    if problem.viscous_pull is None:
        return problem.y
    has_mass = problem.inertia > 0  # vertices of mesh obstacles have none, and stay where they are prescribed
    target = problem.y.copy()
    target[has_mass] += problem.viscous_pull[has_mass] / problem.inertia[has_mass, None]
    return target


def middle_of_motion(problem: IncrementalPotential) -> np.ndarray:
    """The middle of what moves (3,) [m]: positions relative to it do not round by where a scene is (decision 0004)."""
    middle = np.zeros(3)
    middle_of(problem.x_prev, problem.model.is_free, middle)
    return middle
