"""Boxes that overlap each other: a grid across y and z, and a sweep along x within each of its columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.lanes.compiled import cached, compiled

FEWEST_CELLS, MOST_CELLS = 1, 256  # along an axis


class BoxSearch:
    """Finds boxes that overlap. Its room for pairs serves again: to find memory takes longer than to find the pairs."""

    def __init__(self) -> None:
        self._room = np.empty((0, 2), np.int64)

    def pairs(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """(k, 2) numbers of boxes low..high (n, 3) [m] that overlap, the one that begins first along x before the
        other; the next search writes over them.
        """
        n = len(low)
        order = np.argsort(low[:, 0], kind="stable")
        size = np.partition(high[:, 1:] - low[:, 1:], n // 2, axis=0)[n // 2]
        most = max(FEWEST_CELLS, min(MOST_CELLS, int(n**0.5)))
        cells, start = np.empty(2, np.int64), np.zeros(most * most + 1, np.int64)
        room = (np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 2), np.int64), np.empty((n, 2), np.int64))
        boxes = Boxes(order, *room)
        count = cached(sort_boxes)(low, high, size, most, boxes, cells, start)
        start, members = start[: cells[0] * cells[1] + 1], np.empty(count, np.int64)
        while (count := cached(find_pairs_of_boxes)(boxes, cells, start, members, self._room)) > len(self._room):
            self._room = np.empty((2 * count, 2), np.int64)
        return self._room[:count]


class Boxes(NamedTuple):
    """n boxes in the order in which they begin along x, and the columns that they are in."""

    order: np.ndarray  # (n,) their numbers
    low: np.ndarray  # (n, 3) [m]
    high: np.ndarray  # (n, 3)
    first: np.ndarray  # (n, 2) columns across y and z, from here
    last: np.ndarray  # (n, 2) to here


@compiled
def sort_boxes(low, high, size, most, boxes, cells, start):
    """Fill in all but the order; cells (2,) that a median size (2,) [m] asks for, at most so many along an axis; start
    (columns + 1,): first member of each column; how many members there are.
    """
    n = len(low)
    for i in range(n):
        for axis in range(3):
            boxes.low[i, axis], boxes.high[i, axis] = low[boxes.order[i], axis], high[boxes.order[i], axis]
    for axis in range(2):
        lowest, highest = np.inf, -np.inf
        for i in range(n):
            lowest, highest = min(lowest, low[i, 1 + axis]), max(highest, high[i, 1 + axis])
        extent = highest - lowest
        wanted = extent / max(2.0 * size[axis], 1e-300)
        cells[axis] = np.int64(max(np.float64(FEWEST_CELLS), min(wanted, np.float64(most))))
        scale, end = cells[axis] / max(extent, 1e-300), np.float64(cells[axis] - 1)
        for i in range(n):
            boxes.first[i, axis] = np.int64(max(0.0, min((boxes.low[i, 1 + axis] - lowest) * scale, end)))
            boxes.last[i, axis] = np.int64(max(0.0, min((boxes.high[i, 1 + axis] - lowest) * scale, end)))
    count_in_columns(boxes.first, boxes.last, cells, start)
    return start[cells[0] * cells[1]]


@compiled
def find_pairs_of_boxes(boxes, cells, start, members, room):
    """Pairs by the numbers of boxes; how many there are."""
    fill_columns(boxes.first, boxes.last, cells, start, members)
    count = find_in_columns(boxes.low, boxes.high, boxes.first, cells, start, members, room)
    for k in range(min(count, len(room))):
        room[k, 0], room[k, 1] = boxes.order[room[k, 0]], boxes.order[room[k, 1]]
    return count


@compiled
def count_in_columns(first, last, cells, start):
    """start (columns + 1,): first member of each column."""
    for i in range(len(first)):
        for j in range(first[i, 0], last[i, 0] + 1):
            for k in range(first[i, 1], last[i, 1] + 1):
                start[j * cells[1] + k + 1] += 1
    for c in range(cells[0] * cells[1]):
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
