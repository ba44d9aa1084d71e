"""What of a result is drawn: surfaces, springs as tubes, and obstacles, of which a level plane is the ground itself."""

from __future__ import annotations

import numpy as np

from pliant.io.results.result import Result
from pliant.viewer.tubes import SIDES, tube_points, tube_triangles

# of the bodies' size: obstacles beyond are cut off by the picture's edge rather than shrink the bodies
LARGE = 2.0  # at rest
LARGE_MOVING = 8.0  # that move, as the figure that wears a garment: what happens is seen on the whole of it
LEVEL = 1e-6  # of the bodies' size: how flat a floor is


class Actor:
    """The parts of a result that are drawn, chosen by its first, middle and last frames.

    framed: (p,) points that the picture has to show; floor: the height [m] of a level plane that does not move, or
    None.
    """

    def __init__(self, result: Result):
        layout, self._kept = result.layout.surface()
        first, *later = (result.positions(k)[self._kept] for k in (0, len(result) // 2, len(result) - 1))
        size = self._bodies_size(first, layout.scenery_points)
        self.floor: float | None = None
        shown, framed = np.ones(layout.n_points, bool), ~layout.scenery_points
        for k in layout.scenery:
            own = slice(*layout.body_start[k : k + 2])
            extent, moves = np.ptp(first[own], axis=0), any((x[own] != first[own]).any() for x in later)
            if extent[2] <= LEVEL * size and not moves:
                shown[own], self.floor = False, float(first[own][0, 2])
            framed[own] = shown[own] & (np.linalg.norm(extent) <= (LARGE_MOVING if moves else LARGE) * size)
        self.framed = self._kept[framed]
        drawn = shown[layout.triangles[:, 0]]
        self._triangles, bodies = layout.triangles[drawn], layout.triangle_bodies[drawn]
        self._edges = layout.edges
        # only points that are drawn: others would cost time and coarsen the shadows
        corners = np.unique(self._triangles)
        self._points = self._kept[corners]
        self._triangles = np.searchsorted(corners, self._triangles)
        tubes = tube_triangles(len(self._edges)) + len(corners)
        self._all = np.concatenate([self._triangles, tubes])
        of_tubes = np.repeat(layout.colours[layout.edge_bodies], 2 * SIDES, axis=0)
        self._colours = np.concatenate([layout.colours[bodies], of_tubes])

    def surface(self, points: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
        """Points (n, 3) [m] and triangles (m, 3) to draw of a frame's points; radius [m] of springs."""
        parts = [points[self._points]]
        if len(self._edges):
            parts.append(tube_points(points[self._kept[self._edges]], radius))
        return np.ascontiguousarray(np.concatenate(parts), float), self._all

    def colours(self, of_points: np.ndarray | None) -> np.ndarray:
        """(m, 3) of the bodies, or (m, 3, 3) of corners from colours (n, 3) of a frame's points."""
        if of_points is None:
            return self._colours
        ends = np.repeat(of_points[self._kept[self._edges]].reshape(-1, 3), SIDES, axis=0)
        return np.concatenate([of_points[self._points], ends])[self._all]

    @staticmethod
    def _bodies_size(points: np.ndarray, is_scenery: np.ndarray) -> float:
        return float(np.linalg.norm(np.ptp(points[~is_scenery], axis=0)))
