"""Vertices outside a box are pushed back, k/2 d^2 an axis. Seven constants: lower and upper corner, stiffness."""

from __future__ import annotations

import numpy as np

from pliant.kernels.lists import Incidences, list_constant
from pliant.kernels.term_source import TermSource
from pliant.lanes import maximum, number, select
from pliant.lanes.vectors import physics


@physics
def _depth(lists, k, axis, xi):
    """How far the vertices are outside along an axis, negative below the lower bound."""
    zero, x = number(0.0, xi[0]), xi[axis]
    lower, upper = list_constant(lists, k, axis, 7, x), list_constant(lists, k, axis + 3, 7, x)
    return maximum(x - upper, zero) - maximum(lower - x, zero)


@physics
def add_bounds(p, xi, f, H, lists):
    """Add force and Hessian on the vertices of pack p."""
    zero = number(0.0, xi[0])
    for k in range(lists.start[p], lists.start[p + 1]):
        stiffness = list_constant(lists, k, 6, 7, xi[0])
        x, y, z = _depth(lists, k, 0, xi), _depth(lists, k, 1, xi), _depth(lists, k, 2, xi)
        f = (f[0] - stiffness * x, f[1] - stiffness * y, f[2] - stiffness * z)
        H = (
            H[0] + select(x == zero, zero, stiffness),
            H[1],
            H[2],
            H[3] + select(y == zero, zero, stiffness),
            H[4],
            H[5] + select(z == zero, zero, stiffness),
        )
    return f, H


@physics
def bounds_energy(p, xi, energy, lists):
    """Add the energy of pack p's vertices, were they at xi."""
    for k in range(lists.start[p], lists.start[p + 1]):
        x, y, z = _depth(lists, k, 0, xi), _depth(lists, k, 1, xi), _depth(lists, k, 2, xi)
        energy = energy + 0.5 * list_constant(lists, k, 6, 7, xi[0]) * (x * x + y * y + z * z)
    return energy


BOUNDS_SOURCE = TermSource(
    name="bounds",
    imports="from pliant.kernels.bounds import add_bounds, bounds_energy",
    tables=("bounds_K",),
    force=("f, H = add_bounds(p, xi, f, H, bounds_K)",),
    energy=("energy = bounds_energy(p, xi, energy, bounds_K)",),
)


def bound_incidences(vertices: np.ndarray, lower: np.ndarray, upper: np.ndarray, stiffness: np.ndarray) -> Incidences:
    """Each vertex (m,) by itself; bounds (m, 3), stiffness (m,)."""
    return Incidences(vertices, np.empty((len(vertices), 0), np.int64), np.hstack([lower, upper, stiffness[:, None]]))
