"""Hinges that follow each other around a vertex of a sheet: what bending forms couple.

          c - b          Around vertex v, counter-clockwise as the triangles are oriented: p, a, b, c, q. The hinges
        / \\ / \\         at va, vb and vc are a fan of three; those at va and vb, with the vertices p, a, b and c,
       q - v - a         are a pair. Each vertex's hinges are covered by fans of three that begin at every second hinge
            \\ /          and overlap where they must; around a ring from the place on where the hinges in the middle of
             p           fans are shortest, which makes the forms of elements.fan_weights most exact.

Where four triangles close around a vertex, p is q: four pairs cover them. Around a vertex with three triangles, and
where fewer meet, hinges are alone.

A vertex where neighbours are oriented differently (a Moebius strip) has no fans: its hinges are alone there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.geometry.folds import hinge_corners, next_corner

IntArray = NDArray[np.int64]
SAME = 1e-9  # relative: lengths that differ less are the same

#: Which corner of its triangle, counted from v, a fan's vertex is, and which of its triangles in turn that is: v, a, b,
#: c, p, q, and again as other triangles of the fan have them (geometry.tearing).
_FAN = ((1, 0), (1, 1), (1, 2), (2, 2), (0, 1), (3, 2))
_FAN_AGAIN = ((0, 0), (0, 2), (2, 1), (3, 1), (0, 1), (3, 2), (2, 0), *_FAN[1:], (3, 0))
#: The same of a pair: v, a, b, p, c.
_PAIR = ((1, 0), (1, 1), (1, 2), (0, 1), (2, 2))
_PAIR_AGAIN = ((0, 0), (0, 2), (2, 1), (0, 1), (2, 2), (2, 0))


class Groups(NamedTuple):
    """Hinges next to each other around vertices (m,), as they follow each other; numbered as by `folds.hinges`."""

    vertices: IntArray
    hinges: IntArray  # (m, k)


class FoldFans(NamedTuple):
    """All hinges of a sheet, at both of their ends: in fans, in pairs or alone.

    Corners 3 t + c of triangles are the vertices of an element, then the same again as other triangles have them: where
    one differs, the sheet is torn between them.
    """

    fans: Groups
    pairs: Groups
    singles: Groups
    fan_corners: IntArray  # (f, 19): v, a, b, c, p, q, and again
    pair_corners: (
        IntArray  # (f + p, 11): v, a, b, p, c, and again: of the last two hinges of each fan, then of the pairs
    )


def fold_fans(points: NDArray[np.float64], triangles: IntArray) -> FoldFans:
    """Of points (n, 3) and triangles (m, 3)."""
    sides = hinge_corners(triangles, len(points))
    chains, count, is_closed, is_cut = _chains(sides, 3 * len(triangles))
    chains[is_closed] = _turned(chains[is_closed], count[is_closed], points[triangles.ravel()])
    many = np.where(is_closed, count, count - 1)  # hinges of each chain
    has_fans = ~is_cut & (many >= np.where(is_closed, 5, 3))
    has_pairs = ~is_cut & ~has_fans & (many >= np.where(is_closed, 4, 2))
    hinge = np.full(3 * len(triangles), -1)
    hinge[sides[:, 1]] = hinge[sides[:, 4]] = np.arange(len(sides))
    fans = _around(chains, count, *_fan_starts(np.flatnonzero(has_fans), many, is_closed), 4)
    pairs = _around(chains, count, *_pair_starts(np.flatnonzero(has_pairs), is_closed), 3)
    vertex = triangles.ravel()
    return FoldFans(
        Groups(vertex[fans[:, 0]], hinge[fans[:, :3]]),
        Groups(vertex[pairs[:, 0]], hinge[pairs[:, :2]]),
        _singles(chains[has_fans | has_pairs], sides, vertex),
        _corners(fans, _FAN + _FAN_AGAIN),
        _corners(np.concatenate((fans[:, 1:], pairs)), _PAIR + _PAIR_AGAIN),
    )


def _chains(sides: IntArray, n_corners: int) -> tuple[IntArray, IntArray, NDArray[np.bool_], NDArray[np.bool_]]:
    """Corners of triangles around vertices: chains (c, l) padded with -1, their lengths, whether they close, whether
    neighbours among them are oriented differently.
    """
    is_alike = next_corner(sides[:, 5]) == sides[:, 4]
    after = np.full(n_corners, -1)
    after[sides[is_alike, 1]] = sides[is_alike, 5]
    after[sides[is_alike, 4]] = sides[is_alike, 0]
    odd = np.zeros(n_corners, bool)
    odd[sides[~is_alike][:, (0, 1, 4, 5)]] = True
    has_before = np.zeros(n_corners, bool)
    has_before[after[after >= 0]] = True
    open_starts = np.flatnonzero(~has_before)
    rows = _followed(open_starts, after)
    in_open = np.zeros(n_corners, bool)
    in_open[rows[rows >= 0]] = True
    ring = np.flatnonzero(~in_open)
    least, current = ring.copy(), after[ring]
    while (current != ring).any():  # once around, each ring's corners know the least of them
        least = np.minimum(least, current)
        current = np.where(current == ring, ring, after[current])
    closed = _followed(ring[least == ring], after)
    width = max(rows.shape[1], closed.shape[1])
    padding = [((0, 0), (0, width - part.shape[1])) for part in (rows, closed)]
    chains = np.concatenate(
        [np.pad(part, pad, constant_values=-1) for part, pad in zip((rows, closed), padding, strict=True)]
    )
    is_closed = np.arange(len(chains)) >= len(rows)
    is_there = chains >= 0
    return chains, is_there.sum(axis=1), is_closed, (is_there & odd[chains]).any(axis=1)


def _turned(rings: IntArray, count: IntArray, corner: NDArray[np.float64]) -> IntArray:
    """Rings (c, l) of corners from the one on at which the hinges in the middle of fans are shortest."""
    if not len(rings):
        return rings
    width = rings.shape[1]
    length = np.linalg.norm(corner[next_corner(rings, 2)] - corner[rings], axis=2)  # of the hinge after a corner
    rows, best, least = np.arange(len(rings)), np.zeros(len(rings), int), np.full(len(rings), np.inf)
    for start in range(width):
        total = np.zeros(len(rings))
        for middle in range(1, width + 1, 2):
            total += np.where(middle <= count, length[rows, (start + middle) % count], 0.0)
        is_better = (start < count) & (total < (1 - SAME) * least)
        best, least = np.where(is_better, start, best), np.where(is_better, total, least)
    turned = rings[rows[:, None], (best[:, None] + np.arange(width)) % count[:, None]]
    return np.where(np.arange(width) < count[:, None], turned, -1)


def _followed(starts: IntArray, after: IntArray) -> IntArray:
    """Chains (c, l) from their first corners on, padded with -1."""
    columns, current = [starts], starts
    while True:
        current = np.where(current >= 0, after[current], -1)
        current = np.where(current == starts, -1, current)
        if not (current >= 0).any():
            return np.stack(columns, axis=1)
        columns.append(current)


def _pair_starts(rows: IntArray, is_closed: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Rows of chains with pairs, and the place of the first hinge of each: all four of a ring, the first of two."""
    counts = np.where(is_closed[rows], 4, 1)
    chain = np.repeat(rows, counts)
    return chain, np.arange(len(chain)) - np.repeat(np.cumsum(counts) - counts, counts)


def _fan_starts(rows: IntArray, many: IntArray, is_closed: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Rows of chains with fans, and the place of the first hinge of each: every second, as far as there are three."""
    last = np.where(is_closed[rows], many[rows] - 1, many[rows] - 3)
    counts = np.where(is_closed[rows], (many[rows] + 1) // 2, (last + 1) // 2 + 1)
    chain = np.repeat(rows, counts)
    place = 2 * (np.arange(len(chain)) - np.repeat(np.cumsum(counts) - counts, counts))
    return chain, np.minimum(place, np.repeat(last, counts))


def _around(chains: IntArray, count: IntArray, rows: IntArray, first: IntArray, many: int) -> IntArray:
    """(m, many) corners of chains from a place on, again from the start where a ring ends."""
    return chains[rows[:, None], (first[:, None] + np.arange(many)) % count[rows][:, None]]


def _corners(own: IntArray, layout: tuple[tuple[int, int], ...]) -> IntArray:
    """(m, c) of triangles in turn, given by their corners at v (m, k)."""
    return np.stack([next_corner(own[:, triangle], steps) for triangle, steps in layout], axis=1)


def _singles(coupled: IntArray, sides: IntArray, vertex: IntArray) -> Groups:
    """Ends of hinges that are in no chain (c, l) of those with fans or pairs."""
    is_coupled = np.zeros(len(vertex), bool)
    is_coupled[coupled[coupled >= 0]] = True
    hinge, end = np.nonzero(~is_coupled[sides[:, :2]])
    return Groups(vertex[sides[hinge, end]], hinge[:, None])
