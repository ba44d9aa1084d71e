"""Triangles and springs on their way past obstacles with formulas: whether they stay apart, and pushing them away."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.primitives.obstacle_separation import look_at, reach_along
from pliant.contact.primitives.separation import APART
from pliant.contact.primitives.shapes import direction_to_world, to_local
from pliant.contact.search.near_pairs import BEYOND, push_side, pushed_place, yielding_of_side
from pliant.elements.closest import row
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import dot
from pliant.model.obstacles import SIZES

NANOSECONDS = 60  # that a look takes at what is not near


class NearShape(NamedTuple):
    """What may meet one obstacle, k triangles and edges; numbers of it as of contact.primitives.shapes."""

    kind: int
    start: np.ndarray  # row of numbers where the way begins
    end: np.ndarray  # and where it ends
    local: np.ndarray  # in its own frame
    corners: np.ndarray  # (k, 3) int32 vertices of the scene, the last -1 for an edge
    kept: np.ndarray  # (k,) distances to be kept at least [m]
    radius: np.ndarray  # (k,) [m] around them: of cores of round bodies
    status: np.ndarray  # (k,) int8 as of NearPairs

    @property
    def touching(self) -> np.ndarray:
        """Numbers of those that do not stay apart."""
        return np.flatnonzero(self.status != APART)


def near_shape(
    kind: int, start: np.ndarray, end: np.ndarray, corners: np.ndarray, kept: np.ndarray, radius: np.ndarray
) -> NearShape:
    """For an obstacle that moves from one row of numbers to another."""
    local = start.copy()
    local[:SIZES] = 0.0
    local[[3, 7, 11]] = 1.0
    return NearShape(kind, start, end, local, corners, kept, radius, np.zeros(len(corners), np.int8))


def look_at_shape(team: Team, near: NearShape, x0: np.ndarray, x1: np.ndarray, has_moved: np.ndarray) -> None:
    """Bring the status up to date of all of which a vertex has moved, (n,) bool."""
    team.run_for(NANOSECONDS * len(near.corners), cached(write_shape_status), near, x0, x1, has_moved)


@inlined
def ways_of(near, k, x0, x1):
    """Corners at both ends of the way in the frame of the shape, and whether they are of a triangle."""
    is_face = near.corners[k, 2] >= 0
    a, b = near.corners[k, 0], near.corners[k, 1]
    c = near.corners[k, 2] if is_face else b
    before = (to_local(near.start, row(x0, a)), to_local(near.start, row(x0, b)), to_local(near.start, row(x0, c)))
    after = (to_local(near.end, row(x1, a)), to_local(near.end, row(x1, b)), to_local(near.end, row(x1, c)))
    return before, after, is_face


@compiled
def write_shape_status(thread, threads, barrier, near, x0, x1, has_moved):
    first, last = share(0, len(near.corners), thread, threads)
    v = near.corners
    for k in range(first, last):
        if has_moved[v[k, 0]] or has_moved[v[k, 1]] or (v[k, 2] >= 0 and has_moved[v[k, 2]]):
            before, after, is_face = ways_of(near, k, x0, x1)
            near.status[k] = look_at(near.kind, near.local, before, after, is_face, near.kept[k], near.radius[k])[0]


@compiled
def push_from_shape(chosen, near, x0, x1, inverse_mass, bodies, has_moved):
    """Push chosen triangles and edges away from the shape at x1, as near_pairs.push_pairs does."""
    v = near.corners
    for place in range(len(chosen)):
        k = chosen[place]
        before, _, is_face = ways_of(near, k, x0, x1)
        corners = 3 if is_face else 2
        y = (
            pushed_place(x1, v[k, 0], bodies),
            pushed_place(x1, v[k, 1], bodies),
            pushed_place(x1, v[k, corners - 1], bodies),
        )
        after = (to_local(near.end, y[0]), to_local(near.end, y[1]), to_local(near.end, y[2]))
        status, goal, w, n = look_at(near.kind, near.local, before, after, is_face, near.kept[k], near.radius[k])
        if status == APART:
            continue
        lacking = near.radius[k] + goal * (1.0 + BEYOND) + reach_along(near.kind, near.local, n)
        for i in range(3):
            lacking -= w[i] * dot(n, after[i])
        out = direction_to_world(near.end, n)
        total = yielding_of_side(0, corners, w, y, out, v, k, inverse_mass, bodies)
        if lacking > 0.0 and total > 0.0:
            push_side(0, corners, lacking / total, w, y, out, v, k, x1, inverse_mass, bodies, has_moved)
