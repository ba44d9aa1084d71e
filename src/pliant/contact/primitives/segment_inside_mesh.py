"""Whether one can go straight from a point in a tet to a point of a boundary face without leaving the solid.

A body that has folded into itself or into another fills some places twice.  So a place says nothing; the walk is from
tet to tet, through faces that the segment touches, in the mesh as it is deformed now.  All tets that can be reached
like that are collected, rather than one neighbour chosen per tet: no choice can go wrong where the segment passes
through an edge or a vertex, or where tets are flat or inverted.
"""

from __future__ import annotations

import numpy as np

from pliant.elements.closest import closest_edge_edge, closest_vertex_triangle, combine, row
from pliant.geometry.surface import TET_FACES
from pliant.lanes.compiled import allocating, compiled, inlined
from pliant.lanes.vectors import cross, dot, subtract

TOUCH = 1e-9  # of the sizes involved: nearer counts as touching

FACES = np.array(TET_FACES)


@inlined
def _side(a, b, c, p):
    """Six times the volume of a tet: positive if p sees a, b, c clockwise."""
    return dot(cross(subtract(b, a), subtract(c, a)), subtract(p, a))


@inlined
def _is_beside(p, q, a, b, c, near):
    """Whether, across the segment p q and the edge a b, the segment is further than `near` beyond the edge than c."""
    m = cross(subtract(q, p), subtract(b, a))
    gap, width = dot(m, subtract(a, p)), dot(m, subtract(c, a))
    return gap * width >= 0.0 and gap * gap > near * near * dot(m, m)


@compiled
def segment_touches_triangle(p, q, a, b, c):
    """Whether the segment p q and the triangle a b c have a point in common, or nearly."""
    size = 0.0
    for k in range(3):
        low, high = min(p[k], q[k]), max(p[k], q[k])
        lowest, highest = min(a[k], min(b[k], c[k])), max(a[k], max(b[k], c[k]))
        size = max(size, max(high, highest) - min(low, lowest))
    near = TOUCH * size
    for k in range(3):
        low, high = min(p[k], q[k]), max(p[k], q[k])
        lowest, highest = min(a[k], min(b[k], c[k])), max(a[k], max(b[k], c[k]))
        if low > highest + near or lowest > high + near:
            return False
    n = cross(subtract(b, a), subtract(c, a))
    side_p, side_q = dot(n, subtract(p, a)), dot(n, subtract(q, a))
    if side_p * side_q > 0.0 and min(side_p * side_p, side_q * side_q) > near * near * dot(n, n):
        return False  # both ends on one side of the plane, and not near it
    if _is_beside(p, q, a, b, c, near) or _is_beside(p, q, b, c, a, near) or _is_beside(p, q, c, a, b, near):
        return False
    u, v, w = _side(p, q, a, b), _side(p, q, b, c), _side(p, q, c, a)
    crosses = (side_p > 0.0 > side_q) or (side_p < 0.0 < side_q)
    if crosses and ((u > 0.0 and v > 0.0 and w > 0.0) or (u < 0.0 and v < 0.0 and w < 0.0)):
        return True
    return _squared_distance(p, q, a, b, c) <= near * near


@compiled
def _squared_distance(p, q, a, b, c):
    """Of a segment and a triangle that do not cross: at an end of the segment or an edge of the triangle."""
    least = np.inf
    for y in ((p, a, b, c), (q, a, b, c)):
        r = combine(closest_vertex_triangle(y), y)
        least = min(least, dot(r, r))
    for y in ((p, q, a, b), (p, q, b, c), (p, q, c, a)):
        r = combine(closest_edge_edge(y), y)
        least = min(least, dot(r, r))
    return least


@allocating
def _longer(reached):
    """The same numbers with room for as many again."""
    longer = np.empty(2 * len(reached), np.int32)
    for k in range(len(reached)):
        longer[k] = reached[k]
    return longer


@allocating
def segment_is_inside(p, q, start, goal, x, tets, neighbours, reached):
    """Whether tet `goal` is reached from tet `start` through faces that the segment p q touches.

    `reached` is room for tets on the way; returned too, longer if there were more.
    """
    reached[0] = start
    count, opened = 1, 0
    while opened < count:
        t = reached[opened]
        opened += 1
        if t == goal:
            return True, reached
        for f in range(4):
            other = neighbours[t, f]
            if other < 0:
                continue
            is_known = False
            for k in range(count):
                is_known |= reached[k] == other
            if is_known:
                continue
            a, b, c = (row(x, tets[t, FACES[f, 0]]), row(x, tets[t, FACES[f, 1]]), row(x, tets[t, FACES[f, 2]]))
            if segment_touches_triangle(p, q, a, b, c):
                if count == len(reached):
                    reached = _longer(reached)
                reached[count] = other
                count += 1
    return False, reached
