"""Elements' blocks summed into a sparse matrix by a team of threads."""

from __future__ import annotations

from pliant.kernels.threads import share
from pliant.lanes.inner import inner


@inner(nogil=True)
def add_to_blocks(thread, threads, barrier, chunk, places, buffer, values):
    """Add the blocks of one chunk of elements to the matrix values (blocks, 3, 3); a block belongs to one thread."""
    begin, end = places.chunk_start[chunk], places.chunk_start[chunk + 1]
    first, last = share(begin, end, thread, threads)
    first, last = _whole_block(places.block, first, begin, end), _whole_block(places.block, last, begin, end)
    for k in range(first, last):
        source, block = places.source[k], places.block[k]
        down, along = places.row_step, places.column_step
        if places.is_turned[k]:
            down, along = along, down
        for a in range(3):
            for b in range(3):
                values[block, a, b] += buffer[source + a * down + b * along]


@inner(nogil=True)
def _whole_block(block, k, begin, end):
    """The first entry from k on with which a block begins."""
    while begin < k < end and block[k] == block[k - 1]:
        k += 1
    return k
