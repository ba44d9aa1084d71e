"""Who is thrown within a step, off the way it would go without constraints, and meets what was not on that way.

Contacts are found along the ways that spheres would go without constraints, and where one of them is stopped on it. An
impact may also make a sphere faster or turn it aside, into others that it would not have met. So where spheres end off
their ways, the ways that they have really gone are searched too.
"""

from __future__ import annotations

import numpy as np

from pliant.constraints.rows import Rows
from pliant.lanes.compiled import compiled
from pliant.lanes.entry import entry
from pliant.lanes.vectors import dot, subtract


@entry(nogil=True, error_model="numpy")
def find_thrown(vertices, start, target, end, inverse_mass, reach, out):
    """Inverse masses to out (n,), of those vertices that end farther than `reach` [m] from the straight way from start
    to target, all (n, 3) [m], and 0 for all others; how many there are.
    """
    out[:] = 0.0
    found = 0
    for k in range(len(vertices)):
        i = vertices[k]
        if inverse_mass[i] > 0.0 and distance_from_way(start, target, end, i) > reach * reach:
            out[i] = inverse_mass[i]
            found += 1
    return found


@compiled
def distance_from_way(start, target, end, i):
    """Squared distance [m^2] of end from the way from start to target, of one vertex."""
    x = (start[i, 0], start[i, 1], start[i, 2])
    way = subtract((target[i, 0], target[i, 1], target[i, 2]), x)
    moved = subtract((end[i, 0], end[i, 1], end[i, 2]), x)
    length = dot(way, way)
    t = min(max(dot(way, moved) / length, 0.0), 1.0) if length > 0.0 else 0.0
    off = (moved[0] - t * way[0], moved[1] - t * way[1], moved[2] - t * way[2])
    return dot(off, off)


def keep_unknown(rows: Rows, base: int, known: int, count: int, moved: np.ndarray, h: float, part: float) -> int:
    """Keep of the contacts in rows from `known` to `count` those that are not among rows from `base` to `known` and
    that the motion of the step, moved (n, 3) [m], violates by more than `part` of the distance to be kept; how many
    rows are left. Those with triangles go: `grains.passages` looks after sheets.
    """
    own = np.arange(known, count)
    names = rows.vertices[base:count, 0].astype(np.int64) << 32 | rows.source[base:count]
    is_known = np.isin(names[known - base :], names[: known - base])
    own = own[(rows.vertices[own, 2] < 0) & ~is_known]
    is_wall = rows.vertices[own, 1] < 0
    opposite = np.where(is_wall[:, None], h * rows.weights[own], moved[rows.vertices[own, 1]])
    s = rows.separation[own] + moved[rows.vertices[own, 0]] - opposite
    distance = np.where(is_wall, np.einsum("ka,ka->k", rows.normal[own], s), np.linalg.norm(s, axis=1))
    own = own[rows.rest[own] - distance > part * rows.rest[own]]
    for array in rows:
        if len(array):
            array[known : known + len(own)] = array[own]
    return known + len(own)
