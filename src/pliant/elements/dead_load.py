"""Dead loads: forces that keep their size and direction, with energy -f . x; gravity is one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements.block import Block
from pliant.elements.element import Element, View
from pliant.lanes.vectors import dot, physics


@dataclass(frozen=True)
class DeadLoads(Block):
    """Vertices (m, 1) with a constant force each."""

    energy_name = "load"

    forces: np.ndarray  # (m, 3) [N]


@physics
def dead_load_energy(x, force):
    """E [J] of a vertex at x [m]."""
    return -dot(force, x)


@physics
def add_dead_load(f, H, x, force):
    """Add the force; it has no stiffness."""
    return (f[0] + force[0], f[1] + force[1], f[2] + force[2]), H


DEAD_LOAD = Element(
    DeadLoads,
    "dead loads",
    corners=1,
    numbers=("forces",),
    views=(View(((0,),), add_dead_load, dead_load_energy, is_absolute=True),),
    hessian=lambda corners, forces: np.zeros((len(corners), 3, 3)),
    laplacian=lambda loads: np.zeros((len(loads.elements), 1, 1)),
)
