"""The tets around a vertex, walked so that each shares a face with the one before.

The faces opposite a vertex form its *link*, a small triangulated surface.  Walked along a path from triangle to
neighbouring triangle, all but the first triangle of a path add one new vertex to the two they share with the last:

        d-----c-----d       after triangle (a, b, c) a vertex d is pushed, and the next triangle is
         \\   / \\   /        (a, c, d) across the edge ac: sign +1, or
          \\ /   \\ /         (c, b, d) across the edge bc: sign -1,
           a-----b          each with positive volume towards the vertex.

So one position per tet is read from memory instead of three.  A path begins with two pushes that complete no triangle:
sign 0. Its third has sign -1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.geometry.adjacency import vertex_elements
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner


class LinkWalks(NamedTuple):
    """Pushes of all vertices, one after another."""

    start: np.ndarray  # (n + 1,) first push of each vertex
    pushed: np.ndarray  # (pushes,) the vertex that is pushed
    tet: np.ndarray  # (pushes,) the tet whose triangle the push completes, -1 at the beginning of a path
    sign: np.ndarray  # (pushes,) +1, -1 or 0 as above


def walk_links(tets: np.ndarray, n_vertices: int, longest_path: np.ndarray) -> LinkWalks:
    """Walk the link of every vertex; longest_path (n,) bounds the triangles of a path."""
    tets = np.ascontiguousarray(tets, np.int64)
    first, members = vertex_elements([tets], n_vertices)
    across = neighbours_across_faces(tets, first, members)
    return LinkWalks(*_walk(tets, across, first, members, longest_path))


@entry()
def neighbours_across_faces(tets, first, members):
    """(m, 4) the tet on the other side of the face opposite each corner, -1 where there is none."""
    across = np.full(tets.shape, -1, np.int64)
    for t in range(len(tets)):
        for k in range(4):
            if across[t, k] >= 0:
                continue
            a, b, c = tets[t, (k + 1) % 4], tets[t, (k + 2) % 4], tets[t, (k + 3) % 4]
            if first[b + 1] - first[b] < first[a + 1] - first[a]:  # search the shortest list
                a, b = b, a
            if first[c + 1] - first[c] < first[a + 1] - first[a]:
                a, c = c, a
            for place in range(first[a], first[a + 1]):
                other = members[place]
                if other == t:
                    continue
                shared, odd_one = 0, 0
                for l in range(4):
                    if tets[other, l] == a or tets[other, l] == b or tets[other, l] == c:
                        shared += 1
                    else:
                        odd_one = l
                if shared == 3 and across[other, odd_one] < 0:
                    across[t, k], across[other, odd_one] = other, t
                    break
    return across


@inner()
def _corner(tet, vertex):
    for k in range(4):
        if tet[k] == vertex:
            return k
    return -1


@inner()
def _is_positive(tet, a, b, c, i):
    """Whether the triangle (a, b, c) of a positive tet has positive volume towards i: parity of the corners."""
    p = (_corner(tet, a), _corner(tet, b), _corner(tet, c), _corner(tet, i))
    swaps = 0
    for k in range(4):
        for l in range(k + 1, 4):
            swaps += p[k] > p[l]
    return swaps % 2 == 0


@inner()
def _open_sides(t, i, tets, across, used):
    """How many triangles next to that of tet t in the link of i are still to be visited."""
    count = 0
    for k in range(4):
        other = across[t, k]
        if tets[t, k] != i and other >= 0 and used[other] != i:
            count += 1
    return count


@inner()
def _first_triangle(t, i, tets, across, used):
    """The triangle of tet t, positively oriented, turned so that its last corner is opposite a side that leads
    nowhere.
    """
    corners = np.empty(3, np.int64)
    n = 0
    for k in range(4):
        if tets[t, k] != i:
            corners[n] = tets[t, k]
            n += 1
    a, b, c = corners
    if not _is_positive(tets[t], a, b, c, i):
        a, b = b, a
    for _ in range(2):
        other = across[t, _corner(tets[t], c)]
        if other < 0 or used[other] == i:
            break
        a, b, c = b, c, a
    return a, b, c


@entry()
def _walk(tets, across, first, members, longest_path):
    n = len(first) - 1
    start = np.zeros(n + 1, np.int64)
    capacity = 3 * len(members)  # every triangle a path of its own
    pushed, tet, sign = np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity, np.int8)
    used = np.full(len(tets), -1, np.int64)  # the last vertex whose walk visited a tet
    e = 0
    for i in range(n):
        remaining = first[i + 1] - first[i]
        while remaining > 0:
            # begin where the fewest ways lead on: such triangles are the hardest to reach later
            t, fewest = -1, 4
            for place in range(first[i], first[i + 1]):
                candidate = members[place]
                if used[candidate] != i:
                    ways = _open_sides(candidate, i, tets, across, used)
                    if ways < fewest:
                        t, fewest = candidate, ways
            a, b, c = _first_triangle(t, i, tets, across, used)
            pushed[e], tet[e], sign[e] = b, -1, 0
            pushed[e + 1], tet[e + 1], sign[e + 1] = a, -1, 0
            pushed[e + 2], tet[e + 2], sign[e + 2] = c, t, -1
            e += 3
            used[t] = i
            remaining -= 1
            length = 1
            while length < longest_path[i]:
                best, best_d, best_sign, fewest = -1, -1, 0, 4
                for s in (1, -1):
                    kept, left = (a, b) if s > 0 else (b, a)
                    other = across[t, _corner(tets[t], left)]
                    if other < 0 or used[other] == i:
                        continue
                    ways = _open_sides(other, i, tets, across, used)
                    d = tets[other, 0] + tets[other, 1] + tets[other, 2] + tets[other, 3] - i - kept - c
                    first_corner, second_corner = (a, c) if s > 0 else (c, b)
                    if ways < fewest and _is_positive(tets[other], first_corner, second_corner, d, i):
                        best, best_d, best_sign, fewest = other, d, s, ways
                if best < 0:
                    break
                a, b = (a, c) if best_sign > 0 else (c, b)
                c, t = best_d, best
                pushed[e], tet[e], sign[e] = c, t, best_sign
                e += 1
                used[t] = i
                remaining -= 1
                length += 1
        start[i + 1] = e
    return start, pushed[:e].copy(), tet[:e].copy(), sign[:e].copy()
