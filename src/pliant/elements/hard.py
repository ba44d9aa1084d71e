"""Rows that multipliers hold: links, ropes and directions with a shift (decision 0028).

A row C of penalty rho and multiplier lambda feels rho C + lambda = rho (C + lambda / rho): it is the same element with
C shifted by lambda / rho.

    link   E = k/2 |x_1 - x_0 + shift|^2
    rope   E = k/2 (l - length)^2, where l > length at least; the shift is in the length
    dot    E = k/2 ((x_1 - x_0) . (x_3 - x_2) + shift)^2

pl.AVBD makes them of joints, attachments and springs for its own use (solvers.machinery.hard_rows).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant.elements.block import Block, Invariance
from pliant.elements.element import Element, View
from pliant.elements.joint import TOGETHER
from pliant.elements.spring import SPRING
from pliant.lanes.vectors import add, add_identity, add_scaled, add_square, dot, physics, subtract

PATH = "hard rows"


@dataclass(frozen=True)
class HardLinks(Block):
    """Points (m, 2) that stay together."""

    energy_name = "joint"

    stiffness: np.ndarray  # (m,) [N/m]
    shift: np.ndarray  # (m, 3) [m]


@dataclass(frozen=True)
class HardRopes(Block):
    """Points (m, 2) that stay at a distance; compression 0: or nearer."""

    energy_name = "joint"
    invariance = Invariance.RIGID

    lengths: np.ndarray  # (m,) [m], less the shift
    stiffness: np.ndarray  # (m,) [N/m]
    compression: np.ndarray  # (m,) 1 a rod, 0 a rope


@dataclass(frozen=True)
class HardDots(Block):
    """Directions, from point 0 to 1 and from 2 to 3 (m, 4), across each other."""

    energy_name = "joint"

    stiffness: np.ndarray  # (m,) [N/m^3]
    shift: np.ndarray  # (m,) [m^2]


@physics
def first_link_energy(r, stiffness, shift):
    """E [J], seen from the first point; r = x_1 - x_0."""
    w = add(r, shift)
    return 0.5 * stiffness * dot(w, w)


@physics
def add_first_link(f, H, r, stiffness, shift):
    """Add the force on the first point and its block."""
    return add_scaled(f, stiffness, add(r, shift)), add_identity(H, stiffness)


@physics
def second_link_energy(r, stiffness, shift):
    """E [J], seen from the second point; r = x_0 - x_1."""
    w = subtract(r, shift)
    return 0.5 * stiffness * dot(w, w)


@physics
def add_second_link(f, H, r, stiffness, shift):
    """Add the force on the second point and its block."""
    return add_scaled(f, stiffness, subtract(r, shift)), add_identity(H, stiffness)


@physics
def shifted_dot_energy(other, first, second, stiffness, shift):
    """E [J], as of elements.joint."""
    c = dot(other, subtract(second, first)) + shift
    return 0.5 * stiffness * c * c


@physics
def add_shifted_dot(f, H, other, first, second, stiffness, shift):
    """Add the force on an end and its block, as of elements.joint."""
    v = subtract(second, first)
    c = dot(other, v) + shift
    return add_scaled(f, stiffness * c, v), add_square(H, TOGETHER * stiffness, v)


HARD_LINK = Element(
    HardLinks,
    "hard links",
    corners=2,
    numbers=("stiffness", "shift"),
    views=(
        View(((0, 1),), add_first_link, first_link_energy),
        View(((1, 0),), add_second_link, second_link_energy),
    ),
    path=PATH,
)
HARD_ROPE = replace(
    SPRING, block=HardRopes, name="hard ropes", measure=None, laplacian=None, projection=None, path=PATH
)
HARD_DOT = Element(
    HardDots,
    "hard directions",
    corners=4,
    numbers=("stiffness", "shift"),
    views=(View(((0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0)), add_shifted_dot, shifted_dot_energy),),
    path=PATH,
)
