"""Pairs that may come near on a way, of a list of pairs that may on ways like it: the same culling as in trees."""

from __future__ import annotations

import numpy as np

from pliant.contact.search.bvh import FAN
from pliant.contact.search.ccd_culling import LANES, CcdCulling, Pack, coarse_cull, fine_cull
from pliant.contact.search.motion import ROW
from pliant.contact.search.overlaps import Pairs
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import allocating, at, cached, compiled, put

NANOSECONDS = 20  # that a pair takes


def culled(team: Team, pairs: Pairs, first: np.ndarray, second: np.ndarray, culling: CcdCulling) -> Pairs:
    """Those of pairs of primitives with corners first (m, p) and second (l, q) that the culling lets through."""
    k = len(pairs.first)
    passes = np.empty(k, bool)
    team.run_for(NANOSECONDS * k, cached(mark_passing), pairs, first, second, culling, passes)
    places = np.flatnonzero(passes)
    return pairs if len(places) == k else Pairs(pairs.first[places], pairs.second[places])


@allocating
def mark_passing(thread, threads, barrier, pairs, first, second, culling, passes):
    places = np.arange(LANES)
    pack = Pack(0, places, places, np.zeros(3 * FAN, np.uint32), np.zeros(3 * FAN, np.uint32))
    begin, end = share(0, len(passes), thread, threads)
    mark_part(begin, end, pairs, first, second, culling, pack, passes)


@compiled
def mark_part(begin, end, pairs, first, second, culling, pack, passes):
    """Pack by pack; the last one repeats its last pair."""
    for k in range(begin, end, LANES):
        size = min(LANES, end - k)
        for lane in range(LANES):
            own = k + min(lane, size - 1)
            write_rows_of(first, at(pairs.first, own), pack.our_rows, lane)
            write_rows_of(second, at(pairs.second, own), pack.their_rows, lane)
        bits = coarse_cull(pack, (1 << size) - 1, culling)
        if bits:
            bits = fine_cull(pack, bits, culling)
        for lane in range(size):
            put(passes, k + lane, bits >> lane & 1 == 1)


@compiled
def write_rows_of(corners, i, rows, lane):
    """Where the rows of the corners of primitive i begin, as in a block of a tree."""
    for c in range(corners.shape[1]):
        put(rows, c * FAN + lane, np.uint32(ROW * corners[np.uint64(i), c]))
