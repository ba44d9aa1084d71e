"""The end of the world: a box that vertices are pushed back into (VBD 3.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.arguments import NO_NUMBER
from pliant.errors import SceneError
from pliant.model import checks
from pliant.model.blocks import Bounds

Corner = Sequence[float | None] | np.ndarray


class WorldBox:
    """An axis-aligned box with soft walls.

    lower, upper: its corners, three numbers each [m]; None or infinity where it has no wall, None alone for no wall on
        that side at all.
    stiffness: k [N/m] of each wall for each vertex. A vertex d outside has the energy k/2 d^2 for each axis, so that a
        body at rest on the floor sinks in by its weight / (k times the vertices that touch it).
    """

    def __init__(self, lower: Corner | None = None, upper: Corner | None = None, *, stiffness: float):
        self.lower = _corner(lower, -np.inf, "WorldBox: lower")
        self.upper = _corner(upper, np.inf, "WorldBox: upper")
        self.stiffness = checks.number(stiffness, "WorldBox: stiffness", "N/m", positive=True)
        for axis in range(3):
            if not self.lower[axis] < self.upper[axis]:
                raise SceneError(
                    f"WorldBox: lower is {self.lower[axis]:g} m and upper {self.upper[axis]:g} m along "
                    f"{'xyz'[axis]}; lower must be less."
                )

    def block(self, n_vertices: int) -> Bounds:
        """All vertices, each with the box."""
        vertices = np.arange(n_vertices)[:, None]
        lower, upper = np.tile(self.lower, (n_vertices, 1)), np.tile(self.upper, (n_vertices, 1))
        return Bounds(vertices, lower, upper, np.full(n_vertices, self.stiffness))


def _corner(value: Corner | None, nowhere: float, what: str) -> np.ndarray:
    """(3,) numbers, infinite where there is no wall."""
    try:
        given = [None, None, None] if value is None else list(value)
        corner = np.array([nowhere if number is None else number for number in given], dtype=float)
    except NO_NUMBER:
        corner = np.empty(0)
    if corner.shape != (3,) or np.isnan(corner).any() or (corner == -nowhere).any():
        raise SceneError(f"{what} is {value!r}: give three numbers [m], None or {nowhere} where there is no wall.")
    return corner
