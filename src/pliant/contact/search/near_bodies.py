"""Which solids and convex rigid bodies may touch each other: those whose boxes overlap."""

from __future__ import annotations

import numpy as np

from pliant.lanes.compiled import compiled, inlined


@compiled
def find_near_bodies(solids, rigid, parts, convex, radius, allowed, x, boxes, pairs):
    """How many there are; boxes (bodies, 6): scratch."""
    for b in solids:
        write_box(b, parts.vertices, parts.start, radius, x, boxes)
    for b in rigid:
        write_box(b, convex.vertices, convex.start, radius, x, boxes)
    count = 0
    for a in solids:
        for b in rigid:
            if allowed[a, b] and not are_apart(boxes, a, b):
                pairs[count, 0], pairs[count, 1] = a, b
                count += 1
    return count


@inlined
def write_box(b, vertices, start, radius, x, boxes):
    """Around body b, and the radius of its first vertex more; a body without vertices has an empty one."""
    first, last = start[b], start[b + 1]
    kept = radius[vertices[first]] if last > first else 0.0
    for axis in range(3):
        low, high = np.inf, -np.inf
        for k in range(first, last):
            at = x[vertices[k], axis]
            low, high = min(low, at), max(high, at)
        boxes[b, axis], boxes[b, 3 + axis] = low - kept, high + kept


@inlined
def are_apart(boxes, a, b):
    """Whether two boxes do not overlap."""
    for axis in range(3):  # noqa: SIM110 (a loop compiles, any() over a generator does not)
        if boxes[b, axis] > boxes[a, 3 + axis] or boxes[a, axis] > boxes[b, 3 + axis]:
            return True
    return False
