"""Triangles of sheets as elements: membranes of any law (elements.triangle has the measures of one triangle)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements.block import Block, Invariance, Tearing
from pliant.elements.element import Element, View
from pliant.elements.strain_rates import rates_of_sheets
from pliant.elements.triangle import add_membrane, membrane_energy
from pliant.materials import SolidLaw


@dataclass(frozen=True)
class Sheets(Block):
    """Triangles (m, 3) of one law, stretched and sheared in their plane."""

    tearing = Tearing.FOLLOWS_TRIANGLES
    invariance = Invariance.RIGID

    law: type[SolidLaw]
    gradients: np.ndarray  # (m, 3, 2) shape-function gradients b [1/m] in a rest basis of each triangle
    areas: np.ndarray  # (m,) [m^2]
    parameters: np.ndarray  # (m, p) of the law, in its order; moduli in N/m

    @property
    def key(self) -> tuple[type, ...]:
        return type(self), self.law


SHEET = Element(
    Sheets,
    "sheets",
    corners=3,
    corner_numbers=("gradients",),
    numbers=("areas",),
    views=(View(((0, 1, 2), (1, 2, 0), (2, 0, 1)), add_membrane, membrane_energy),),
    has_law=True,
    damping=rates_of_sheets,
)
