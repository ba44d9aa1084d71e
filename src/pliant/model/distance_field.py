"""A closed mesh as an obstacle that is a field of signed distances, at rest, moved as a whole, or deforming."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from pliant.errors import SceneError
from pliant.geometry import TriMesh
from pliant.geometry.animation import Animation
from pliant.model import checks
from pliant.model.closed_surfaces import check_closed
from pliant.model.distance_grid import DistanceGrid, build_grid
from pliant.model.obstacles import MESH, Shape

LEAST, MOST = 8, 1024  # cells along the longest side
KEPT = 8  # grids of a deforming mesh, of the times asked for last


@dataclass(frozen=True, eq=False)
class DistanceField(Shape):
    """The inside of a closed mesh, by signed distances on a grid around it (model.distance_grid).

    mesh: a TriMesh, or an Animation, whose grid is built again for the end of each step; resolution: cells along the
    longest side of its box.
    """

    kind: ClassVar[int] = MESH
    surface: TriMesh | Animation
    resolution: int = 64
    name: str = "mesh"
    _grids: dict[float, DistanceGrid] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.resolution, int) or not LEAST <= self.resolution <= MOST:
            raise SceneError(
                f"{self.name}: resolution is {self.resolution!r}: give the number of cells along its longest side, "
                f"a whole number from {LEAST} to {MOST}."
            )
        if not isinstance(self.surface, Animation):
            checks.instance(self.surface, TriMesh, f"{self.name}: the mesh", "a TriMesh such as pl.load_mesh('a.obj')")
        elif self.motion is not None:
            raise SceneError(f"{self.name}: an animation moves by itself; leave out motion.")
        check_closed(self.mesh.points, self.mesh.triangles, self.name, "method='mesh'")
        self.grid(0.0)

    @property
    def mesh(self) -> TriMesh:
        """As it was made."""
        return self.surface.mesh if isinstance(self.surface, Animation) else self.surface

    @property
    def moves(self) -> bool:
        return self.motion is not None or isinstance(self.surface, Animation)

    def grid(self, time: float) -> DistanceGrid:
        """At a time [s]."""
        if not isinstance(self.surface, Animation):
            time = 0.0
        if time not in self._grids:
            deforms = isinstance(self.surface, Animation)
            points = self.surface.positions(time) if isinstance(self.surface, Animation) else self._own_points
            self._grids[time] = build_grid(points, self.mesh.triangles, self.resolution, self.name, deforms)
            for old in list(self._grids)[:-KEPT]:
                del self._grids[old]
        return self._grids[time]

    @property
    def _own_points(self) -> np.ndarray:
        """(n, 3) [m] of the mesh as it was made, in the axes of the field."""
        return self.mesh.points - self.frame()[0]

    def frame(self) -> tuple[np.ndarray, np.ndarray]:
        """The mean of the mesh's vertices [m]; an animation is in the axes of the world."""
        return np.zeros(3) if isinstance(self.surface, Animation) else self.mesh.points.mean(axis=0), np.eye(3)

    def sizes(self, time: float = 0.0) -> tuple[float, float, float]:
        """The address of the grid's table and the time [s]."""
        return (self.grid(time).address, time, 0.0)

    def held(self, time: float) -> DistanceGrid:
        return self.grid(time)

    def deformed(self, points: np.ndarray, time: float) -> np.ndarray:
        return self.surface.positions(time) if isinstance(self.surface, Animation) else points

    def outline(self) -> tuple[np.ndarray, np.ndarray]:
        """Points (n, 3) [m] in the field's axes and triangles (m, 3), for pictures."""
        return self._own_points, self.mesh.triangles
