"""What a solver whose iterations take momentum asks of the accelerator that wraps it."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Momentum(Protocol):
    """Factors omega by which iterations are carried on: x = omega (x - x_(n-2)) + x_(n-2) (VBD, Equation 18)."""

    def next(self, n: int) -> np.ndarray:
        """Factors of the next n iterations."""

    def restart(self) -> None:
        """Begin again: the solver has gone back to an earlier state."""
