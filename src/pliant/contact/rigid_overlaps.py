"""Rigid bodies that overlap, where neither a vertex is inside nor an edge goes through: flush boxes, round bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import gaps
from pliant.contact.round_bodies import RoundDetector
from pliant.contact.search.convex_bodies import ConvexBodies
from pliant.contact.search.convex_pairs import PlaneSearch, bounds_of
from pliant.model import ContactModel


class RigidOverlaps(NamedTuple):
    """Each pair once, sorted."""

    bodies: np.ndarray  # (m,) the first body
    others: np.ndarray  # (m,) the other body, or -1 less the number of an obstacle
    depths: np.ndarray  # (m,) [m]


def no_overlaps() -> RigidOverlaps:
    return RigidOverlaps(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def rigid_overlaps(
    model: ContactModel,
    convex: ConvexBodies,
    round_bodies: RoundDetector,
    is_carried: np.ndarray,
    x: np.ndarray,
    time: float,
) -> RigidOverlaps:
    """Pairs of convex and round bodies, and round bodies and obstacles, that are near each other at x (n, 3) [m] and a
    time [s]: by how much they overlap along the axis where that is least, negative where they are apart. is_carried
    (n,): of vertices of rigid bodies that nothing holds; two bodies that are held are no pair.
    """
    planes, _ = PlaneSearch(convex).contacts(x, x, bounds_of(convex, x, x, model.edge), model.allowed)
    found = [_pairs(model.body[planes.vertices[:, 0]], model.body[planes.vertices[:, 2]], -gaps(planes, x))]
    features = model.round_bodies
    for obstacle, near in round_bodies.nearby(x, x, time, 0.0) if round_bodies else []:
        own = model.body[features.masses[near.feature]]
        others = np.full(len(own), -1 - obstacle)
        if obstacle < 0:
            others = model.body[np.where(near.other >= 0, features.masses[near.other], near.vertices[:, 2])]
        found.append(_pairs(own, others, -near.gaps))
    columns = (np.concatenate(parts) for parts in zip(*found, strict=True))
    pairs = RigidOverlaps(*columns)
    moves = np.bincount(model.body, is_carried, len(model.allowed)) > 0
    either = moves[pairs.bodies] | ((pairs.others >= 0) & moves[pairs.others])
    return _deepest(RigidOverlaps(*(column[either] for column in pairs)))


def _pairs(one: np.ndarray, other: np.ndarray, depths: np.ndarray) -> RigidOverlaps:
    """The smaller number first, obstacles last."""
    one, other = one.astype(np.int64), other.astype(np.int64)
    is_turned = (other >= 0) & (other < one)
    return RigidOverlaps(np.where(is_turned, other, one), np.where(is_turned, one, other), depths)


def _deepest(found: RigidOverlaps) -> RigidOverlaps:
    """Of each pair the deepest."""
    order = np.lexsort((-found.depths, found.others, found.bodies))
    bodies, others, depths = (column[order] for column in found)
    is_first = np.ones(len(order), bool)
    is_first[1:] = (bodies[1:] != bodies[:-1]) | (others[1:] != others[:-1])
    return RigidOverlaps(bodies[is_first], others[is_first], depths[is_first])
