"""What is left of a step by sweeps, by accelerated sweeps and by coarse levels, in sweeps: what `Auto` chooses by."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from pliant.solvers.machinery.semi_iteration import Factors

LEVELS = 6.0  # sweeps that take as long as one between corrections by levels, with its share of the correction
USUAL = 20  # of these in a step, where levels have not been needed yet
MOMENTUM = 1.25  # sweeps that take as long as an accelerated one
SAFETY = 0.99  # of the rate of slow motions: too large a rho diverges, one too small is only slower
FAR = 2.0  # times what levels take
WARM = 6  # accelerated sweeps beside those that their rate asks for
GROWING = 16  # accelerated sweeps in which momentum grows: their motions do not become shorter as errors do
LEAST = 0.1  # rate that is believed
REST = 16  # steps until sweeps are tried without acceleration again


@dataclass
class Acceleration:
    """Momentum of sweeps (Chebyshev), where that is cheapest, and what steps by levels needed."""

    rho: float = 0.0  # of the next steps; 0: none
    steps: int = 0  # which it is kept for
    by_levels: float = LEVELS * USUAL  # sweeps that take as long as the last step by levels
    factors: Factors | None = field(default=None, repr=False)  # of this step

    def begin_step(self, may: bool) -> None:
        """Take up a step, accelerated as the last ones were if it may be."""
        self.factors = None
        if may and self.steps > 0:
            self.start(self.rho)
            self.steps -= 1

    def took(self, iterations: int) -> None:
        """Take note of what a step by levels needed; that levels needed much does not make momentum surer."""
        self.by_levels = LEVELS * min(iterations, USUAL)

    def start(self, rho: float) -> None:
        """Accelerate from here on."""
        self.rho, self.factors = rho, Factors(((1, rho),))

    def try_out(self, rate: float) -> None:
        """Accelerate sweeps that have a rate from here on, and in the next steps."""
        self.steps = REST
        self.start(rho_of(rate))

    def end(self) -> None:
        """Go on without, now and in the next steps."""
        self.rho, self.steps, self.factors = 0.0, 0, None

    def is_cheapest(self, needed: float, rate: float) -> bool:
        """Whether accelerated sweeps end a step sooner than `needed` sweeps at a rate, and than levels. Where sweeps
        alone would take far longer than levels, rates tell too little.
        """
        return needed < FAR * self.by_levels and accelerated_cost(needed, rate) < min(needed, self.by_levels)

    def is_worth_it(self, done: int, needed: float) -> bool:
        """Whether a step that has done so many accelerated sweeps, and needs so many more, goes on with them."""
        return MOMENTUM * (done + needed) <= self.by_levels

    def state_dict(self) -> dict[str, Any]:
        return {"rho": self.rho, "steps": self.steps, "by_levels": self.by_levels}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.rho, self.steps, self.by_levels = state["rho"], state["steps"], state["by_levels"]


def rho_of(rate: float) -> float:
    """For sweeps that leave a part `rate` of a motion each: slow motions take twice as many as what shows. In whole
    hundredths, so that rounding, which differs from place to place, does not make other steps.
    """
    return round(SAFETY * math.sqrt(min(max(rate, LEAST), 1.0)), 2)


def accelerated_cost(needed: float, rate: float) -> float:
    """Sweeps that take as long as the accelerated ones in place of `needed` sweeps at a rate.

    Chebyshev's iteration with rho leaves (1 - sqrt(1 - rho^2)) / rho in the long run.
    """
    rho = rho_of(rate)
    accelerated = (1 - math.sqrt(1 - rho**2)) / rho
    return MOMENTUM * (WARM + needed * math.log(max(rate, LEAST)) / math.log(accelerated))
