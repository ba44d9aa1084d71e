"""Colours for vertices and elements: those of one colour share nothing, so they can be updated together.

Every colour is a barrier between threads, so few colours matter, and so does that none is tiny. Smallest-last
greedy (Matula and Beck 1983) needs 8 colours for typical tet meshes; emptying the smallest colour by a short
tabu search (after PartialCol, Bloechliger and Zufferey 2008) often leaves 7; a last pass evens the sizes.
All of it is deterministic. Importing this module loads Numba; compiled functions call only those of this
file.
"""

import numpy as np
from numpy.typing import NDArray

from pliant.geometry.adjacency import vertex_elements
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner

#: Search effort: steps per vertex. Armadillo needs 6 for 7 colours; a step costs about 0.1 microseconds.
_STEPS_A_VERTEX = 10


def colour_vertices(indptr: NDArray[np.integer], indices: NDArray[np.integer]) -> NDArray[np.int32]:
    """Colours (n,), 0 to k - 1, largest colour first, such that no two neighbours are alike.

    indptr (n + 1,) and indices are the symmetric graph from `vertex_graph`. Any number of colours
    may come out.
    """
    rows = np.ascontiguousarray(indptr, dtype=np.int64)
    columns = np.ascontiguousarray(indices, dtype=np.int32)
    if len(rows) <= 1:
        return np.zeros(0, dtype=np.int32)
    colours = _by_size(_greedy(rows, columns, _smallest_last(rows, columns)))
    while _worth_emptying(colours):
        fewer, success = _without_last_colour(rows, columns, colours, _STEPS_A_VERTEX * len(colours))
        if not success:
            break
        colours = _by_size(fewer)
    _balance(rows, columns, colours)
    return _by_size(colours)


def colour_elements(elements: NDArray[np.integer], n_vertices: int) -> NDArray[np.int32]:
    """Colours (m,) of elements (m, k) such that no two of one colour share a vertex.

    Far more colours than `colour_vertices` needs: at least the largest number of elements around a vertex.
    """
    first, members = vertex_elements([elements], n_vertices)
    corners = np.ascontiguousarray(elements, dtype=np.int64)
    # Elements at crowded vertices have the least choice, so they go first.
    crowd = np.diff(first)[corners].max(axis=1)
    return _greedy_elements(corners, first, members, np.argsort(-crowd, kind="stable"))


def _by_size(colours: NDArray[np.int32]) -> NDArray[np.int32]:
    """The same colouring with colours renumbered from the most to the least used."""
    sizes = np.bincount(colours)
    rank = np.empty(len(sizes), dtype=np.int32)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes), dtype=np.int32)
    return rank[colours]


def _worth_emptying(colours: NDArray[np.int32]) -> bool:
    """Whether the last colour is so small that its vertices may find room in the others.

    Not tried with more than 64 colours: the search keeps a number for each vertex and colour.
    """
    n, last = len(colours), int(colours.max())
    return 1 < last <= 64 and int(np.count_nonzero(colours == last)) <= n // 64 + 8


@inner()
def _largest(values):  # type: ignore[no-untyped-def]
    """values.max(), which takes Numba half a second to compile."""
    result = values[0]
    for value in values:
        result = max(result, value)
    return result


@entry()
def _smallest_last(indptr, indices):  # type: ignore[no-untyped-def]
    """Order in which few neighbours precede any vertex: remove the least connected again and again, reverse.

    `ranked` holds the vertices sorted by remaining degree, `bucket[d]` where degree d starts in it.
    """
    n = len(indptr) - 1
    degree = indptr[1:] - indptr[:-1]
    bucket = np.zeros(_largest(degree) + 2, np.int64)
    for v in range(n):
        bucket[degree[v] + 1] += 1
    bucket = np.cumsum(bucket)
    ranked = np.empty(n, np.int64)
    place = np.empty(n, np.int64)
    free = bucket.copy()
    for v in range(n):
        place[v] = free[degree[v]]
        ranked[place[v]] = v
        free[degree[v]] += 1
    for i in range(n):
        v = ranked[i]
        for k in range(indptr[v], indptr[v + 1]):
            u = indices[k]
            if degree[u] > degree[v]:
                # Swap u with the first of its bucket, then let the bucket begin one later.
                start = bucket[degree[u]]
                w = ranked[start]
                ranked[place[u]], place[w] = w, place[u]
                ranked[start], place[u] = u, start
                bucket[degree[u]] += 1
                degree[u] -= 1
    return ranked[::-1].copy()


@entry()
def _greedy(indptr, indices, order):  # type: ignore[no-untyped-def]
    """Give each vertex, in order, the first colour none of its neighbours has."""
    n = len(indptr) - 1
    colours = np.full(n, -1, np.int32)
    taken_by = np.full(n + 1, -1, np.int64)
    for v in order:
        for k in range(indptr[v], indptr[v + 1]):
            c = colours[indices[k]]
            if c >= 0:
                taken_by[c] = v
        c = 0
        while taken_by[c] == v:
            c += 1
        colours[v] = c
    return colours


@inner()
def _next_random(state):  # type: ignore[no-untyped-def]
    """Next state of a fixed pseudo-random sequence (xorshift): the same on every machine."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@entry()
def _without_last_colour(indptr, indices, colours, steps):  # type: ignore[no-untyped-def]
    """Try to spread the vertices of the last colour over the others. Returns (colours, success).

    A homeless vertex takes the colour that fewest of its neighbours have; these become homeless in turn and
    may not return to that colour for a while (tabu), so that the search does not undo itself.
    """
    n, last = len(colours), _largest(colours)
    result = colours.copy()
    homeless = np.empty(n, np.int64)
    waiting = 0
    for v in range(n):
        if result[v] == last:
            result[v] = -1
            homeless[waiting] = v
            waiting += 1
    tabu_until = np.zeros((n, last), np.int32)
    count = np.zeros(last, np.int64)
    state = np.uint64(88172645463325252)
    for step in range(steps):
        if waiting == 0:
            return result, True
        state = _next_random(state)
        i = np.int64(state % np.uint64(waiting))
        v = homeless[i]
        count[:] = 0
        for k in range(indptr[v], indptr[v + 1]):
            c = result[indices[k]]
            if c >= 0:
                count[c] += 1
        best = -1
        for c in range(last):
            if tabu_until[v, c] <= step and (best < 0 or count[c] < count[best]):
                best = c
        if best < 0:
            continue
        waiting -= 1
        homeless[i] = homeless[waiting]
        result[v] = best
        for k in range(indptr[v], indptr[v + 1]):
            u = indices[k]
            if result[u] == best:
                result[u] = -1
                homeless[waiting] = u
                waiting += 1
                state = _next_random(state)
                tabu_until[u, best] = step + 10 + waiting + np.int64(state % np.uint64(10))
    return result, waiting == 0


@entry()
def _balance(indptr, indices, colours):  # type: ignore[no-untyped-def]
    """Move vertices, in place, to the least used colour their neighbours allow: no colour stays tiny."""
    n, k_colours = len(colours), _largest(colours) + 1
    sizes = np.zeros(k_colours, np.int64)
    for v in range(n):
        sizes[colours[v]] += 1
    taken_by = np.full(k_colours, -1, np.int64)
    for v in range(n):
        own = colours[v]
        if sizes[own] * k_colours <= n:
            continue
        for k in range(indptr[v], indptr[v + 1]):
            taken_by[colours[indices[k]]] = v
        best = own
        for c in range(k_colours):
            if taken_by[c] != v and sizes[c] < sizes[best]:
                best = c
        if sizes[best] + 1 < sizes[own]:
            sizes[own] -= 1
            sizes[best] += 1
            colours[v] = best


@entry()
def _greedy_elements(corners, first, members, order):  # type: ignore[no-untyped-def]
    """Give each element, in order, the first colour that no element at one of its vertices has."""
    colours = np.full(len(corners), -1, np.int32)
    taken_by = np.full(len(corners) + 1, -1, np.int64)
    for element in order:
        for v in corners[element]:
            for m in range(first[v], first[v + 1]):
                c = colours[members[m]]
                if c >= 0:
                    taken_by[c] = element
        c = 0
        while taken_by[c] == element:
            c += 1
        colours[element] = c
    return colours
