"""Threads share the packs of a colour by work, and know which positions they read from each other."""

from itertools import pairwise

import numpy as np
import pytest
from numba import typeof

import pliant as pl
from pliant.geometry import colour_vertices, spatial_order, vertex_graph
from pliant.kernels.packs import arrange
from pliant.kernels.sharing import ColourShares, share_by_work, share_out


def packed(cells: int, width: int = 4):
    mesh = pl.shapes.box(cells=(cells, cells, cells))
    n = mesh.n_vertices
    graph = vertex_graph([mesh.tets], n)
    place = np.empty(n, np.int64)
    place[spatial_order(mesh.points)] = np.arange(n)
    lengths = np.bincount(mesh.tets.ravel(), minlength=n)
    colours = colour_vertices(*graph)
    colours[:7] = -1
    packs = arrange(colours, lengths, np.zeros(n, bool), np.full(n, 3), place, width)
    rng = np.random.default_rng(0)
    return packs, graph, rng.uniform(5, 30, packs.pack_count)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_shares_cover_every_colour_and_are_even(threads: int) -> None:
    packs, _, work = packed(6)
    borders = share_by_work(packs, work, threads)
    assert np.array_equal(borders[:, 0], packs.colour_start[:-1])
    assert np.array_equal(borders[:, -1], packs.colour_start[1:])
    for row in borders:
        loads = [work[first:last].sum() for first, last in pairwise(row)]
        assert max(loads) <= sum(loads) / threads + work.max()


@pytest.mark.parametrize("threads", [2, 3])
def test_a_thread_asks_once_an_iteration_for_every_row_that_another_writes_and_it_reads(threads: int) -> None:
    packs, (start, neighbours), work = packed(5)
    shares = share_out(packs, work, (start, neighbours), threads)
    owner, colour = {}, {}
    for c, row in enumerate(shares.packs):
        for thread in range(threads):
            for p in range(row[thread], row[thread + 1]):
                owner[p], colour[p] = thread, c
    reads: dict[tuple[int, int], set[int]] = {}
    for i in range(len(start) - 1):
        for j in neighbours[start[i] : start[i + 1]]:
            reader, row = packs.row_of_vertex[i] // packs.width, int(packs.row_of_vertex[j])
            writer = row // packs.width
            if reader in owner and writer in owner and owner[reader] != owner[writer]:
                reads.setdefault((owner[reader], row), set()).add(colour[reader])
    asked = {}
    for thread in range(threads):
        for c in range(len(shares.packs)):
            for k in range(shares.borrowed_start[thread, c], shares.borrowed_start[thread, c + 1]):
                key = (thread, int(shares.borrowed[k]))
                assert key not in asked
                asked[key] = c
    assert asked.keys() == reads.keys()
    colours = len(shares.packs)
    for (thread, row), c in asked.items():  # before the first reading after the writing
        written = colour[row // packs.width]
        first = min(reads[thread, row], key=lambda read: (read - written - 1) % colours)
        assert c == first


def test_shares_of_fewer_threads_are_the_borders_alone() -> None:
    """All threads know what they borrow; types are the same for all, so that one compiled function takes them."""
    packs, graph, work = packed(5)
    shares = ColourShares(packs, work, graph, 3)
    for array, expected in zip(shares(3), share_out(packs, work, graph, 3), strict=True):
        np.testing.assert_array_equal(array, expected)
    for threads in (1, 2):
        few = shares(threads)
        np.testing.assert_array_equal(few.packs, share_by_work(packs, work, threads))
        assert few.borrowed_start.shape == (threads, len(few.packs) + 1)
        assert not few.borrowed_start.any()
        assert not len(few.borrowed)
        assert shares(threads) is few
        assert [typeof(array) for array in few] == [typeof(array) for array in shares(3)]
