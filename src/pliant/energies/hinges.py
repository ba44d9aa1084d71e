"""Energies of hinges, compiled: in NumPy their angles take as long as all that is measured of a sheet's triangles."""

from __future__ import annotations

import numpy as np

from pliant.elements.closest import row
from pliant.elements.hinge import Hinges, energy_at_wing
from pliant.lanes.compiled import cached, compiled
from pliant.lanes.vectors import subtract


def hinge_energies(hinges: Hinges, x: np.ndarray) -> np.ndarray:
    """(m,) [J] at x (n, 3) [m]."""
    energies = np.empty(len(hinges.elements))
    arrays = (hinges.elements, hinges.angles, hinges.stiffness)
    cached(write_hinge_energies)(*arrays, np.ascontiguousarray(x, dtype=float), energies)
    return energies


@compiled
def write_hinge_energies(elements, angles, stiffness, x, energies):
    for m in range(len(energies)):
        wing = row(x, elements[m, 2])
        start, end = subtract(row(x, elements[m, 0]), wing), subtract(row(x, elements[m, 1]), wing)
        other = subtract(row(x, elements[m, 3]), wing)
        energies[m] = energy_at_wing(start, end, other, angles[m], stiffness[m])
