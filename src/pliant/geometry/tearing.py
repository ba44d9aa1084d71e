"""How a sheet tears: a vertex at the end of an overstretched edge is split across the edge.

Triangles have three corners each, numbered 3 t + c; `corners` tells at which vertex each of them is now.  The triangles
around a vertex, its fan, fall apart into those before and those behind the plane through the vertex across the edge.
Every part that hangs together by edges gets a vertex of its own; the first one keeps the old vertex.  Where neighbours
are then held together by a point alone, they are split into such parts too.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.lanes.entry import entry
from pliant.lanes.inner import inner

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


class Splits(NamedTuple):
    """What a sheet is after tearing."""

    corners: IntArray  # (3 m,) vertex of each corner; -1 where the triangle does not exist any more
    parents: IntArray  # (k,) vertex that each new one was split from; new ones are numbered from n on
    origins: IntArray  # (k,) vertex of the whole sheet that each new one was
    mass: FloatArray  # (n + k,)


class Fans(NamedTuple):
    """Corners at each vertex of the whole sheet, in compressed rows."""

    start: IntArray  # (n + 1,)
    corners: IntArray  # (3 m,)


def fans_of(corners: IntArray, n_vertices: int) -> Fans:
    """Fans of a whole sheet."""
    counts = np.bincount(corners, minlength=n_vertices)
    return Fans(np.concatenate([[0], np.cumsum(counts)]), np.argsort(corners, kind="stable"))


def overstretched(x: FloatArray, v: FloatArray, corners: IntArray, limits: FloatArray) -> IntArray:
    """Edges 3 t + c, from corner c to the next, that are longer than their limits (3 m,) [m] and growing: positions x
    [m], velocities v [m/s]. The most stretched come first.
    """
    chosen, excess = _overstretched(x, v, corners, limits)
    return chosen[np.argsort(-excess, kind="stable")]


def split(
    edges: IntArray,
    x: FloatArray,
    corners: IntArray,
    origin: IntArray,
    is_free: NDArray[np.bool_],
    mass: FloatArray,
    shares: FloatArray,
    fans: Fans,
) -> Splits:
    """Split the vertices at the ends of edges 3 t + c, each vertex at most once, held ones never.

    x: (n, 3) [m]; origin: (n,) vertex of the whole sheet that each one was; mass: (n,) [kg], divided in proportion to
    the shares (3 m,) of the corners.
    """
    n, room = len(x), max(64, 4 * len(edges))
    while True:
        torn, grown_origin, grown_mass = corners.copy(), _longer(origin, room), _longer(mass, room)
        parents, done = np.empty(room, np.int64), np.zeros(n + room, np.bool_)
        arrays = (torn, grown_origin, grown_mass, parents, done)
        k = _split_all(edges, x, is_free, shares, fans.start, fans.corners, *arrays)
        if k >= 0:
            return Splits(torn, parents[:k], grown_origin[n : n + k], grown_mass[: n + k])
        room *= 4


def _longer(array, room):
    return np.concatenate([array, np.zeros(room, array.dtype)])


@entry()
def _overstretched(x, v, corners, limits):
    """Edges beyond their limits and by how much, relative to the limit."""
    chosen, excess, k = np.empty(16, np.int64), np.empty(16), 0
    for e in range(len(corners)):
        a, b = corners[e], corners[e - 2 if e % 3 == 2 else e + 1]
        if a < 0 or limits[e] == np.inf:
            continue
        square, growth = 0.0, 0.0
        for i in range(3):
            d = x[b, i] - x[a, i]
            square += d * d
            growth += d * (v[b, i] - v[a, i])
        if square > limits[e] * limits[e] and growth > 0.0:
            if k == len(chosen):
                chosen, excess = np.concatenate((chosen, chosen)), np.concatenate((excess, excess))
            chosen[k], excess[k] = e, square / (limits[e] * limits[e])
            k += 1
    return chosen[:k], excess[:k]


@inner()
def _fan(v, corners, origin, fan_start, fan, members):
    """Corners at vertex v now; how many."""
    count, o = 0, origin[v]
    for k in range(fan_start[o], fan_start[o + 1]):
        if corners[fan[k]] == v:
            members[count] = fan[k]
            count += 1
    return count


@inner()
def _others(corner, corners):
    """The other two vertices of a corner's triangle."""
    t, c = corner // 3, corner % 3
    return corners[3 * t + (c + 1) % 3], corners[3 * t + (c + 2) % 3]


@inner()
def _parts(count, members, side, corners, part):
    """Number the parts of a fan that hang together by edges and lie on one side; how many there are."""
    for i in range(count):
        part[i] = i
    changed = True
    while changed:
        changed = False
        for i in range(count):
            a, b = _others(members[i], corners)
            for j in range(i):
                c, d = _others(members[j], corners)
                if side[i] == side[j] and part[i] != part[j] and (a in (c, d) or b in (c, d)):
                    part[i] = part[j] = min(part[i], part[j])
                    changed = True
    parts = 0
    for i in range(count):
        parts += part[i] == i
    return parts


@inner()
def _divide(v, n, count, members, part, shares, corners, origin, mass, parents, done, first_new):
    """Give every part but the first a vertex of its own, from number n on; the next number."""
    total = 0.0
    for i in range(count):
        total += shares[members[i]]
    whole = mass[v]
    for i in range(1, count):
        if part[i] != i:
            continue
        if n == len(mass):
            return -1
        own = 0.0
        for j in range(i, count):
            if part[j] == i:
                own += shares[members[j]]
                corners[members[j]] = n
        mass[n] = whole * own / total
        mass[v] -= mass[n]
        origin[n], parents[n - first_new], done[n] = origin[v], v, True
        n += 1
    done[v] = True
    return n


@inner()
def _sides(v, w, x, count, members, corners, side):
    """Which triangles lie behind the plane through v across the way to w; how many, and whether the fan is open."""
    behind, is_open = 0, False
    for i in range(count):
        a, b = _others(members[i], corners)
        towards = 0.0
        for k in range(3):
            towards += (x[w, k] - x[v, k]) * (x[a, k] + x[b, k] - 2.0 * x[v, k])
        side[i] = towards < 0.0
        behind += side[i]
        met_a, met_b = False, False
        for j in range(count):
            if j != i:
                c, d = _others(members[j], corners)
                met_a, met_b = met_a or a in (c, d), met_b or b in (c, d)
        is_open = is_open or not (met_a and met_b)
    return behind, is_open


@entry()
def _split_all(edges, x, is_free, shares, fan_start, fan, corners, origin, mass, parents, done):
    """Split at all edges in turn; the number of new vertices, or -1 if there is no room for them.

    Positions of new vertices are not needed: edges with one are not split in the same step.
    """
    first_new = len(x)
    n, longest = first_new, 1
    for o in range(len(fan_start) - 1):
        longest = max(longest, fan_start[o + 1] - fan_start[o])
    members, part, side = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.bool_)
    neighbours = np.empty(2 * longest, np.int64)
    for e in edges:
        ends = corners[e], corners[e - 2 if e % 3 == 2 else e + 1]
        if done[ends[0]] or done[ends[1]]:
            continue
        chosen, chosen_is_open = -1, False
        for k in range(2):
            v, w = ends[k], ends[1 - k]
            if not is_free[v]:
                continue
            count = _fan(v, corners, origin, fan_start, fan, members)
            if _has_new(count, members, corners, first_new):
                continue
            behind, is_open = _sides(v, w, x, count, members, corners, side)
            if 0 < behind < count and (chosen < 0 or (is_open and not chosen_is_open)):
                chosen, chosen_is_open = k, is_open
        if chosen < 0:
            continue
        v, w = ends[chosen], ends[1 - chosen]
        count = _fan(v, corners, origin, fan_start, fan, members)
        _sides(v, w, x, count, members, corners, side)
        for i in range(count):
            neighbours[2 * i], neighbours[2 * i + 1] = _others(members[i], corners)
        _parts(count, members, side, corners, part)
        n = _divide(v, n, count, members, part, shares, corners, origin, mass, parents, done, first_new)
        for u in neighbours[: 2 * count]:
            if n >= 0 and is_free[u]:
                around = _fan(u, corners, origin, fan_start, fan, members)
                side[:around] = False
                if _parts(around, members, side, corners, part) > 1:
                    n = _divide(u, n, around, members, part, shares, corners, origin, mass, parents, done, first_new)
        if n < 0:
            return -1
    return n - first_new


@inner()
def _has_new(count, members, corners, first_new):
    """Whether a fan has a vertex that was made in this step, and has no position yet."""
    for i in range(count):
        a, b = _others(members[i], corners)
        if a >= first_new or b >= first_new:
            return True
    return False


@entry()
def rewired(follow, left, corners, elements):
    """Elements `left` (m,) at the vertices where their corners are now, by rows `follow` of corners: those of a
    triangle; of a hinge, edge start and end, two wings, and the edge again as its other side sees it; of a pair of
    hinges, likewise (geometry.folds).

    Returns the elements (m, k), which of them are still whole (m,), neither deleted nor torn apart, and which differ
    from `elements` (m,).
    """
    m, k = elements.shape
    now, is_whole, is_other = np.empty((m, k), np.int64), np.ones(m, np.bool_), np.zeros(m, np.bool_)
    for e in range(m):
        row = follow[left[e]]
        for i in range(k):
            now[e, i] = corners[row[i]]
            is_whole[e] &= now[e, i] >= 0
            is_other[e] |= now[e, i] != elements[e, i]
        for i in range(k, len(row)):
            is_whole[e] &= corners[row[i]] == now[e, (i - k) % k]
    return now, is_whole, is_other
