"""Pressure inside closed surfaces, energy -p V: V is linear in every vertex, so there is a force and no block.

With the corners of a triangle relative to its vertex a, dV/da = 1/6 sum b x c on a closed surface.  In padding both are
the vertex itself, so that no constant is needed.
"""

from __future__ import annotations

import numpy as np

from pliant.kernels.lists import Incidences, other
from pliant.kernels.term_source import TermSource, import_lines
from pliant.lanes import load, load3, number, width_of
from pliant.lanes.vectors import add_scaled, cross, dot, physics, subtract


@physics
def _area(p, x, xi, lists):
    """Twice the sum of the area vectors of the triangles at the vertices of pack p."""
    zero, one = number(0.0, xi[0]), number(1.0, xi[0])
    total = (zero, zero, zero)
    for k in range(lists.start[p], lists.start[p + 1]):
        total = add_scaled(total, one, cross(other(x, xi, lists, k, 0, 2), other(x, xi, lists, k, 1, 2)))
    return total


@physics
def add_pressure(p, x, xi, f, lists, pressures):
    """Add the force on the vertices of pack p."""
    return add_thrust(f, load(pressures, p * width_of(xi[0]), xi[0]), _area(p, x, xi, lists))


@physics
def add_thrust(f, pressure, area):
    """Add the force p dV/da of an area b x c, or of a sum of them."""
    return add_scaled(f, pressure * (1.0 / 6.0), area)


@physics
def pressure_energy(p, x, xi, energy, lists, pressures, share):
    """Add the share of the energy -p V of pack p's vertices, were they at xi.

    With a share of 1 only its change since they were where x has them: far from the origin V itself would drown it.
    """
    sixth = load(pressures, p * width_of(xi[0]), xi[0]) * (share / 6.0)
    moved = xi if share < 1.0 else subtract(xi, load3(x, p * width_of(xi[0]), xi[0]))
    return energy - sixth * dot(moved, _area(p, x, xi, lists))


PRESSURE_SOURCE = TermSource(
    name="pressure",
    imports=import_lines(add_pressure, pressure_energy),
    tables=("surface_K", "pressures_K"),
    force=("f = add_pressure(p, x, xi, f, surface_K, pressures_K)",),
    energy=("energy = pressure_energy(p, x, xi, energy, surface_K, pressures_K, SHARE_OF_3)",),
)


def pressure_incidences(triangles: np.ndarray) -> Incidences:
    """Each corner of the triangles (m, 3), with the two that follow."""
    others = np.stack([np.roll(triangles, -1 - corner, axis=1)[:, :2] for corner in range(3)], axis=1)
    return Incidences(triangles.ravel(), others.reshape(-1, 2), np.empty((triangles.size, 0)))
