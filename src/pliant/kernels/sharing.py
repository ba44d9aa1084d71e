"""Which thread solves which packs, and which positions it reads that another thread has written.

Threads on different cores pay about 100 nanoseconds for every cache line that another core has just written.  A vertex
solve would wait for each in turn.  The lines a thread borrows are known in advance, so it asks for all of them at the
beginning of a colour, and they arrive together.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pliant.kernels.packs import Packs


class Shares(NamedTuple):
    """Work of the threads, colour by colour."""

    packs: np.ndarray  # (colours, threads + 1) first pack of each thread
    borrowed_start: np.ndarray  # (threads, colours + 1) first entry of `borrowed` to ask for before a colour
    borrowed: np.ndarray  # rows of x that another thread has written since the thread last read them


class ColourShares:
    """Shares of a scene's packs for every number of threads up to `threads`, made when they are first asked for.

    Only those of all threads list what is borrowed: fewer run where cores are busy, or where they need not hurry.
    """

    def __init__(self, packs: Packs, work: np.ndarray, graph: tuple[np.ndarray, np.ndarray], threads: int):
        self._packs, self._work = packs, work
        self._shares = {threads: share_out(packs, work, graph, threads)}

    def __call__(self, threads: int) -> Shares:
        """For so many threads."""
        if threads not in self._shares:
            borders = share_by_work(self._packs, self._work, threads)
            self._shares[threads] = Shares(borders, *_nothing_borrowed(threads, len(borders)))
        return self._shares[threads]

    def update(self, packs: Packs) -> None:
        """Take up packs that have changed; what is borrowed stays, as it is only for speed."""
        self._packs = packs
        for threads, shares in self._shares.items():
            self._shares[threads] = shares._replace(packs=share_by_work(packs, self._work, threads))


def share_out(packs: Packs, work: np.ndarray, graph: tuple[np.ndarray, np.ndarray], threads: int) -> Shares:
    """Share packs of known work (packs,) among threads; graph: neighbours of the vertices in compressed rows."""
    borders = share_by_work(packs, work, threads)
    colours = len(borders)
    if threads == 1 or colours == 0:  # nothing moves but rigid bodies
        return Shares(borders, *_nothing_borrowed(threads, colours))
    row_of_reader, row_of_neighbour = _reads(packs, graph)
    reader, writer = row_of_reader // packs.width, row_of_neighbour // packs.width
    thread_of_pack, colour_of_pack = _owners(borders, packs.moving_count)
    abroad = thread_of_pack[reader] != thread_of_pack[writer]
    reader, writer, rows = reader[abroad], writer[abroad], row_of_neighbour[abroad]
    wait = (colour_of_pack[reader] - colour_of_pack[writer] - 1) % colours  # colours between writing and reading
    order = np.lexsort((wait, rows, thread_of_pack[reader]))
    thread, rows, colour = thread_of_pack[reader][order], rows[order], colour_of_pack[reader][order]
    is_first = np.r_[True, (thread[1:] != thread[:-1]) | (rows[1:] != rows[:-1])][: len(rows)]
    thread, rows, colour = thread[is_first], rows[is_first], colour[is_first]
    order = np.lexsort((rows, colour, thread))
    counts = np.bincount(thread * colours + colour, minlength=threads * colours).reshape(threads, colours)
    ends = np.cumsum(counts).reshape(threads, colours)
    return Shares(borders, np.column_stack([ends[:, 0] - counts[:, 0], ends]), rows[order])


def share_by_work(packs: Packs, work: np.ndarray, threads: int) -> np.ndarray:
    """(colours, threads + 1) borders between the threads in each colour: runs of packs of about equal work (packs,).

    Runs, because packs that follow each other read the same neighbours.
    """
    done = np.concatenate([[0.0], np.cumsum(work, dtype=float)])
    first, last = done[packs.colour_start[:-1]], done[packs.colour_end]
    goals = first[:, None] + (last - first)[:, None] * np.arange(1, threads) / threads
    middles = 0.5 * (done[1:] + done[:-1])  # a pack belongs to the side where most of it lies
    inner = np.clip(np.searchsorted(middles, goals), packs.colour_start[:-1, None], packs.colour_end[:, None])
    return np.column_stack([packs.colour_start[:-1], inner, packs.colour_end])


def _nothing_borrowed(threads: int, colours: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((threads, colours + 1), np.int64), np.zeros(0, np.int64)


def _reads(packs: Packs, graph: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Rows of moving vertices and of their moving neighbours, all pairs."""
    start, neighbours = graph
    readers = np.repeat(packs.row_of_vertex, np.diff(start))
    read = packs.row_of_vertex[neighbours]
    rows = packs.moving_count * packs.width
    moving = (readers < rows) & (read < rows)
    return readers[moving], read[moving]


def _owners(borders: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Thread and colour of each of `count` packs that move; of spare ones the first."""
    thread_of_pack, colour_of_pack = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for colour, border in enumerate(borders.tolist()):
        for thread, (first, last) in enumerate(pairwise(border)):
            thread_of_pack[first:last], colour_of_pack[first:last] = thread, colour
    return thread_of_pack, colour_of_pack
