"""The shortest way off for sheets that go through each other from rim to rim, and for ropes through sheets (decision
0050).

Such a contour has no end to shrink to: no small motion shortens it; and a rope has none. Bodies then move as wholes, in
the direction in which the least distance takes them off each other. Directions that come into question are the
principal axes of both bodies and, of the line along which they cut each other, the normals within each; how far,
bisection finds with the test for intersections itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

BISECTIONS = 8  # of the distance at which bodies are surely apart
BEYOND = 1e-3  # of it: how much further bodies are moved


class Cut(NamedTuple):
    """Two bodies that go through each other."""

    ours: np.ndarray  # (n, 3) [m]
    theirs: np.ndarray  # (m, 3) [m]
    points: np.ndarray  # (k, 3) [m] at which edges of one go through triangles of the other


def shortest_way(cut: Cut, crosses: Callable[[np.ndarray], bool]) -> np.ndarray:
    """(3,) [m] by which the first body is to be moved against the second; crosses: whether they intersect if it is."""
    best = np.full(3, np.inf)
    for direction in directions(cut):
        length = float((cut.theirs @ direction).max() - (cut.ours @ direction).min()) * (1.0 + BEYOND)
        least = float(np.linalg.norm(best))
        if length > least:
            if crosses(least * direction):
                continue
            length = least
        low = 0.0
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + length)
            low, length = (middle, length) if crosses(middle * direction) else (low, middle)
        if length < least:
            best = length * (1.0 + BEYOND) * direction
    return best


def directions(cut: Cut) -> np.ndarray:
    """(d, 3) unit vectors in which bodies may be parted, both ways."""
    ours, theirs = principal_axes(cut.ours), principal_axes(cut.theirs)
    line = principal_axes(cut.points)[0]
    across = [np.cross(line, axes[2]) for axes in (ours, theirs)]
    found = np.array([direction for direction in across if np.linalg.norm(direction) > 1e-3]).reshape(-1, 3)
    found = found / np.linalg.norm(found, axis=1, keepdims=True)
    found = np.concatenate([found, ours, theirs])
    return np.concatenate([found, -found])


def principal_axes(points: np.ndarray) -> np.ndarray:
    """(3, 3) unit vectors along which points (n, 3) spread, the longest first; the last is the normal of a sheet."""
    return np.asarray(np.linalg.svd(points - points.mean(axis=0), full_matrices=True)[2])
