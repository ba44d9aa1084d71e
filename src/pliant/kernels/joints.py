"""Joints of rods at the vertices of a pack: one list of joints they end, one of those they are the middle of."""

from __future__ import annotations

import numpy as np

from pliant.elements.joint import add_joint_at_end, add_joint_at_middle, joint_energy
from pliant.kernels.lists import Incidences, list_constant, other
from pliant.kernels.term_source import TermSource
from pliant.lanes.vectors import physics, subtract

CONSTANTS = 2  # rest angle, stiffness


@physics
def _edges_from_end(x, xi, lists, k):
    """Edges towards and at the vertex; the others are the middle and the far end."""
    middle, far = other(x, xi, lists, k, 0, 2), other(x, xi, lists, k, 1, 2)
    return subtract(middle, far), (-middle[0], -middle[1], -middle[2])


@physics
def _edges_from_middle(x, xi, lists, k):
    """Edges before and behind the vertex; the others are the ends."""
    before = other(x, xi, lists, k, 0, 2)
    return (-before[0], -before[1], -before[2]), other(x, xi, lists, k, 1, 2)


@physics
def add_joints(p, x, xi, f, H, ends, middles):
    """Add force and block on the vertices of pack p."""
    for k in range(ends.start[p], ends.start[p + 1]):
        u, v = _edges_from_end(x, xi, ends, k)
        rest, stiffness = list_constant(ends, k, 0, CONSTANTS, xi[0]), list_constant(ends, k, 1, CONSTANTS, xi[0])
        f, H = add_joint_at_end(f, H, u, v, rest, stiffness)
    for k in range(middles.start[p], middles.start[p + 1]):
        u, v = _edges_from_middle(x, xi, middles, k)
        rest, stiffness = list_constant(middles, k, 0, CONSTANTS, xi[0]), list_constant(middles, k, 1, CONSTANTS, xi[0])
        f, H = add_joint_at_middle(f, H, u, v, rest, stiffness)
    return f, H


@physics
def joints_energy(p, x, xi, energy, ends, middles, share):
    """Add a share of the energy of the joints of pack p's vertices, were they at xi."""
    for k in range(ends.start[p], ends.start[p + 1]):
        u, v = _edges_from_end(x, xi, ends, k)
        rest, stiffness = list_constant(ends, k, 0, CONSTANTS, xi[0]), list_constant(ends, k, 1, CONSTANTS, xi[0])
        energy = energy + share * joint_energy(u, v, rest, stiffness)
    for k in range(middles.start[p], middles.start[p + 1]):
        u, v = _edges_from_middle(x, xi, middles, k)
        rest, stiffness = list_constant(middles, k, 0, CONSTANTS, xi[0]), list_constant(middles, k, 1, CONSTANTS, xi[0])
        energy = energy + share * joint_energy(u, v, rest, stiffness)
    return energy


JOINTS_SOURCE = TermSource(
    name="joints",
    imports="from pliant.kernels.joints import add_joints, joints_energy",
    tables=("ends_K", "middles_K"),
    force=("f, H = add_joints(p, x, xi, f, H, ends_K, middles_K)",),
    energy=("energy = joints_energy(p, x, xi, energy, ends_K, middles_K, SHARE_OF_3)",),
)


def joint_incidences(joints: np.ndarray, angles: np.ndarray, stiffness: np.ndarray) -> tuple[Incidences, Incidences]:
    """Ends and middles of joints (m, 3)."""
    a, b, c = joints.T
    constants = np.column_stack([angles, stiffness])
    ends = Incidences(np.r_[a, c], np.r_[np.column_stack([b, c]), np.column_stack([b, a])], np.tile(constants, (2, 1)))
    return ends, Incidences(b, np.column_stack([a, c]), constants)
