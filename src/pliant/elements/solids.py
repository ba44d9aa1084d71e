"""Tets of solids as elements: any law, and laws that are converted where a tet is crushed or inverted.

They are many and share faces, so vertex block descent walks along their links (kernels.links) and energies.elastic has
their reference; elements.tet has the measures of one tet.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant.elements.block import Block, Invariance
from pliant.elements.conversion import Converted
from pliant.elements.element import Element
from pliant.elements.strain_rates import rates_of_solids
from pliant.materials import SolidLaw


@dataclass(frozen=True)
class Solids(Block):
    """Tets (m, 4) of one law."""

    invariance = Invariance.RIGID

    law: type[SolidLaw]
    gradients: np.ndarray  # (m, 4, 3) shape-function gradients b [1/m]
    volumes: np.ndarray  # (m,) [m^3]
    parameters: np.ndarray  # (m, p) of the law, in its order

    @property
    def tets(self) -> np.ndarray:
        return self.elements

    @property
    def key(self) -> tuple[type, ...]:
        return type(self), self.law


@dataclass(frozen=True)
class InvertibleSolids(Converted, Solids):
    """Tets of one law that is converted where they are crushed or inverted (see materials.Invertible)."""


TET = Element(Solids, "tets", corners=4, has_law=True, path="tets", damping=rates_of_solids)
INVERTIBLE_TET = replace(TET, block=InvertibleSolids, name="invertible tets", path="invertible tets")
