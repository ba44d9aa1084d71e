"""Tets around the vertices of a pack, as walks along the vertices' links (see geometry.links).

A walk reads one new position per tet; the triangle opposite the vertex is kept in registers. All positions are relative
to the vertex, so that nothing cancels far from the origin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.elements.tet import bound_step
from pliant.geometry.links import LinkWalks
from pliant.kernels.packs import Packs
from pliant.lanes import gather3, load, number, select, width_of
from pliant.lanes.entry import entry
from pliant.lanes.vectors import physics, subtract


class Links(NamedTuple):
    """Walks by pack: entry k of pack p's list is one push for each lane."""

    start: np.ndarray  # (packs + 1,) first entry of each pack
    pushed: np.ndarray  # flat (entries, width) row of the pushed vertex; the vertex itself in padding
    constants: np.ndarray  # flat (entries, constants, width); zero in padding


@physics
def push(x, xi, links, k, turn, a, b, c):
    """Push d, relative to xi: the triangle (a, c, d), or (c, b, d) where `turn` holds."""
    d = subtract(gather3(x, links.pushed, k * width_of(xi[0]), xi[0]), xi)
    a, b = (
        (select(turn, c[0], a[0]), select(turn, c[1], a[1]), select(turn, c[2], a[2])),
        (select(turn, b[0], c[0]), select(turn, b[1], c[1]), select(turn, b[2], c[2])),
    )
    return a, b, d


@physics
def constant(links, k, i, count, like):
    """Number i of the `count` constants of entry k."""
    return load(links.constants, (k * count + i) * width_of(like), like)


@physics
def bound_volume_loss(p, x, xi, dx, step, links, sign_constant, count):
    """The largest part of dx, at most `step`, that leaves every tet of pack p's vertices a part of its volume.

    It needs no constant but the one whose sign tells how the walk turns (number `sign_constant` of `count`).
    """
    zero = number(0.0, xi[0])
    a = b = c = (zero, zero, zero)
    for k in range(links.start[p], links.start[p + 1]):
        sign = constant(links, k, sign_constant, count, xi[0])
        a, b, c = push(x, xi, links, k, sign < zero, a, b, c)
        step = select(sign == zero, step, bound_step(step, a, b, c, dx))
    return step


def longest_paths(elements_of: np.ndarray, wide: np.ndarray, width: int) -> np.ndarray:
    """Bound for the length of a vertex's paths (n,): those of a wide pack are dealt out over its lanes."""
    return np.where(wide, -(-elements_of // width), np.iinfo(np.int64).max)


def place(packs: Packs, walks: LinkWalks) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where each push goes: first entries of the packs (packs + 1,), and entry and lane of every push."""
    lengths, entry, lane = _deal(walks.start, walks.sign, packs.row_of_vertex, packs.is_wide, packs.width)
    start = np.concatenate([[0], np.cumsum(lengths)])
    pack = np.repeat(packs.row_of_vertex // packs.width, np.diff(walks.start))
    return start, entry + start[pack], lane


def pushed_rows(packs: Packs, walks: LinkWalks, start, entry, lane) -> np.ndarray:
    """Rows of the pushed vertices, flat (entries, width)."""
    rows = np.repeat(np.arange(packs.pack_count), np.diff(start))[:, None] * packs.width + np.arange(packs.width)
    rows = rows.astype(np.uint32)
    rows[entry, lane] = packs.row_of_vertex[walks.pushed]
    return rows.reshape(-1)


def spread_over_entries(packs: Packs, walks: LinkWalks, values: np.ndarray, dtype) -> np.ndarray:
    """Numbers of tets (m, k) at the pushes that complete them, flat (entries, k, width); elsewhere the first tet's."""
    start, entry, lane = place(packs, walks)
    numbers = np.empty((start[-1], values.shape[1], packs.width), dtype)
    numbers[:] = values[0][:, None]
    with_tet = walks.tet >= 0
    numbers[entry[with_tet], :, lane[with_tet]] = values[walks.tet[with_tet]]
    return numbers.reshape(-1)


@entry()
def _deal(start, sign, row_of_vertex, is_wide, width):
    """Length of each pack's list; place in it and lane of every push. Paths of a wide pack go to the shortest lane."""
    lengths = np.zeros(len(is_wide), np.int64)
    entry, lane = np.zeros(len(sign), np.int64), np.zeros(len(sign), np.int64)
    fill = np.zeros(width, np.int64)
    for vertex in range(len(start) - 1):
        pack, own_lane = divmod(row_of_vertex[vertex], width)
        fill[:] = 0
        current = own_lane
        for push in range(start[vertex], start[vertex + 1]):
            begins_path = sign[push] == 0 and (push == start[vertex] or sign[push - 1] != 0)
            if is_wide[pack] and begins_path:
                current = np.argmin(fill)
            entry[push], lane[push] = fill[current], current
            fill[current] += 1
            lengths[pack] = max(lengths[pack], fill[current])
    return lengths, entry, lane
