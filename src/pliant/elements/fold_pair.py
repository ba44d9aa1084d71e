"""A pair of folds: the angles of two hinges that share a triangle, and one square of them.

            4 - 2         theta_1: angle of the hinge at the edge 01 with wings 2 and 3 (elements.hinge)
             \\ / \\        theta_2: of the hinge at the edge 20 with wings 1 and 4
              0 - 1
               \\ /        E = k/2 C^2,   C = a theta_1 + b theta_2 - r,   r = a theta_1 + b theta_2 at rest
                3

Single hinges, pairs and fans (elements.fold_fan) together are the bending energy of elements.fan_weights, which has the
weights a and b.

Vertex block descent solves with the block k dC dC^T (Gauss-Newton), which is never indefinite.  Seen as in a mirror,
(0, 2, 1, 4, 3), both angles change their signs: corners 1 and 2 share a list, and so do 3 and 4.  So that numbers
follow their corners, those of hinge 1 are kept at 1 and 3, those of hinge 2 at 2 and 4, with r of opposite signs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements import hinge
from pliant.elements.block import Block, Invariance, Tearing
from pliant.elements.element import Element, View
from pliant.elements.hinge import angle_at_edge, angle_at_wing, angle_curvature, hinge_measure
from pliant.elements.measured import add_measured
from pliant.lanes.blocks import add_block, transposed
from pliant.lanes.vectors import add, physics, subtract

PAIR_HINGES = ((0, 1, 2, 3), (2, 0, 1, 4))  # by corners: edge, wings


@dataclass(frozen=True)
class FoldPairs(Block):
    """Pairs of hinges that share a triangle (m, 5): that, from the vertex that both edges have, then two wings."""

    tearing = Tearing.FOLLOWS_FOLD_PAIRS
    invariance = Invariance.RIGID

    weights: np.ndarray  # (m, 5): 0, a, b, a, b
    bends: np.ndarray  # (m, 5) [rad]: 0, -r, r, -r, r
    stiffness: np.ndarray  # (m,) k [J]


def fold_pair_block(points: np.ndarray, elements: np.ndarray, mix: np.ndarray, k: float) -> FoldPairs:
    """Pairs (m, 5) at rest at points (n, 3) [m] with weights a, b (m, 2) and bending stiffness k [N m]."""
    a, b = mix.T
    first, second = (hinge.rest_data(points, elements[:, own])[0] for own in PAIR_HINGES)
    r, zero = a * first + b * second, np.zeros(len(a))
    weights, bends = np.stack((zero, a, b, a, b), axis=1), np.stack((zero, -r, r, -r, r), axis=1)
    return FoldPairs(elements, weights, bends, np.full(len(a), float(k)))


@physics
def fold_pair_measure(corners, none, a, b, a3, b4, zero, r1, r, r3, r4, stiffness):
    """C and its derivatives."""
    x0, x1, x2, x3, x4 = corners
    theta_1, (g0, g1, g2, g3), _ = hinge_measure((x0, x1, x2, x3), zero, stiffness)
    theta_2, (h2, h0, h1, h4), _ = hinge_measure((x2, x0, x1, x4), zero, stiffness)
    gradients = (_mix(a, g0, b, h0), _mix(a, g1, b, h1), _mix(a, g2, b, h2), _scaled(a, g3), _scaled(b, h4))
    return a * theta_1 + b * theta_2 - r, gradients, stiffness


@physics
def _at_shared(x1, x2, x3, x4, a, b, r):
    """C and its derivative at 0; the others relative to it."""
    theta_1, first = angle_at_edge(x1, x2, x3)
    theta_2, second = angle_at_edge(x2, x4, x1)
    return a * theta_1 + b * theta_2 - r, _mix(a, first, b, second)


@physics
def _at_end(x0, x2, x3, x4, a, b, r):
    """C and its derivative at 1; the others relative to it."""
    theta_1, first = angle_at_edge(x0, x3, x2)
    theta_2, second = angle_at_wing(x2, x0, x4)
    return a * theta_1 + b * theta_2 - r, _mix(a, first, b, second)


@physics
def _at_wing(x0, x1, x2, x4, a, b, r):
    """C and its derivative at 3; the others relative to it."""
    theta_1, first = angle_at_wing(x1, x0, x2)
    theta_2, _ = angle_at_wing(subtract(x2, x1), subtract(x0, x1), subtract(x4, x1))
    return a * theta_1 + b * theta_2 - r, _scaled(a, first)


@physics
def add_at_shared(f, H, x1, x2, x3, x4, a1, b2, a3, b4, r1, r2, r3, r4, stiffness):
    """Add the force on 0 and its block."""
    c, gradient = _at_shared(x1, x2, x3, x4, a1, b2, r2)
    return add_measured(f, H, c, gradient, stiffness)


@physics
def add_at_end(f, H, x0, x2, x3, x4, none, b2, a3, b4, zero, r2, r3, r4, stiffness):
    """Add the force on 1 and its block; as in a mirror, on 2."""
    c, gradient = _at_end(x0, x2, x3, x4, a3, b4, r4)
    return add_measured(f, H, c, gradient, stiffness)


@physics
def add_at_wing(f, H, x0, x1, x2, x4, none, a1, b2, b4, zero, r1, r2, r4, stiffness):
    """Add the force on wing 3 and its block; as in a mirror, on wing 4."""
    c, gradient = _at_wing(x0, x1, x2, x4, a1, b4, r4)
    return add_measured(f, H, c, gradient, stiffness)


@physics
def energy_at_shared(x1, x2, x3, x4, a1, b2, a3, b4, r1, r2, r3, r4, stiffness):
    """E [J]."""
    c, _ = _at_shared(x1, x2, x3, x4, a1, b2, r2)
    return 0.5 * stiffness * c * c


@physics
def energy_at_end(x0, x2, x3, x4, none, b2, a3, b4, zero, r2, r3, r4, stiffness):
    """E [J]."""
    c, _ = _at_end(x0, x2, x3, x4, a3, b4, r4)
    return 0.5 * stiffness * c * c


@physics
def energy_at_wing(x0, x1, x2, x4, none, a1, b2, b4, zero, r1, r2, r4, stiffness):
    """E [J]."""
    c, _ = _at_wing(x0, x1, x2, x4, a1, b4, r4)
    return 0.5 * stiffness * c * c


@physics
def _mix(a, u, b, v):
    return add(_scaled(a, u), _scaled(b, v))


@physics
def _scaled(s, u):
    return (s * u[0], s * u[1], s * u[2])


@physics
def fold_pair_curvature(corners, none, a, b, a3, b4, zero, r1, r, r3, r4, stiffness):
    """d2C at pairs of corners i <= j, row by row."""
    x0, x1, x2, x3, x4 = corners
    g = angle_curvature((x0, x1, x2, x3))  # 00 01 02 03 11 12 13 22 23 33
    h = angle_curvature((x2, x0, x1, x4))  # 22 20 21 24 00 01 04 11 14 44
    return (
        _both(a, g[0], b, h[4]),
        _both(a, g[1], b, h[5]),
        _both(a, g[2], b, transposed(h[1])),
        _one(a, g[3]),
        _one(b, h[6]),
        _both(a, g[4], b, h[7]),
        _both(a, g[5], b, transposed(h[2])),
        _one(a, g[6]),
        _one(b, h[8]),
        _both(a, g[7], b, h[0]),
        _one(a, g[8]),
        _one(b, h[3]),
        _one(a, g[9]),
        _one(0.0 * a, g[9]),
        _one(b, h[9]),
    )


@physics
def _one(a, g):
    return (a * g[0], a * g[1], a * g[2], a * g[3], a * g[4], a * g[5], a * g[6], a * g[7], a * g[8])


@physics
def _both(a, g, b, h):
    return add_block(_one(a, g), b, h)


FOLD_PAIR = Element(
    FoldPairs,
    "fold pairs",
    corners=5,
    corner_numbers=("weights", "bends"),
    numbers=("stiffness",),
    measure=fold_pair_measure,
    views=(
        View(((0, 1, 2, 3, 4),), add_at_shared, energy_at_shared),
        View(((1, 0, 2, 3, 4), (2, 0, 1, 4, 3)), add_at_end, energy_at_end),
        View(((3, 0, 1, 2, 4), (4, 0, 2, 1, 3)), add_at_wing, energy_at_wing),
    ),
    curvature=fold_pair_curvature,
)
