"""What is known of the error of a step (contract.error)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

NONE_LOST = np.zeros(0)
TINY = 1e-300  # in place of zero below a fraction


@dataclass(frozen=True)
class StepError:
    """The error of a step, body by body (b,)."""

    bodies: np.ndarray  # error
    seen: np.ndarray  # lower bound
    owed: np.ndarray  # upper bound
    rates: np.ndarray  # part of a motion that is left after one more iteration
    shifts: np.ndarray  # 0 to 1, how much of the last motion moved the body as a whole
    ratios: np.ndarray  # h^2 k / m of elements
    touching: np.ndarray  # what contacts add to it
    rounding: np.ndarray  # what rounding of positions makes of the step's forces: beyond HIDDEN it hides motion
    lost: np.ndarray = field(default_factory=lambda: NONE_LOST)  # part of the error that no iteration takes away

    _largest: float | None = None  # where it is known already

    @property
    def worst(self) -> int:
        """The body with the largest error."""
        return int(np.argmax(self.bodies)) if len(self.bodies) else 0

    @property
    def largest(self) -> float:
        """Its error."""
        return float(self.bodies.max(initial=0.0)) if self._largest is None else self._largest

    def iterations_within(self, tolerance: float, rate: float) -> int:
        """How many iterations ago what vertices owe met a tolerance, at a rate."""
        worst = max(float(self.owed.max(initial=0.0)), self.largest, TINY)
        return int(math.log(tolerance / worst) / -math.log(rate)) if worst < tolerance else 0

    def iterations_to(self, tolerance: float, chosen: np.ndarray | None = None) -> float:
        """How many more iterations the worst body needs to a tolerance, at its rate; chosen (b,) bool: of those that
        count, None: all.
        """
        bodies = self.bodies if chosen is None else np.where(chosen, self.bodies, 0.0)
        worst = int(bodies.argmax()) if len(bodies) else 0
        error = float(bodies[worst]) if len(bodies) else 0.0
        if error <= tolerance:
            return 0.0
        rate = min(max(float(self.rates[worst]), 1e-6), 1 - 1e-9)
        return math.log(tolerance / error) / math.log(rate) if error < math.inf else math.inf
