"""A fan of folds: the angles of three hinges that follow each other around a vertex, and one square of them.

          3 - 2          theta_1: angle of the hinge at the edge 01 with wings 2 and 4 (elements.hinge)
        / \\ / \\         theta_2: of the hinge at the edge 02 with wings 3 and 1
       5 - 0 - 1         theta_3: of the hinge at the edge 03 with wings 5 and 2
            \\ /
             4           E = k/2 C^2,   C = a theta_1 + b theta_2 + c theta_3 - r,   C = 0 at rest

Single hinges, pairs (elements.fold_pair) and fans together are the bending energy of elements.fan_weights, which has
the weights a, b and c.

Vertex block descent solves with the block k dC dC^T (Gauss-Newton), which is never indefinite.  Seen as in a mirror,
(0, 3, 2, 1, 5, 4), all angles change their signs: corners 1 and 3 share a list, and so do 4 and 5.  So that numbers
follow their corners, those of hinge 1 are kept at 1 and 4, those of hinge 3 at 3 and 5, with r of opposite signs, and
that of hinge 2 at 0 and 2.
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
from pliant.lanes.vectors import add_scaled, physics, subtract

FAN_HINGES = ((0, 1, 2, 4), (0, 2, 3, 1), (0, 3, 5, 2))  # by corners: edge, wings


@dataclass(frozen=True)
class FoldFans(Block):
    """Three hinges that follow each other around a vertex (m, 6): that, the ends of their edges, the outer wings."""

    tearing = Tearing.FOLLOWS_FOLD_FANS
    invariance = Invariance.RIGID

    weights: np.ndarray  # (m, 6): b, a, b, c, a, c
    bends: np.ndarray  # (m, 6) [rad]: 0, r, 0, -r, r, -r
    stiffness: np.ndarray  # (m,) k [J]


def fold_fan_block(points: np.ndarray, elements: np.ndarray, mix: np.ndarray, k: float) -> FoldFans:
    """Fans (m, 6) at rest at points (n, 3) [m] with weights a, b, c (m, 3) and bending stiffness k [N m]."""
    r = sum(size * hinge.rest_data(points, elements[:, own])[0] for own, size in zip(FAN_HINGES, mix.T, strict=True))
    (a, b, c), zero = mix.T, np.zeros(len(mix))
    weights, bends = np.stack((b, a, b, c, a, c), axis=1), np.stack((zero, r, zero, -r, r, -r), axis=1)
    return FoldFans(elements, weights, bends, np.full(len(mix), float(k)))


@physics
def fold_fan_measure(corners, b0, a, b, c, a4, c5, zero, r, r2, r3, r4, r5, stiffness):
    """C and its derivatives."""
    x0, x1, x2, x3, x4, x5 = corners
    theta_1, (f0, f1, f2, f4), _ = hinge_measure((x0, x1, x2, x4), zero, stiffness)
    theta_2, (g0, g2, g3, g1), _ = hinge_measure((x0, x2, x3, x1), zero, stiffness)
    theta_3, (h0, h3, h5, h2), _ = hinge_measure((x0, x3, x5, x2), zero, stiffness)
    gradients = (
        _three(a, f0, b, g0, c, h0),
        _two(a, f1, b, g1),
        _three(a, f2, b, g2, c, h2),
        _two(b, g3, c, h3),
        _scaled(a, f4),
        _scaled(c, h5),
    )
    return a * theta_1 + b * theta_2 + c * theta_3 - r, gradients, stiffness


@physics
def _at_middle(x1, x2, x3, x4, x5, a, b, c, r):
    """C and its derivative at 0; the others relative to it."""
    theta_1, first = angle_at_edge(x1, x2, x4)
    theta_2, second = angle_at_edge(x2, x3, x1)
    theta_3, third = angle_at_edge(x3, x5, x2)
    return a * theta_1 + b * theta_2 + c * theta_3 - r, _three(a, first, b, second, c, third)


@physics
def _at_end(x0, x2, x3, x4, x5, a, b, c, r):
    """C and its derivative at 1; the others relative to it."""
    theta_1, first = angle_at_edge(x0, x4, x2)
    theta_2, second = angle_at_wing(x2, x0, x3)
    theta_3, _ = angle_at_edge(subtract(x3, x0), subtract(x5, x0), subtract(x2, x0))
    return a * theta_1 + b * theta_2 + c * theta_3 - r, _two(a, first, b, second)


@physics
def _at_spoke(x0, x1, x3, x4, x5, a, b, c, r):
    """C and its derivative at 2; the others relative to it."""
    theta_1, first = angle_at_wing(x0, x1, x4)
    theta_2, second = angle_at_edge(x0, x1, x3)
    theta_3, third = angle_at_wing(x3, x0, x5)
    return a * theta_1 + b * theta_2 + c * theta_3 - r, _three(a, first, b, second, c, third)


@physics
def _at_wing(x0, x1, x2, x3, x5, a, b, c, r):
    """C and its derivative at 4; the others relative to it."""
    theta_1, first = angle_at_wing(x1, x0, x2)
    theta_2, _ = angle_at_edge(subtract(x2, x0), subtract(x3, x0), subtract(x1, x0))
    theta_3, _ = angle_at_edge(subtract(x3, x0), subtract(x5, x0), subtract(x2, x0))
    return a * theta_1 + b * theta_2 + c * theta_3 - r, _scaled(a, first)


@physics
def add_at_middle(f, H, x1, x2, x3, x4, x5, a1, b2, c3, a4, c5, r1, r2, r3, r4, r5, stiffness):
    """Add the force on 0 and its block."""
    c, gradient = _at_middle(x1, x2, x3, x4, x5, a1, b2, c3, r1)
    return add_measured(f, H, c, gradient, stiffness)


@physics
def add_at_end(f, H, x0, x2, x3, x4, x5, b0, b2, c3, a4, c5, r0, r2, r3, r4, r5, stiffness):
    """Add the force on 1 and its block; as in a mirror, on 3."""
    c, gradient = _at_end(x0, x2, x3, x4, x5, a4, b0, c3, r4)
    return add_measured(f, H, c, gradient, stiffness)


@physics
def add_at_spoke(f, H, x0, x1, x3, x4, x5, b0, a1, c3, a4, c5, r0, r1, r3, r4, r5, stiffness):
    """Add the force on 2 and its block."""
    c, gradient = _at_spoke(x0, x1, x3, x4, x5, a1, b0, c3, r1)
    return add_measured(f, H, c, gradient, stiffness)


@physics
def add_at_wing(f, H, x0, x1, x2, x3, x5, b0, a1, b2, c3, c5, r0, r1, r2, r3, r5, stiffness):
    """Add the force on wing 4 and its block; as in a mirror, on wing 5."""
    c, gradient = _at_wing(x0, x1, x2, x3, x5, a1, b0, c3, r1)
    return add_measured(f, H, c, gradient, stiffness)


@physics
def energy_at_middle(x1, x2, x3, x4, x5, a1, b2, c3, a4, c5, r1, r2, r3, r4, r5, stiffness):
    """E [J]."""
    c, _ = _at_middle(x1, x2, x3, x4, x5, a1, b2, c3, r1)
    return 0.5 * stiffness * c * c


@physics
def energy_at_end(x0, x2, x3, x4, x5, b0, b2, c3, a4, c5, r0, r2, r3, r4, r5, stiffness):
    """E [J]."""
    c, _ = _at_end(x0, x2, x3, x4, x5, a4, b0, c3, r4)
    return 0.5 * stiffness * c * c


@physics
def energy_at_spoke(x0, x1, x3, x4, x5, b0, a1, c3, a4, c5, r0, r1, r3, r4, r5, stiffness):
    """E [J]."""
    c, _ = _at_spoke(x0, x1, x3, x4, x5, a1, b0, c3, r1)
    return 0.5 * stiffness * c * c


@physics
def energy_at_wing(x0, x1, x2, x3, x5, b0, a1, b2, c3, c5, r0, r1, r2, r3, r5, stiffness):
    """E [J]."""
    c, _ = _at_wing(x0, x1, x2, x3, x5, a1, b0, c3, r1)
    return 0.5 * stiffness * c * c


@physics
def _scaled(s, u):
    return (s * u[0], s * u[1], s * u[2])


@physics
def _two(a, u, b, v):
    return add_scaled(_scaled(a, u), b, v)


@physics
def _three(a, u, b, v, c, w):
    return add_scaled(_two(a, u, b, v), c, w)


@physics
def fold_fan_curvature(corners, b0, a, b, c, a4, c5, zero, r, r2, r3, r4, r5, stiffness):
    """d2C at pairs of corners i <= j, row by row."""
    x0, x1, x2, x3, x4, x5 = corners
    f = angle_curvature((x0, x1, x2, x4))  # 00 01 02 04 11 12 14 22 24 44
    g = angle_curvature((x0, x2, x3, x1))  # 00 02 03 01 22 23 21 33 31 11
    h = angle_curvature((x0, x3, x5, x2))  # 00 03 05 02 33 35 32 55 52 22
    none = _block(0.0 * a, f[0])
    return (
        add_block(_blocks(a, f[0], b, g[0]), c, h[0]),  # 00
        _blocks(a, f[1], b, g[3]),
        add_block(_blocks(a, f[2], b, g[1]), c, h[3]),
        _blocks(b, g[2], c, h[1]),
        _block(a, f[3]),
        _block(c, h[2]),
        _blocks(a, f[4], b, g[9]),  # 11
        _blocks(a, f[5], b, transposed(g[6])),
        _block(b, transposed(g[8])),
        _block(a, f[6]),
        none,
        add_block(_blocks(a, f[7], b, g[4]), c, h[9]),  # 22
        _blocks(b, g[5], c, transposed(h[6])),
        _block(a, f[8]),
        _block(c, transposed(h[8])),
        _blocks(b, g[7], c, h[4]),  # 33
        none,
        _block(c, h[5]),
        _block(a, f[9]),  # 44
        none,
        _block(c, h[7]),  # 55
    )


@physics
def _block(a, g):
    return (a * g[0], a * g[1], a * g[2], a * g[3], a * g[4], a * g[5], a * g[6], a * g[7], a * g[8])


@physics
def _blocks(a, g, b, h):
    return add_block(_block(a, g), b, h)


FOLD_FAN = Element(
    FoldFans,
    "fold fans",
    corners=6,
    corner_numbers=("weights", "bends"),
    numbers=("stiffness",),
    measure=fold_fan_measure,
    views=(
        View(((0, 1, 2, 3, 4, 5),), add_at_middle, energy_at_middle),
        View(((1, 0, 2, 3, 4, 5), (3, 0, 2, 1, 5, 4)), add_at_end, energy_at_end),
        View(((2, 0, 1, 3, 4, 5),), add_at_spoke, energy_at_spoke),
        View(((4, 0, 1, 2, 3, 5), (5, 0, 3, 2, 1, 4)), add_at_wing, energy_at_wing),
    ),
    curvature=fold_fan_curvature,
)
