"""What joints between rigid bodies are made of: links and ropes between two points, and two directions that stay at an
angle.

    link   E = k/2 |x_1 - x_0|^2                          two points that stay together
    rope   E = k/2 (l - l_0)^2, where l > l_0 at least     two points that stay at a distance, or within it
    dot    E = k/2 ((x_1 - x_0) . (x_3 - x_2) / l)^2       a direction across another one; l [m] is the length of one

Rigid bodies carry the points. A joint of infinite stiffness has one that follows from masses and the step,

    k = RATIO m / h^2,

so that a body of mass m that hangs on it sinks by g h^2 / RATIO, 1e-5 m at h = 1/300 s. Weights hundreds of times as
heavy need a stiffness of their own, or shorter steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pliant.elements.block import Block, Invariance
from pliant.elements.element import Element, View
from pliant.elements.pair import ATTACHMENT, Attachments
from pliant.elements.spring import SPRING
from pliant.lanes.vectors import add_scaled, add_square, dot, physics, subtract

RATIO = 10.0  # of an infinitely stiff joint's k to m / h^2
TOGETHER = 3.0  # ends that one body moves, at most: (a - b + c)^2 <= 3 (a^2 + b^2 + c^2)


@dataclass(frozen=True)
class JointLinks(Attachments):
    """Points (m, 2) that stay together. Weights are RATIO m [kg] in a model where the joint is infinitely stiff."""

    energy_name = "joint"

    is_rigid: np.ndarray  # (m,) bool

    def over(self, h: float, x_prev: np.ndarray) -> Self:
        return replace(self, weights=np.where(self.is_rigid, self.weights / h**2, self.weights))


@dataclass(frozen=True)
class JointRopes(Block):
    """Points (m, 2) that stay at a distance; compression 0: or nearer. Stiffness as the weights of JointLinks."""

    energy_name = "joint"
    invariance = Invariance.RIGID

    lengths: np.ndarray  # (m,) [m]
    stiffness: np.ndarray  # (m,) [N/m]
    compression: np.ndarray  # (m,) 1 a rod, 0 a rope
    is_rigid: np.ndarray  # (m,) bool

    def over(self, h: float, x_prev: np.ndarray) -> Self:
        return replace(self, stiffness=np.where(self.is_rigid, self.stiffness / h**2, self.stiffness))


@dataclass(frozen=True)
class Rods(JointRopes):
    """Springs (m, 2) of infinite stiffness."""

    energy_name = "elastic"


@dataclass(frozen=True)
class StrainLimits(JointRopes):
    """Edges (m, 2) of sheets and nets that stretch no further."""

    energy_name = "elastic"


@dataclass(frozen=True)
class HardAttachments(JointLinks):
    """Vertices (m, 2) that are attached with infinite stiffness."""

    energy_name = "attachment"


def edge_limits(
    kind: type[JointRopes], elements: np.ndarray, lengths: np.ndarray, mass: np.ndarray, sides: float
) -> JointRopes:
    """Edges (m, 2) of infinite stiffness between vertices of masses (n,) [kg]; sides: 1 a rod, 0 a rope."""
    m = len(elements)
    weights = RATIO * mass[elements].max(axis=1, initial=0.0)
    return kind(elements, lengths, weights, np.full(m, sides), np.ones(m, bool))


@dataclass(frozen=True)
class JointDots(Block):
    """Directions, from point 0 to 1 and from 2 to 3 (m, 4), across each other. Stiffness as of JointLinks, over l^2."""

    energy_name = "joint"
    invariance = Invariance.RIGID

    stiffness: np.ndarray  # (m,) k / l^2 [N/m^3]
    is_rigid: np.ndarray  # (m,) bool

    def over(self, h: float, x_prev: np.ndarray) -> Self:
        return replace(self, stiffness=np.where(self.is_rigid, self.stiffness / h**2, self.stiffness))


@physics
def dot_measure(corners, stiffness):
    """(x_1 - x_0) . (x_3 - x_2) [m^2]."""
    u, v = subtract(corners[1], corners[0]), subtract(corners[3], corners[2])
    return dot(u, v), ((-v[0], -v[1], -v[2]), v, (-u[0], -u[1], -u[2]), u), stiffness


@physics
def dot_energy(other, first, second, stiffness):
    """E [J], seen from an end: the other end of its direction and the ends of the other one, relative to it."""
    c = dot(other, subtract(second, first))
    return 0.5 * stiffness * c * c


@physics
def add_dot(f, H, other, first, second, stiffness):
    """Add the force on an end and its block, TOGETHER times as large: ends that a body moves share it."""
    v = subtract(second, first)
    c = dot(other, v)
    return add_scaled(f, stiffness * c, v), add_square(H, TOGETHER * stiffness, v)


JOINT_LINK = replace(ATTACHMENT, block=JointLinks, name="joints' links")
JOINT_ROPE = replace(SPRING, block=JointRopes, name="joints' ropes")
ROD = replace(SPRING, block=Rods, name="rods")
STRAIN_LIMIT = replace(SPRING, block=StrainLimits, name="strain limits")
HARD_ATTACHMENT = replace(ATTACHMENT, block=HardAttachments, name="hard attachments")
JOINT_DOT = Element(
    JointDots,
    "joints' directions",
    corners=4,
    numbers=("stiffness",),
    measure=dot_measure,
    views=(View(((0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0)), add_dot, dot_energy),),
)
