"""Boxes that overlap each other: a grid across y and z, and a sweep along x within each of its columns."""

from __future__ import annotations

import numpy as np

from pliant.lanes.compiled import cached, compiled

FEWEST_CELLS, MOST_CELLS = 1, 256  # along an axis


def box_pairs(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(k, 2) numbers of boxes low..high (n, 3) [m] that overlap, the one that begins first along x before the other."""
    n = len(low)
    order = np.argsort(low[:, 0], kind="stable")
    low, high = np.ascontiguousarray(low[order]), np.ascontiguousarray(high[order])
    origin, size = low[:, 1:].min(axis=0), np.partition(high[:, 1:] - low[:, 1:], n // 2, axis=0)[n // 2]
    extent = high[:, 1:].max(axis=0) - origin
    most = max(FEWEST_CELLS, min(MOST_CELLS, int(n**0.5)))
    cells = np.clip(extent / np.maximum(2 * size, 1e-300), FEWEST_CELLS, most).astype(np.int64)
    scale = cells / np.maximum(extent, 1e-300)
    first = np.clip((low[:, 1:] - origin) * scale, 0, cells - 1).astype(np.int64)
    last = np.clip((high[:, 1:] - origin) * scale, 0, cells - 1).astype(np.int64)
    start = np.zeros(int(cells.prod()) + 1, np.int64)
    cached(count_in_columns)(first, last, cells, start)
    members = np.empty(int(start[-1]), np.int64)
    cached(fill_columns)(first, last, cells, start, members)
    room = np.empty((8 * n + 64, 2), np.int64)
    while (count := cached(find_in_columns)(low, high, first, cells, start, members, room)) > len(room):
        room = np.empty((2 * count, 2), np.int64)
    return order[room[:count]]


@compiled
def count_in_columns(first, last, cells, start):
    """start (columns + 1,): first member of each column."""
    for i in range(len(first)):
        for j in range(first[i, 0], last[i, 0] + 1):
            for k in range(first[i, 1], last[i, 1] + 1):
                start[j * cells[1] + k + 1] += 1
    for c in range(len(start) - 1):
        start[c + 1] += start[c]


@compiled
def fill_columns(first, last, cells, start, members):
    """Numbers of the boxes in each column, in their order; start is as before in the end."""
    for i in range(len(first)):
        for j in range(first[i, 0], last[i, 0] + 1):
            for k in range(first[i, 1], last[i, 1] + 1):
                members[start[j * cells[1] + k]] = i
                start[j * cells[1] + k] += 1
    for c in range(len(start) - 1, 0, -1):
        start[c] = start[c - 1]
    start[0] = 0


@compiled
def find_in_columns(low, high, first, cells, start, members, room):
    """Pairs in the order of columns, each in the first column that both are in; how many there are."""
    count = 0
    for c in range(len(start) - 1):
        j, k = c // cells[1], c % cells[1]
        for one in range(start[c], start[c + 1]):
            a = members[one]
            for other in range(one + 1, start[c + 1]):
                b = members[other]
                if low[b, 0] > high[a, 0]:
                    break
                if max(first[a, 0], first[b, 0]) != j or max(first[a, 1], first[b, 1]) != k:
                    continue
                if low[b, 1] > high[a, 1] or low[a, 1] > high[b, 1] or low[b, 2] > high[a, 2] or low[a, 2] > high[b, 2]:
                    continue
                if count < len(room):
                    room[count, 0], room[count, 1] = a, b
                count += 1
    return count
