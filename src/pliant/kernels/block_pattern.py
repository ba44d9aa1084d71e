"""Where the blocks of a sparse symmetric matrix are, and where each element's blocks go: found once a topology.

The matrix has a 3x3 block for every two vertices that share an element, rows and columns of all vertices that move.
Elements are treated in chunks. Their blocks lie in a buffer that stays in cache; then every block of the matrix sums
what concerns it, always in the order of the elements, so that any number of threads gives the same bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

CHUNK = 2048  # elements in the buffer at a time: a multiple of all lane widths


class BlockPattern(NamedTuple):
    """Compressed rows of blocks."""

    start: np.ndarray  # (rows + 1,) first block of each row
    column: np.ndarray  # (blocks,)
    diagonal: np.ndarray  # (rows,) number of the block on the diagonal

    @property
    def row_count(self) -> int:
        return len(self.diagonal)

    def find(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Numbers of blocks that exist."""
        return np.searchsorted(self._keys(), rows.astype(np.int64) * self.row_count + columns)

    def _keys(self) -> np.ndarray:
        rows = np.repeat(np.arange(self.row_count), np.diff(self.start))
        return rows * self.row_count + self.column


class Places(NamedTuple):
    """Which of the elements' blocks are summed to which of the matrix, chunk after chunk, sorted by the latter."""

    chunk_start: np.ndarray  # (chunks + 1,) first entry of each chunk
    source: np.ndarray  # (entries,) where the block begins in the buffer
    block: np.ndarray  # (entries,) of the matrix
    is_turned: np.ndarray  # (entries,) whether it is transposed
    row_step: int  # numbers in the buffer from row to row of a block
    column_step: int


def find_pattern(elements: list[np.ndarray], row_of_vertex: np.ndarray) -> BlockPattern:
    """elements: each (m, corners); row_of_vertex: (n,), -1 for those that do not move."""
    n = int(row_of_vertex.max(initial=-1)) + 1
    keys = [np.arange(n, dtype=np.int64) * (n + 1)]
    for corners in elements:
        rows = row_of_vertex[corners]
        both = rows[:, :, None] * np.int64(n) + rows[:, None, :]
        keys.append(np.unique(both[(rows[:, :, None] >= 0) & (rows[:, None, :] >= 0)]))
    found = np.unique(np.concatenate(keys))
    start = np.searchsorted(found, np.arange(n + 1, dtype=np.int64) * n)
    diagonal = np.searchsorted(found, np.arange(n, dtype=np.int64) * (n + 1))
    return BlockPattern(start.astype(np.int32), (found % max(n, 1)).astype(np.int32), diagonal)


def pair_count(corners: int) -> int:
    """Blocks of an element of so many vertices, on and above the diagonal."""
    return corners * (corners + 1) // 2


def places_in_lanes(pattern: BlockPattern, elements: np.ndarray, row_of_vertex: np.ndarray, width: int) -> Places:
    """For a buffer (packs of elements, pairs i <= j, 9, width)."""
    pairs = pair_count(elements.shape[1])
    pack, lane = np.divmod(np.arange(len(elements)) % CHUNK, width)
    sources = (pack[:, None] * pairs + np.arange(pairs)) * 9 * width + lane[:, None]
    return _places(pattern, elements, row_of_vertex, sources, 3 * width, width)


def _places(
    pattern: BlockPattern, elements: np.ndarray, row_of_vertex: np.ndarray, sources: np.ndarray, row_step: int,
    column_step: int,
) -> Places:  # fmt: skip
    """sources: (m, pairs) where the blocks of vertices i <= j of each element begin."""
    one, other = np.triu_indices(elements.shape[1])
    rows, columns = row_of_vertex[elements[:, one]], row_of_vertex[elements[:, other]]
    off = np.broadcast_to(one != other, rows.shape)
    moves = (rows >= 0) & (columns >= 0)
    upper, lower = moves, moves & off
    chunk = np.broadcast_to((np.arange(len(elements)) // CHUNK)[:, None], rows.shape)
    blocks = np.concatenate([pattern.find(rows[upper], columns[upper]), pattern.find(columns[lower], rows[lower])])
    chunks = np.concatenate([chunk[upper], chunk[lower]])
    source = np.concatenate([sources[upper], sources[lower]])
    turned = np.repeat([False, True], [np.count_nonzero(upper), np.count_nonzero(lower)])
    order = np.lexsort((source, blocks, chunks))
    chunk_start = np.searchsorted(chunks[order], np.arange(-(-len(elements) // CHUNK) + 1))
    return Places(
        chunk_start,
        source[order].astype(np.int32),
        blocks[order].astype(np.int32),
        turned[order],
        row_step,
        column_step,
    )
