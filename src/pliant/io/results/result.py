"""What a result is: things that stay, and frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from pliant.geometry.surface import compact
from pliant.io.reading import reading

#: Colours of bodies in turn, as red, green, blue from 0 to 1.
BODY_COLOURS = ((0.86, 0.42, 0.28), (0.28, 0.52, 0.78), (0.45, 0.67, 0.36), (0.85, 0.66, 0.25), (0.58, 0.45, 0.74))
OBSTACLE_COLOUR = (0.70, 0.72, 0.76)


@dataclass(frozen=True)
class Layout:
    """What is the same in all frames. Points of all bodies follow each other.

    Cells, which fields belong to, are the tets if there are any, and else the triangles.
    """

    n_points: int
    triangles: np.ndarray  # (k, 3) points, outward: the surfaces of solids and all sheets
    tets: np.ndarray  # (m, 4) points; (0, 4) if only surfaces are kept
    triangle_tets: np.ndarray  # (k,) the tet behind each triangle; -1 for a sheet's, and if there are no tets
    body_names: tuple[str, ...]
    body_start: np.ndarray  # (bodies + 1,) first point of each
    colours: np.ndarray  # (bodies, 3) red, green, blue, 0 to 1
    frame_rate: float  # frames per second of simulated time
    edges: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.int64))  # (e, 2) points of springs
    scenery: tuple[int, ...] = ()  # numbers of the bodies that are obstacles
    rigid: tuple[int, ...] = ()  # numbers of the bodies that are rigid: frames have their poses
    radii: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (n,) [m] of spheres, 0 of other points; (0,): none
    births: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (n,) [s] until which a sphere is not there

    def check(self) -> None:
        """ValueError if its arrays do not fit together, as in a damaged file."""
        n, bodies = self.n_points, len(self.body_names)
        for name, cells, width in (("triangles", self.triangles, 3), ("tets", self.tets, 4), ("edges", self.edges, 2)):
            if cells.shape[1:] != (width,) or (len(cells) and not 0 <= cells.min() <= cells.max() < n):
                raise ValueError(f"its {name} are not {width} of its {n} points each")
        behind = self.triangle_tets
        if behind.shape != (len(self.triangles),) or (len(behind) and not behind.max() < max(len(self.tets), 1)):
            raise ValueError("its triangles and tets do not fit together")
        starts = self.body_start
        if starts.shape != (bodies + 1,) or starts[0] != 0 or starts[-1] != n or (np.diff(starts) < 0).any():
            raise ValueError(f"its bodies do not share its {n} points")
        if self.colours.shape != (bodies, 3) or {len(self.radii), len(self.births)} - {0, n}:
            raise ValueError("its colours or radii do not fit its bodies")

    @cached_property
    def spheres(self) -> np.ndarray:
        """(s,) points that are centres of spheres."""
        return np.flatnonzero(self.radii > 0)

    def radii_at(self, time: float) -> np.ndarray:
        """(n,) [m]; 0 of spheres that are not there yet at a time [s]."""
        return np.where(self.births <= time + 1e-9, self.radii, 0.0)

    @property
    def n_cells(self) -> int:
        return len(self.tets) or len(self.triangles)

    @cached_property
    def triangle_bodies(self) -> np.ndarray:
        """(k,) number of the body of each triangle."""
        return np.searchsorted(self.body_start, self.triangles[:, 0], side="right") - 1

    @cached_property
    def edge_bodies(self) -> np.ndarray:
        """(e,) number of the body of each spring."""
        return np.searchsorted(self.body_start, self.edges[:, 0], side="right") - 1

    @property
    def scenery_points(self) -> np.ndarray:
        """(n,) whether a point belongs to an obstacle."""
        return np.repeat(np.isin(np.arange(len(self.body_names)), self.scenery), np.diff(self.body_start))

    def on_triangles(self, cells: np.ndarray) -> np.ndarray:
        """Values (k, ...) on the triangles of a field (cells, ...): a face has its tet's value, a sheet beside tets
        none.
        """
        if not len(self.tets):
            return cells
        has_tet = (self.triangle_tets >= 0).reshape(-1, *[1] * (cells.ndim - 1))
        return np.where(has_tet, cells[self.triangle_tets], np.nan)

    def surface(self) -> tuple[Layout, np.ndarray]:
        """The same without tets and inner points, and which points (n,) it kept."""
        corners = np.concatenate([self.triangles.ravel(), self.edges.ravel(), self.spheres])
        renumbered, kept = compact(corners, self.n_points)
        triangles, edges, _ = np.split(renumbered, [self.triangles.size, self.triangles.size + self.edges.size])
        return replace(
            self,
            n_points=len(kept),
            triangles=triangles.reshape(-1, 3),
            edges=edges.reshape(-1, 2),
            tets=np.empty((0, 4), np.int64),
            triangle_tets=np.full(len(self.triangles), -1),
            body_start=np.searchsorted(kept, self.body_start),
            radii=self.radii[kept] if len(self.radii) else self.radii,
            births=self.births[kept] if len(self.births) else self.births,
        ), kept


@dataclass(frozen=True)
class Frame:
    """One moment."""

    time: float  # [s]
    points: np.ndarray  # (n, 3) [m]
    point_fields: dict[str, np.ndarray] = field(default_factory=dict)  # (n,) or (n, 3) by name
    cell_fields: dict[str, np.ndarray] = field(default_factory=dict)  # (cells,) or (cells, 9) by name
    body_fields: dict[str, np.ndarray] = field(default_factory=dict)  # (bodies, 3) by name; only .npz keeps them
    poses: np.ndarray = field(default_factory=lambda: np.zeros((0, 7)))  # (rigid, 7) position [m], orientation wxyz

    def on_surface(self, layout: Layout, kept: np.ndarray) -> Frame:
        """The part of it that `layout.surface()` keeps."""
        points = {name: values[kept] for name, values in self.point_fields.items()}
        cells = {name: layout.on_triangles(values) for name, values in self.cell_fields.items()}
        return Frame(self.time, self.points[kept], points, cells, self.body_fields, self.poses)


class Result(ABC):
    """A result in a file. Frames are read when asked for and not kept."""

    path = Path("result")  # for messages
    layout: Layout
    times: np.ndarray  # (frames,) [s]

    def frame(self, k: int) -> Frame:
        """The frame of number k, from 0; negative numbers count from the end."""
        number = range(len(self))[k]
        with reading(self.path):
            frame = self._frame(number)
            if frame.points.shape != (self.layout.n_points, 3):
                raise ValueError(f"frame {number} has points of shape {frame.points.shape}")
        return frame

    @abstractmethod
    def _frame(self, k: int) -> Frame:
        """The frame of number k, from 0 to the last."""

    def positions(self, k: int) -> np.ndarray:
        """(n, 3) [m] in the frame of number k."""
        return self.frame(k).points

    def poses(self, k: int) -> np.ndarray:
        """(rigid, 7) position [m] and orientation wxyz of the bodies `layout.rigid` in the frame of number k; (0, 7) if
        the file has none.
        """
        return self.frame(k).poses

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[Frame]:
        return (self.frame(k) for k in range(len(self)))

    @property
    def triangles(self) -> np.ndarray:
        """(k, 3) points of the surface."""
        return self.layout.triangles

    @property
    def tets(self) -> np.ndarray:
        """(m, 4) points; none if only the surface was kept."""
        return self.layout.tets

    def close(self) -> None:  # noqa: B027  formats that keep a file open close it
        """Let go of the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class FrameWriter(ABC):
    """A file that grows by a frame at a time and can be read up to the last whole one at any moment."""

    @abstractmethod
    def write(self, frame: Frame) -> None: ...

    def close(self) -> None:  # noqa: B027  files that are whole after every frame have nothing to do
        """Finish the file."""
