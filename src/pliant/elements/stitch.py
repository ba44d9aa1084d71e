"""The stitch of a seam: it pulls a point of one edge to a point of another, and shortens while the seam closes.

    d = sum_i a_i x_i over the four ends of both edges: the two shares of the first point are negative, those of the
        second positive, and all sum to zero
    E = k/2 (|d| - l)^2 where |d| > l, else 0;   l(t) = l_0 max(0, 1 - t / T)

so that a stitch never pushes, and is a spring of rest length zero from T on.  Seen from a corner with share a, its
force is that of a rope along d times -a, and its block that of the rope times a^2 (elements.spring).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pliant.elements import spring
from pliant.elements.block import Block, Invariance
from pliant.elements.element import Element, View
from pliant.elements.spring import add_spring, spring_energy, spring_measure
from pliant.lanes import number
from pliant.lanes.vectors import add_scaled, add_symmetric, physics


@dataclass(frozen=True)
class Stitches(Block):
    """Ends of two edges (m, 4), each pair with the shares of its point."""

    energy_name = "seam"
    invariance = Invariance.RIGID
    changes_in_time = True

    shares: np.ndarray  # (m, 4) a, of sum zero
    stiffness: np.ndarray  # (m,) k [N/m]
    lengths: np.ndarray  # (m,) l now [m]
    gaps: np.ndarray  # (m,) l_0 [m]
    seconds: np.ndarray  # (m,) T [s]; 0: closed from the start

    def at(self, time: float) -> Self:
        return replace(self, lengths=self.gaps * remaining(self.seconds, time))


def remaining(seconds: np.ndarray, time: float) -> np.ndarray:
    """(m,) the part 1 - t / T of a change that lasts T (m,) [s] from time 0 on which is still to come at t [s]."""
    return np.clip(1 - time / np.where(seconds > 0, seconds, 1.0), 0.0, 1.0) * (seconds > 0)


@physics
def _difference(b, c, d, share_b, share_c, share_d):
    """d of the three other corners relative to one: its own share takes away what they have in common."""
    return (
        share_b * b[0] + share_c * c[0] + share_d * d[0],
        share_b * b[1] + share_c * c[1] + share_d * d[1],
        share_b * b[2] + share_c * c[2] + share_d * d[2],
    )


@physics
def stitch_energy(b, c, d, share_b, share_c, share_d, length, stiffness):
    """E [J]."""
    return spring_energy(_difference(b, c, d, share_b, share_c, share_d), length, stiffness, number(0.0, length))


@physics
def add_stitch(f, H, b, c, d, share_b, share_c, share_d, length, stiffness):
    """Add the force on a corner and its block; others are relative to it."""
    own = share_b + share_c + share_d  # minus the share of the corner
    nothing = number(0.0, own)
    zero = (nothing, nothing, nothing)
    difference = _difference(b, c, d, share_b, share_c, share_d)
    pull, block = add_spring(zero, zero + zero, difference, length, stiffness, nothing)
    return add_scaled(f, own, pull), add_symmetric(H, own * own, block)


@physics
def stitch_measure(corners, share_a, share_b, share_c, share_d, length, stiffness):
    """|d| - l; a slack stitch has no stiffness."""
    a, b, c, d = corners
    difference = (
        share_a * a[0] + share_b * b[0] + share_c * c[0] + share_d * d[0],
        share_a * a[1] + share_b * b[1] + share_c * c[1] + share_d * d[1],
        share_a * a[2] + share_b * b[2] + share_c * c[2] + share_d * d[2],
    )
    nothing = number(0.0, length)
    stretch, (_, u), k = spring_measure(((nothing, nothing, nothing), difference), length, stiffness, nothing)
    gradients = (
        (share_a * u[0], share_a * u[1], share_a * u[2]),
        (share_b * u[0], share_b * u[1], share_b * u[2]),
        (share_c * u[0], share_c * u[1], share_c * u[2]),
        (share_d * u[0], share_d * u[1], share_d * u[2]),
    )
    return stretch, gradients, k


def hessian(corners: np.ndarray, shares: np.ndarray, lengths: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """d2E/dx2 (m, 12, 12) [N/m], exact: a_i a_j times that of a rope along d."""
    difference = np.einsum("mk,mka->ma", shares, corners)
    ends = np.stack([np.zeros_like(difference), difference], axis=1)
    rope = spring.hessian(ends, lengths, stiffness, np.zeros(len(lengths)))[:, :3, :3]
    return np.einsum("mi,mj,mab->miajb", shares, shares, rope).reshape(-1, 12, 12)


def tight_stiffness(block: Stitches) -> np.ndarray:
    """(m, 4, 4) as if pulled, so that nothing is too soft [N/m]."""
    return np.einsum("m,mi,mj->mij", block.stiffness, block.shares, block.shares)


STITCH = Element(
    Stitches,
    "stitches",
    corners=4,
    numbers=("lengths", "stiffness"),
    corner_numbers=("shares",),
    measure=stitch_measure,
    views=(View(((0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2)), add_stitch, stitch_energy),),
    hessian=hessian,
    laplacian=tight_stiffness,
    projection=tight_stiffness,
    changes=True,
)
