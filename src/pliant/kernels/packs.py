"""How vertices and their elements lie in memory: packs of vertices that lanes solve together.

A pack is `width` vertices of one colour with nearly equal numbers of elements.  Vertices are renumbered to *rows*, so
that pack p owns rows p * width .. (p + 1) * width - 1 and neighbours in space are near in memory.  Fixed vertices
follow, in packs that no solver moves: their share of an element's energy is counted there. The points of rigid bodies
come last, body after body, each from a new pack on (kernels.bodies). Missing vertices of
an incomplete pack are rows of their own without elements.

Scenes that tear need rows for vertices that do not exist yet: *spare* packs at the end of a colour, in use from the
first on.

A vertex with very many elements would force its pack to be as long as its list.  It gets a *wide* pack of its own: its
elements are dealt out over the lanes, and the lanes are summed before the solve.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

WIDE_FACTOR = 4  # a vertex with this many times the median number of elements gets a wide pack
NEIGHBOURHOOD = 1280  # about so many vertices are sorted by the length of their lists among themselves, not beyond


class Packs(NamedTuple):
    """Which vertex is where."""

    width: int
    vertex_of_row: np.ndarray  # (rows,) scene's vertex, -1 for padding
    row_of_vertex: np.ndarray  # (n,) first row that holds a vertex
    colour_start: np.ndarray  # (colours + 1,) first pack of each colour; the packs of fixed vertices follow
    is_wide: np.ndarray  # (packs,) 1 where all lanes share one vertex
    subspace: np.ndarray  # (packs,) dimension of the space its vertices move in: 3 free, 2 plane, 1 line, 0 fixed; 6
    # for points that a rigid body carries
    next_row: np.ndarray  # (colours,) end of each colour's rows that are in use; what follows is spare

    @property
    def colour_end(self) -> np.ndarray:
        """(colours,) end of each colour's packs that are in use."""
        return -(-self.next_row // self.width)

    @property
    def pack_count(self) -> int:
        """All packs."""
        return len(self.is_wide)

    @property
    def moving_count(self) -> int:
        """Packs of vertices that move: the first ones."""
        return int(self.colour_start[-1])


def needs_wide_pack(elements_of: np.ndarray, width: int) -> np.ndarray:
    """(n,) which vertices have so many elements that their pack would be mostly padding."""
    return elements_of > max(WIDE_FACTOR * np.median(elements_of), width)


def arrange(colours, lengths, wide, subspace, place, width, colour_count=None, carrier=None) -> Packs:
    """Sort vertices into packs.

    colours: (n,) colour of each vertex, -1 if it is fixed or carried; lengths: (n,) of their lists of elements; wide:
    (n,) which get a pack of their own; subspace: (n,) 1, 2, 3 or 6; place: (n,) position along a curve through space;
    colour_count: colours, if it is known; carrier: (n,) the rigid body that carries it, -1 for others.
    """
    n = len(colours)
    colour_count = int(colours.max()) + 1 if colour_count is None else colour_count
    carrier = np.full(n, -1) if carrier is None else carrier
    unmoved, is_carried = colours < 0, carrier >= 0
    colours = np.where(unmoved, colour_count, colours)
    wide, subspace = wide & ~is_carried, np.where(unmoved & ~is_carried, 0, subspace)
    walk = np.lexsort((place, subspace, wide, carrier, colours))
    group = np.stack([colours[walk], carrier[walk], wide[walk], subspace[walk]], 1)
    starts = np.flatnonzero(np.r_[True, np.any(group[1:] != group[:-1], axis=1)])
    sizes = np.diff(np.r_[starts, len(walk)])
    group_of = np.repeat(np.arange(len(starts)), sizes)
    rank = np.arange(len(walk)) - starts[group_of]
    # a power of two of blocks: the border between two threads is the border between two blocks
    halvings = np.ceil(np.log2(np.maximum(sizes / NEIGHBOURHOOD, 1)))
    block = (rank * (2.0**halvings / sizes)[group_of]).astype(np.int64)
    # up in one block, down in the next: a pack across the border has lists of equal length too
    climb = np.where(block % 2 == 0, lengths[walk], -lengths[walk])
    walk = walk[np.lexsort((rank, climb, block, group_of))]

    is_wide_group = wide[walk[starts]]
    packs_in_group = np.where(is_wide_group, sizes, -(-sizes // width))
    first_pack = np.r_[0, np.cumsum(packs_in_group)]
    pack_count = first_pack[-1]
    vertex_of_row = np.full(pack_count * width, -1, np.int64)
    row = np.where(
        is_wide_group[group_of],
        (first_pack[group_of] + rank) * width,
        first_pack[group_of] * width + rank,
    )
    vertex_of_row[row] = walk
    row_of_vertex = np.empty(n, np.int64)
    row_of_vertex[walk] = row
    packs_of_colour = np.bincount(colours[walk[starts]], packs_in_group, minlength=colour_count).astype(np.int64)
    colour_start = np.r_[0, np.cumsum(packs_of_colour[:colour_count])]
    return Packs(
        width,
        vertex_of_row,
        row_of_vertex,
        colour_start,
        np.repeat(is_wide_group, packs_in_group).astype(np.uint8),
        np.repeat(subspace[walk[starts]], packs_in_group).astype(np.uint8),
        colour_start[1:] * width,
    )


def with_spares(packs: Packs, spares: np.ndarray) -> Packs:
    """The same with spare packs for free vertices at the end of each colour, (colours,) in number."""
    width = packs.width
    colour_of_pack = np.searchsorted(packs.colour_start, np.arange(packs.pack_count), side="right") - 1
    ahead = np.r_[0, np.cumsum(spares)]
    place = np.arange(packs.pack_count) + ahead[colour_of_pack]  # of the old packs
    count = packs.pack_count + int(spares.sum())
    vertex_of_row = np.full((count, width), -1, np.int64)
    vertex_of_row[place] = packs.vertex_of_row.reshape(-1, width)
    is_wide, subspace = np.zeros(count, np.uint8), np.full(count, 3, np.uint8)
    is_wide[place], subspace[place] = packs.is_wide, packs.subspace
    pack, lane = np.divmod(packs.row_of_vertex, width)
    return Packs(
        width,
        vertex_of_row.ravel(),
        place[pack] * width + lane,
        packs.colour_start + ahead,
        is_wide,
        subspace,
        (packs.colour_start[1:] + ahead[:-1]) * width,
    )


def with_copies(packs: Packs, parents: np.ndarray) -> Packs | None:
    """The same with new vertices, numbered last, in spare rows of the colours of their parents; None if there are not
    enough.
    """
    n, colours = len(packs.row_of_vertex), len(packs.next_row)
    colour = np.searchsorted(packs.colour_start, packs.row_of_vertex[parents] // packs.width, side="right") - 1
    counts = np.bincount(colour, minlength=colours)
    next_row = packs.next_row + counts
    if (next_row > packs.colour_start[1:] * packs.width).any():
        return None
    order = np.argsort(colour, kind="stable")
    rows = np.empty(len(parents), np.int64)
    rows[order] = np.arange(len(parents)) + np.repeat(packs.next_row - np.cumsum(counts) + counts, counts)
    vertex_of_row = packs.vertex_of_row.copy()
    vertex_of_row[rows] = np.arange(n, n + len(parents))
    row_of_vertex = np.concatenate([packs.row_of_vertex, rows])
    return packs._replace(vertex_of_row=vertex_of_row, row_of_vertex=row_of_vertex, next_row=next_row)


def spread(packs: Packs, values, dtype, padding=0.0) -> np.ndarray:
    """Per-vertex numbers (n, k) as flat (packs, k, width); all lanes of a wide pack hold its vertex's."""
    values = np.asarray(values, float).reshape(len(packs.row_of_vertex), -1)
    rows = packs.vertex_of_row[: packs.pack_count * packs.width].reshape(-1, packs.width)
    filled = np.full((*rows.shape, values.shape[1]), padding)
    filled[rows >= 0] = values[rows[rows >= 0]]
    wide = packs.is_wide == 1
    filled[wide, 1:] = filled[wide, :1]
    return np.ascontiguousarray(filled.transpose(0, 2, 1), dtype).reshape(-1)


def inherit(packs: Packs, flat: np.ndarray, parents: np.ndarray) -> None:
    """Give the vertices numbered last, one for each parent, the numbers that `spread` has given their parents."""
    n = len(packs.row_of_vertex)
    values = flat.reshape(packs.pack_count, -1, packs.width)
    source, target = (
        np.divmod(packs.row_of_vertex[vertices], packs.width) for vertices in (parents, np.arange(n - len(parents), n))
    )
    values[target[0], :, target[1]] = values[source[0], :, source[1]]
