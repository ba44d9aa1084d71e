"""Momentum of Chebyshev's semi-iterative method (VBD 3.8; Wang and Yang 4.3)."""

from __future__ import annotations

import numpy as np

Phases = tuple[tuple[int, float], ...]  # iterations and rho of each phase; the last goes on to the end of the step


class Factors:
    """omega of Equation 19 for the iterations of a step, phase by phase."""

    def __init__(self, phases: Phases):
        self.phases = phases
        self.iteration = 0  # done since the step began
        self.since_restart = 0
        self.omega = 1.0

    def next(self, n: int) -> np.ndarray:
        return np.array([self._advance() for _ in range(n)])

    def restart(self) -> None:
        self.since_restart = 0

    def _advance(self) -> float:
        left, rho = self.iteration, self.phases[-1][1]
        for length, rho_of_phase in self.phases[:-1]:
            if left < length:
                rho = rho_of_phase
                break
            left -= length
        if left == 0:  # a phase begins by restarting
            self.since_restart = 0
        self.iteration += 1
        self.since_restart += 1
        if self.since_restart == 1:
            self.omega = 1.0
        elif self.since_restart == 2:
            self.omega = 2 / (2 - rho**2)
        else:
            self.omega = 4 / (4 - rho**2 * self.omega)
        return self.omega
