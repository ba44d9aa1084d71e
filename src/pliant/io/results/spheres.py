"""Spheres as closed surfaces of triangles, for formats and pictures that have no spheres."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from pliant.io.results.result import Frame, FrameWriter, Layout, Result

MANY = 20_000  # spheres: more are drawn with 20 triangles each instead of 80


@cache
def unit_sphere(is_fine: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Points (42, 3) on the unit sphere and triangles (80, 3), outward: an icosahedron, each face in four if fine."""
    g = (1 + np.sqrt(5)) / 2
    corners = np.array([[0, a, b * g] for a in (-1, 1) for b in (-1, 1)], float)
    corners = np.concatenate([corners, np.roll(corners, 1, axis=1), np.roll(corners, 2, axis=1)])
    distance = np.linalg.norm(corners[:, None] - corners[None], axis=2)
    faces = [
        (i, j, k)
        for i in range(12)
        for j in range(i + 1, 12)
        for k in range(j + 1, 12)
        if max(distance[i, j], distance[j, k], distance[k, i]) < 2.01
    ]
    points, middle = [*corners], {}
    triangles = []
    for face in faces:
        i, j, k = face
        if np.dot(np.cross(corners[j] - corners[i], corners[k] - corners[i]), corners[i]) < 0:
            j, k = k, j
        if not is_fine:
            triangles.append((i, j, k))
            continue
        ends = [tuple(sorted(pair)) for pair in ((i, j), (j, k), (k, i))]
        for pair in ends:
            if pair not in middle:
                middle[pair] = len(points)
                points.append(corners[pair[0]] + corners[pair[1]])
        a, b, c = (middle[pair] for pair in ends)
        triangles += [(i, a, c), (a, j, b), (c, b, k), (a, b, c)]
    array = np.array(points)
    return array / np.linalg.norm(array, axis=1)[:, None], np.array(triangles)


class SphereSurfaces:
    """What becomes of the points of a layout when spheres are surfaces: which point each belongs to, and where it lies
    from there.
    """

    def __init__(self, layout: Layout):
        unit, faces = unit_sphere(len(layout.spheres) <= MANY)
        counts = np.where(layout.radii > 0, len(unit), 1)
        first = np.concatenate([[0], np.cumsum(counts)])
        self._whole = layout
        self.points = np.repeat(np.arange(layout.n_points), counts)
        self.directions = np.zeros((len(self.points), 3))
        self.directions[np.isin(self.points, layout.spheres)] = np.tile(unit, (len(layout.spheres), 1))
        surfaces = (faces[None] + first[layout.spheres, None, None]).reshape(-1, 3)
        triangles = np.concatenate([first[layout.triangles], surfaces])
        start = first[layout.body_start]
        order = np.argsort(np.searchsorted(start, triangles[:, 0], side="right"), kind="stable")  # bodies in turn
        self._new = np.full(len(surfaces), -1)
        self.order = order
        self.layout = replace(
            layout,
            n_points=len(self.points),
            triangles=triangles[order],
            tets=first[layout.tets],
            triangle_tets=np.concatenate([layout.triangle_tets, self._new])[order],
            body_start=start,
            edges=first[layout.edges],
            radii=np.zeros(0),
            births=np.zeros(0),
        )

    def frame(self, frame: Frame) -> Frame:
        """The same moment with surfaces of spheres."""
        fields = {name: values[self.points] for name, values in frame.point_fields.items()}
        cells = frame.cell_fields
        if not len(self.layout.tets):  # fields of triangles, which spheres have not
            cells = {name: self._on_triangles(values) for name, values in cells.items()}
        return replace(frame, points=self.places(frame.time, frame.points), point_fields=fields, cell_fields=cells)

    def places(self, time: float, points: np.ndarray) -> np.ndarray:
        """(k, 3) [m] of centres and other points (n, 3) at a time [s]."""
        radii = self._whole.radii_at(time)
        return points[self.points] + radii[self.points, None] * self.directions

    def _on_triangles(self, values: np.ndarray) -> np.ndarray:
        nothing = np.full((len(self._new), *values.shape[1:]), np.nan)
        return np.concatenate([values, nothing])[self.order]


class ResultOfSurfaces(Result):
    """A result whose spheres are surfaces."""

    def __init__(self, result: Result):
        self.path = result.path
        self._result, self._surfaces = result, SphereSurfaces(result.layout)
        self.layout, self.times = self._surfaces.layout, result.times

    def _frame(self, k: int) -> Frame:
        return self._surfaces.frame(self._result.frame(k))

    def positions(self, k: int) -> np.ndarray:
        return self._surfaces.places(float(self.times[k]), self._result.positions(k))

    def close(self) -> None:
        self._result.close()


def with_surfaces(result: Result) -> Result:
    """The result itself, or with surfaces in place of its spheres."""
    return ResultOfSurfaces(result) if len(result.layout.spheres) else result


class WriterOfSurfaces(FrameWriter):
    """Writes spheres as surfaces into a format that has none."""

    def __init__(self, kind: Callable[[Path, Layout], FrameWriter], path: Path, layout: Layout):
        self._surfaces = SphereSurfaces(layout)
        self._writer = kind(path, self._surfaces.layout)

    def write(self, frame: Frame) -> None:
        self._writer.write(self._surfaces.frame(frame))

    def close(self) -> None:
        self._writer.close()
