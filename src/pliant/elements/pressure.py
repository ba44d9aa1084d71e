"""Pressure inside closed surfaces, energy -p V.

V is linear in every vertex, so a vertex feels a force and has no block: what acts on it is the pressure times the sum
of the area vectors around it (kernels.pressure).  energies.pressure has the reference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements.block import Block, Invariance
from pliant.elements.element import Element


@dataclass(frozen=True)
class Pressures(Block):
    """Triangles (m, 3) of closed surfaces, outward oriented, with energy -p V."""

    energy_name = "pressure"
    invariance = Invariance.RIGID  # the volume of a closed surface

    pressures: np.ndarray  # (m,) p, the same on all triangles of a surface [Pa]


PRESSURE = Element(
    Pressures,
    "pressures",
    corners=3,
    laplacian=lambda block: np.zeros((len(block.elements), 3, 3)),  # it has no stiffness of its own
    path="surface",
)
