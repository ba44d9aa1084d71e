"""Strips of elements in packs of `width`, for solvers that sum the corrections of all elements (Jacobi).

The lanes of a pack walk strips of equal length, one element after another.  Packs of a tile follow each other; tiles of
one colour share no vertex, so threads may work on them at the same time, and the order of every sum is fixed.  Lanes
may share vertices.  The last pack of a tile may have lanes to spare: they repeat a strip, and must add nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.geometry.strips import LONGEST, Strips


class StripPacks(NamedTuple):
    """Which element is where. A row is one element in each lane."""

    width: int
    element: np.ndarray  # (rows, width) number of the element
    is_first: np.ndarray  # (rows, width) False where a lane repeats another
    vertex: np.ndarray  # (rows + (k - 1) packs, width) pack p begins at strip_start[p] + (k - 1) p
    strip_start: np.ndarray  # (packs + 1,) first row of each pack
    tile_start: np.ndarray  # (tiles + 1,) first pack of each tile
    colour_start: np.ndarray  # (colours + 1,) first tile of each colour

    @property
    def order(self) -> tuple[np.ndarray, ...]:
        """By which a kernel finds its way."""
        return self.colour_start, self.tile_start, self.strip_start

    def corners(self) -> np.ndarray:
        """(rows, width, k) the vertices of each element, in the order of its strip."""
        packs = len(self.strip_start) - 1
        k = 1 + (len(self.vertex) - len(self.element)) // max(packs, 1)
        pack_of_row = np.repeat(np.arange(packs), np.diff(self.strip_start))
        first = np.arange(len(self.element)) + (k - 1) * pack_of_row
        return np.stack([self.vertex[first + i] for i in range(k)], axis=-1)


class _Pieces(NamedTuple):
    """Parts of strips, all of one length."""

    tile: np.ndarray  # (pieces,)
    element: np.ndarray  # where a piece begins in Strips.element
    vertex: np.ndarray  # and in Strips.vertex

    def pick(self, which: np.ndarray) -> _Pieces:
        return _Pieces(*(array[which] for array in self))

    def moved(self, by: int) -> _Pieces:
        return _Pieces(self.tile, self.element + by, self.vertex + by)

    def with_these(self, others: _Pieces) -> _Pieces:
        return _Pieces(*(np.concatenate(pair) for pair in zip(self, others, strict=True)))


def pack_strips(strips: Strips, k: int, tile: np.ndarray, colours: np.ndarray, width: int) -> StripPacks:
    """Sort strips of elements with k corners into packs. tile: (m,) of the elements; colours: (tiles,)."""
    rank_of_tile = np.empty(len(colours), np.int64)
    rank_of_tile[np.argsort(colours, kind="stable")] = np.arange(len(colours))
    rest = np.diff(strips.start)
    heads = strips.start[:-1]
    places = _Pieces(rank_of_tile[tile[strips.element[heads]]], heads, heads + (k - 1) * np.arange(len(heads)))
    left = places.pick(rest < 0)  # none
    lanes, lengths = [], []
    length = LONGEST
    while length:
        cut = rest >= length
        packed, left = _full_packs(left.with_these(places.pick(cut)), width, fill_up=length == 1)
        lanes.append(packed)
        lengths.append(np.full(len(packed.tile), length))
        places, rest = _advanced(places, cut, length), rest - length * cut
        length //= 2
        left = left.with_these(left.moved(length))
    return _laid_out(strips, k, lanes, np.concatenate(lengths), np.bincount(colours), width)


def _advanced(places: _Pieces, cut: np.ndarray, by: int) -> _Pieces:
    return _Pieces(places.tile, places.element + by * cut, places.vertex + by * cut)


def _full_packs(pieces: _Pieces, width: int, fill_up: bool) -> tuple[_Pieces, _Pieces]:
    """Pieces (packs, width), each pack of one tile, and those that fill no pack; with fill_up there are none such."""
    pieces = pieces.pick(np.lexsort((pieces.element, pieces.tile)))
    counts = np.bincount(pieces.tile)
    first = np.cumsum(counts) - counts
    rank = np.arange(len(pieces.tile)) - first[pieces.tile]
    fits = rank < counts[pieces.tile] // width * width
    packs_of_tile = -(-counts // width) if fill_up else counts // width
    tile = np.repeat(np.arange(len(counts)), packs_of_tile)
    pack_in_tile = np.arange(len(tile)) - (np.cumsum(packs_of_tile) - packs_of_tile)[tile]
    lane = pack_in_tile[:, None] * width + np.arange(width)
    chosen = first[tile][:, None] + np.minimum(lane, counts[tile][:, None] - 1)
    return pieces.pick(chosen), pieces.pick(~fits & (not fill_up))


def _laid_out(strips, k, lanes, lengths, tiles_of_colour, width) -> StripPacks:
    """Packs in the order of their tiles, long ones first."""
    tile, element, vertex = (np.concatenate([getattr(packed, name) for packed in lanes]) for name in _Pieces._fields)
    tile = tile.reshape(-1, width)[:, 0]
    order = np.lexsort((-lengths, tile))
    lengths = lengths[order]
    strip_start = np.concatenate([[0], np.cumsum(lengths)])

    def rows(first: np.ndarray, count: np.ndarray) -> np.ndarray:
        step = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        return np.repeat(first.reshape(-1, width)[order], count, axis=0) + step[:, None]

    numbers = rows(element, lengths)
    is_first = np.ones(numbers.shape, bool)
    is_first[:, 1:] = numbers[:, 1:] != numbers[:, :-1]
    tiles = int(tiles_of_colour.sum())
    return StripPacks(
        width,
        strips.element[numbers],
        is_first,
        strips.vertex[rows(vertex, lengths + k - 1)],
        strip_start,
        np.concatenate([[0], np.cumsum(np.bincount(tile, minlength=tiles))]),
        np.concatenate([[0], np.cumsum(tiles_of_colour)]),
    )
