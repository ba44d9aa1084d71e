"""Impulses of the step before, found again by who touches whom."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.constraints.one_row import in_space
from pliant.constraints.rows import CONTACT
from pliant.elements.closest import row
from pliant.lanes.entry import entry
from pliant.lanes.vectors import dot


class Kept(NamedTuple):
    """Impulses of k contacts and of all distances."""

    first: np.ndarray  # (k,) int32 vertex of the sphere
    source: np.ndarray  # (k,) int32 what it touches
    normal: np.ndarray  # (k,) [N s]
    vector: np.ndarray  # (k, 3) the whole impulse in space [N s]
    distances: np.ndarray  # (m,) [N s]
    roll: np.ndarray  # (k, 3) of rolling resistance [N s]; (0, 3) if nothing resists


def kept_room(contacts: int, distances: int, has_rolling: bool, dtype: type | np.dtype) -> Kept:
    """For so many, in the solver's precision."""
    first, source = (np.zeros(contacts, np.int32) for _ in range(2))
    roll = np.zeros((contacts if has_rolling else 0, 3), dtype)
    return Kept(
        first, source, np.zeros(contacts, dtype), np.zeros((contacts, 3), dtype), np.zeros(distances, dtype), roll
    )


@entry(nogil=True, error_model="numpy")
def keep_impulses(rows, base, count, kept):
    """Copy the impulses of rows from `base` to `count`, and of the distances before them."""
    for i in range(base):
        kept.distances[i] = rows.impulse[i, 0]
    for contact in range(base, count):
        at, k = np.uint64(contact), np.uint64(contact - base)
        kept.first[k], kept.source[k] = rows.vertices[at, 0], rows.source[at]
        kept.normal[k] = rows.impulse[at, 0]
        kept.vector[k, 0], kept.vector[k, 1], kept.vector[k, 2] = in_space(rows, at, row(rows.impulse, at))
        for axis in range(3 if len(kept.roll) > 0 else 0):
            kept.roll[k, axis] = rows.roll[at, axis]


@entry(nogil=True, error_model="numpy")
def restore_impulses(rows, base, count, kept, part, starts, order):
    """Begin with `part` of the kept impulses; starts (n + 1,) and order (k,) are scratch."""
    for i in range(min(base, len(kept.distances))):
        rows.impulse[i, 0] = part * kept.distances[i]
    starts[:] = 0
    for k in range(len(kept.first)):
        starts[kept.first[k] + 1] += 1
    for vertex in range(len(starts) - 1):
        starts[vertex + 1] += starts[vertex]
    for k in range(len(kept.first) - 1, -1, -1):
        starts[kept.first[k] + 1] -= 1
        order[starts[kept.first[k] + 1]] = k
    for contact in range(base, count):
        at = np.uint64(contact)
        if rows.kind[at] != CONTACT:
            continue
        vertex = rows.vertices[at, 0]
        last = starts[vertex + 2] if vertex + 2 < len(starts) else len(kept.first)
        for place in range(starts[vertex + 1], last):
            own = np.uint64(order[np.uint64(place)])
            if kept.source[own] == rows.source[at]:
                vector = row(kept.vector, own)
                rows.impulse[at, 0] = part * kept.normal[own]
                if rows.friction[at] > 0.0:
                    n, t = row(rows.normal, at), row(rows.tangent, at)
                    second = (n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0])
                    rows.impulse[at, 1] = part * dot(vector, t)
                    rows.impulse[at, 2] = part * dot(vector, second)
                for axis in range(3 if len(kept.roll) > 0 else 0):
                    rows.roll[at, axis] = part * kept.roll[own, axis]
                break
