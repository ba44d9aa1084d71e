"""What a case of the validation is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

ROUNDING = 1e-6  # errors below it have no order


@dataclass(frozen=True)
class Case:
    """One quantity."""

    name: str
    quantity: str
    truth: float
    source: str
    compute: Callable[[int], float]
    cells: tuple[int, ...]
    tolerance: float  # of the relative error with the most cells, which a test asserts
    resolution: str = "cells"  # what the numbers are: cells, substeps of a frame, or steps of a path
    values: dict[int, float] = field(default_factory=dict, compare=False)

    def value(self, cells: int) -> float:
        """Computed once."""
        if cells not in self.values:
            self.values[cells] = self.compute(cells)
        return self.values[cells]

    def error(self, cells: int) -> float:
        """Relative to the truth."""
        return self.value(cells) / self.truth - 1

    @property
    def order(self) -> float | None:
        """By which the error falls from the last but one number of cells to the last; None where it has no meaning."""
        if len(self.cells) < 2:
            return None
        coarse, fine = (abs(self.error(cells)) for cells in self.cells[-2:])
        if coarse < ROUNDING or fine < ROUNDING:
            return None
        return float(np.log(coarse / fine) / np.log(self.cells[-1] / self.cells[-2]))
