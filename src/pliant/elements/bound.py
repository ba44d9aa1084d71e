"""Walls: vertices outside a box are pushed back, k/2 d^2 for each axis along which they are d outside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements.block import Block, Tearing
from pliant.elements.element import ConstraintForm, Element, View
from pliant.lanes import maximum, number, select
from pliant.lanes.vectors import dot, physics


@dataclass(frozen=True)
class Bounds(Block):
    """Vertices (m, 1) that are pushed back into a box."""

    energy_name = "bounds"
    tearing = Tearing.GROWS

    lower: np.ndarray  # (m, 3) [m], minus infinity where there is no bound
    upper: np.ndarray  # (m, 3) [m]
    stiffness: np.ndarray  # (m,) k [N/m]


@physics
def _outside(x, lower, upper):
    """How far outside along an axis, negative below the lower bound."""
    zero = number(0.0, x)
    return maximum(x - upper, zero) - maximum(lower - x, zero)


@physics
def bound_energy(x, lower, upper, stiffness):
    """E [J] of a vertex at x [m]."""
    d = (_outside(x[0], lower[0], upper[0]), _outside(x[1], lower[1], upper[1]), _outside(x[2], lower[2], upper[2]))
    return 0.5 * stiffness * dot(d, d)


@physics
def add_bound(f, H, x, lower, upper, stiffness):
    """Add the force on a vertex at x and its block."""
    zero = number(0.0, x[0])
    d = (_outside(x[0], lower[0], upper[0]), _outside(x[1], lower[1], upper[1]), _outside(x[2], lower[2], upper[2]))
    f = (f[0] - stiffness * d[0], f[1] - stiffness * d[1], f[2] - stiffness * d[2])
    H = (
        H[0] + select(d[0] == zero, zero, stiffness),
        H[1],
        H[2],
        H[3] + select(d[1] == zero, zero, stiffness),
        H[4],
        H[5] + select(d[2] == zero, zero, stiffness),
    )
    return f, H


@physics
def wall_measure(corners, normal, place, stiffness):
    """How far a vertex is behind the wall normal . x = place, the normal outward; nothing pulls it back to the wall."""
    d = dot(normal, corners[0]) - place
    return d, (normal,), select(d > 0.0, stiffness, number(0.0, d))


def _walls(block: Bounds, solver: str) -> ConstraintForm:
    """A wall for every finite bound of a vertex: its outward normal, its place and the stiffness."""
    vertices, normals, places, stiffness = [], [], [], []
    for axis in range(3):
        for bounds, sign in ((block.lower, -1.0), (block.upper, 1.0)):
            finite = np.flatnonzero(np.isfinite(bounds[:, axis]))
            vertices.append(block.elements[finite])
            normals.append(np.tile(sign * np.eye(3)[axis], (len(finite), 1)))
            places.append(sign * bounds[finite, axis])
            stiffness.append(block.stiffness[finite])
    numbers = (np.concatenate(normals), np.concatenate(places), np.concatenate(stiffness))
    return ConstraintForm(wall_measure, np.concatenate(vertices), numbers)


BOUND = Element(
    Bounds,
    "walls",
    corners=1,
    numbers=("lower", "upper", "stiffness"),
    views=(View(((0,),), add_bound, bound_energy, is_absolute=True),),
    places=("lower", "upper"),
    constraint_form=_walls,
    laplacian=lambda bounds: np.zeros((len(bounds.elements), 1, 1)),  # few vertices touch a wall
    projection=lambda bounds: bounds.stiffness[:, None, None],  # k/2 |x - p|^2, p the nearest point in the box
)
