"""What augmented vertex block descent asks of its work objects."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.model.tearing import TopologyChange
from pliant.solvers.contract import SweepResult, Work


class HardWork(Work, ABC):
    """Bodies, and rows and contacts with multipliers."""

    @property
    @abstractmethod
    def is_blind_to_rounding(self) -> bool:
        """Whether forces that round away are lost to it."""

    @abstractmethod
    def begin_step(self, problem: IncrementalPotential) -> None:
        """Load a step."""

    @abstractmethod
    def update_contacts(self, problem: IncrementalPotential) -> None:
        """Load what was detected last, within a step."""

    def update_topology(self, problem: IncrementalPotential, change: TopologyChange) -> bool:
        """Take up a scene that has torn; whether it can."""
        return False

    @abstractmethod
    def iterate(self, problem: IncrementalPotential, x: np.ndarray, n: int, tolerance: float | None) -> SweepResult:
        """Improve x (n, 3) [m] in place by n iterations, or by as many as a tolerance needs, where that is measured."""

    def with_multipliers(self, problem: IncrementalPotential) -> IncrementalPotential:
        """The step as its rows pull in it."""
        return problem
