"""The ground as lines: a round net of square cells.

Lines are drawn where they are. A pattern on a plane is worked out at every pixel of the ground, which takes a browser
without a graphics card as long as the bodies do.
"""

from __future__ import annotations

import numpy as np

REACH = 2.0  # of the scene's size: the net's radius
CELLS = 12  # at least so many across the radius
SECTION = 5  # cells between lines that are drawn stronger


def cell_size(size: float) -> float:
    """The width [m] of a cell for a scene of a size [m]: 1, 2 or 5 times a power of ten."""
    widest = REACH * size / CELLS
    power = 10.0 ** np.floor(np.log10(widest))
    return float(max(power * step for step in (1, 2, 5) if power * step <= widest * (1 + 1e-12)))


def ground_lines(centre: np.ndarray, height: float, size: float) -> dict[str, np.ndarray]:
    """Lines of "cells" and "sections", each (n, 2, 3), around a point (2,) at a height; size: the scene's [m]."""
    cell, radius = cell_size(size), REACH * size
    lines: dict[str, list[np.ndarray]] = {"cells": [], "sections": []}
    for axis in (0, 1):
        first, last = np.ceil((centre[axis] - radius) / cell), np.floor((centre[axis] + radius) / cell)
        for k in range(int(first), int(last) + 1):
            half = np.sqrt(max(radius**2 - (k * cell - centre[axis]) ** 2, 0.0))
            ends = np.empty((2, 3))
            ends[:, axis], ends[:, 2] = k * cell, height
            ends[:, 1 - axis] = centre[1 - axis] + half * np.array([-1, 1])
            lines["cells" if k % SECTION else "sections"].append(ends)
    return {name: np.array(ends).reshape(-1, 2, 3) for name, ends in lines.items()}
