"""Detection for a simulation: the contacts of spheres that a step has, in arrays that grow and are used again."""

from __future__ import annotations

import numpy as np

from pliant.constraints.numbering import Numbering, own_numbers
from pliant.constraints.rows import Rows, with_room
from pliant.errors import SimulationError
from pliant.grains.cells import room_for_cells, sort_into_cells
from pliant.grains.faces import place_triangles
from pliant.grains.near_lists import (
    NO_LISTS,
    STRIDE,
    NearLists,
    find_ways,
    make_lists,
    move_places,
    reach_of_lists,
    with_lists_room,
)
from pliant.grains.record import Faces, Grains, Motion, Obstacles
from pliant.grains.search import search
from pliant.grains.touching import Points, Triangles
from pliant.kernels.threads import Team
from pliant.model import Model
from pliant.model.obstacles import ROW_LENGTH, SIZES

CROWDED = 40.0  # times the volume of a cell: so much of spheres are in it only if they start in each other
MOST_CONTACTS = 6.5  # of a sphere in a dense heap, each counted once
MOST_ENTRIES = 16  # cells a triangle, on average, before cells are made larger


class GrainDetector:
    """Finds contacts of the spheres of a model, and of points of other bodies.

    tolerance: gap below which two are in contact, as a part of the smallest radius; part: of the spheres' radius;
    keeps_lists: who is near whom is kept from step to step, so that `lists` belong to the state of a run; numbering: of
    the vertices in the rows, if it is not the scene's.
    """

    def __init__(
        self, model: Model, tolerance: float, team: Team, points: Points, triangles: Triangles, part: float = 1.0,
        keeps_lists: bool = False, numbering: Numbering | None = None,
    ):  # fmt: skip
        self._known_obstacles: tuple[list[np.ndarray], Obstacles] | None = None  # with the rows that they were made of
        self._numbers = (numbering or own_numbers(model.n_vertices)).numbers
        self.keeps_lists, self.lists, self._are_made = keeps_lists, NO_LISTS, False
        self._farthest = np.zeros(STRIDE * team.threads)
        self.model, self.team, self._part = model, team, part
        particles, contact = model.particles, model.contact
        assert contact is not None
        self._points = points
        radius = np.zeros(0) if particles is None else particles.radius
        self._largest = float(radius.max(initial=0.0))
        sizes = radius if particles is not None else points.size
        self._tolerance = tolerance * float(sizes.min())
        self._there = np.zeros(0, np.int64)  # which particles are there
        self.vertices = np.zeros(0, np.int32)  # theirs
        self.touching = np.zeros(0, np.int32)  # these and all other vertices whose contacts are found
        self._faces = self._no_buckets(triangles)
        self._place(np.arange(len(radius)))

    def _place(self, there: np.ndarray) -> None:
        """Make room for the particles that are there."""
        contact, particles = self.model.contact, self.model.particles
        self._there = there
        assert contact is not None
        spheres, radius, rolling = np.zeros(0, np.int32), np.zeros(0), np.zeros(0)
        if particles is not None:
            self.vertices = particles.vertices[there]
            there = there[np.argsort(self._numbers[particles.vertices[there]], kind="stable")]
            spheres, radius, rolling = (a[there] for a in (particles.vertices, particles.radius, particles.rolling))
        points = self._points
        v = np.concatenate([spheres, points.vertices])
        self.touching = np.sort(v)
        self.grains = Grains(
            v, self._numbers[v],
            np.concatenate([self._part * radius, points.radius]), np.concatenate([self._part * radius, points.size]),
            contact.body[v].astype(np.int32), contact.friction[v],
            np.concatenate([rolling, np.zeros(len(points.vertices))]),
            np.concatenate([contact.excluded[spheres], np.zeros(len(points.vertices), bool)]), contact.allowed,
            float(contact.general_friction[0]), self._tolerance,
        )  # fmt: skip
        self._grid = room_for_cells(contact.positions[spheres], self.grains.radius[: len(spheres)], self._tolerance)
        self._ends = np.zeros(len(spheres) + len(v) + 1, np.int32)
        self._mean = float(radius.mean()) if len(radius) else 0.0

    def _no_buckets(self, own: Triangles) -> Faces:
        contact = self.model.contact
        assert contact is not None
        triangles, thickness = own
        t, first = len(triangles), triangles[:, 0]
        points = contact.positions[triangles]
        edge = float(np.ptp(points, axis=1).mean()) if t else 1.0
        size = max(edge, 2 * self._largest)
        return Faces(
            triangles, contact.body[first].astype(np.int32), contact.friction[first], thickness,
            np.zeros((t, 3), np.int64), np.zeros((t, 3), np.int64), np.zeros(_power_of_two(4 * t) + 1, np.int64),
            np.zeros(0, np.int32), size, float(thickness.max(initial=0.0)),
        )  # fmt: skip

    def _read_friction(self) -> None:
        """Take over the coefficients that bodies have now."""
        contact = self.model.contact
        assert contact is not None
        np.take(contact.friction, self.grains.vertices, out=self.grains.friction, mode="clip")
        if self.has_triangles:
            np.take(contact.friction, self._faces.vertices[:, 0], out=self._faces.friction, mode="clip")
        otherwise = float(contact.general_friction[0])
        if self.grains.otherwise != otherwise:
            self.grains = self.grains._replace(otherwise=otherwise)

    @property
    def has_triangles(self) -> bool:
        """Whether there is anything else to touch than spheres and obstacles with formulas."""
        return len(self._faces.vertices) > 0

    @property
    def tolerance(self) -> float:
        """Gap below which two are in contact [m]."""
        return self._tolerance

    def obstacles(self, time: float, h: float) -> Obstacles:
        """The shapes with formulas from `time` to `time` + h [s]."""
        assert self.model.contact is not None
        shapes = self.model.contact.shapes
        rows = [shape.row(end) for end in (time, time + h) for shape in shapes]
        known = self._known_obstacles
        if known is None or any(old is not new for old, new in zip(known[0], rows, strict=True)):
            at_start, at_end = np.array(rows).reshape(2, -1, ROW_LENGTH)
            local = at_end.copy()
            local[:, :SIZES] = 0.0
            local[:, [3, 7, 11]] = 1.0
            is_still = (at_start == at_end).all(axis=1)
            kinds = np.array([shape.kind for shape in shapes], np.int64)
            self._known_obstacles = known = (rows, Obstacles(kinds, at_start, at_end, local, is_still))
        return known[1]

    def detect(self, motion: Motion, time: float, rows: Rows, base: int, uses_lists: bool = True) -> tuple[Rows, int]:
        """Write contacts into rows from `base` on; the rows, longer if they had to be, and how many there are now.

        uses_lists: False for a further search within a step, which leaves lists as they are.
        """
        self._read_friction()
        particles = self.model.particles
        if particles is not None and particles.is_emitted:
            there = np.flatnonzero(~particles.absent(time))
            if len(there) != len(self._there):
                self._place(there)
        self._sort(motion, time, uses_lists)
        grains, grid, faces = self.grains, self._grid, self._placed(motion)
        about = (grains, motion, grid, self.obstacles(time, motion.h), faces, base, self._ends)
        work = 200 * len(grains.vertices)
        self.team.run_for(work, search, *about, rows, False)
        count = int(self._ends[-1])
        rows = with_room(rows, count, base, base + int(MOST_CONTACTS * len(grains.vertices)))
        self.team.run_for(work, search, *about, rows, True)
        return rows, count

    def _sort(self, motion: Motion, time: float, uses_lists: bool) -> None:
        """Spheres into cells, or, where their lists are good or new ones are worth it, into the order of these."""
        self._grid.numbers[2] = 0
        if not len(self._grid.order):
            return
        if not self.keeps_lists or not uses_lists:
            self._are_made = False  # they share cells with the search
            self._into_cells(self.grains, motion, time)
            return
        work = 5 * len(self._grid.order)
        if len(self.lists.places) != len(self.vertices):
            self.lists = NO_LISTS
        self._farthest[:] = 0.0
        self.team.run_for(work, find_ways, self.vertices, motion, self.lists.places, self._farthest)
        way, total = (max(self._farthest[k::STRIDE].tolist()) for k in range(2))
        if not self.lists.reach or total > self.lists.reach:
            reach = reach_of_lists(way, self._mean)
            self.lists = NearLists(motion.start[self.vertices], reach) if reach else NO_LISTS
            self._are_made = False
        if not self.lists.reach:
            self._into_cells(self.grains, motion, time)
            return
        if not self._are_made:
            self._make_lists(motion, time)
        self.team.run_for(work, move_places, self.grains, motion, self._grid)
        self._grid.numbers[2] = 1

    def _make_lists(self, motion: Motion, time: float) -> None:
        """Lists of who is near whom at lists.places."""
        x = motion.start.copy()
        x[self.vertices] = self.lists.places
        still = Motion(x, x, np.ones(len(x)), motion.h)
        wide = self.grains._replace(tolerance=self._tolerance + 2 * self.lists.reach)
        self._into_cells(wide, still, time)
        work = 200 * len(self._grid.order)
        self.team.run_for(work, make_lists, wide, self._grid, False)
        self._grid = with_lists_room(self._grid)
        self.team.run_for(work, make_lists, wide, self._grid, True)
        self._are_made = True

    def _into_cells(self, grains: Grains, motion: Motion, time: float) -> None:
        cell, fullest = self.team.call(sort_into_cells, grains, motion, self._grid)
        if fullest > CROWDED:
            raise SimulationError(
                f"t = {time:g} s: in one cell of {cell:g} m spheres take up {fullest:.0f} times its volume: they lie "
                "in each other. Start particles apart, as pl.shapes.packed_spheres does."
            )

    def _placed(self, motion: Motion) -> Faces:
        """Triangles in cells that are large enough for their motion."""
        faces = self._faces
        if not len(faces.vertices):
            return faces
        entries = place_triangles(faces, motion, True)
        while entries > MOST_ENTRIES * len(faces.vertices) + 10_000:
            faces = faces._replace(size=2 * faces.size)
            entries = place_triangles(faces, motion, True)
        if entries > len(faces.entries):
            faces = faces._replace(entries=np.zeros(entries + entries // 4, np.int32))
            self._faces = self._faces._replace(entries=faces.entries)
        place_triangles(faces, motion, False)
        return faces


def _power_of_two(n: int) -> int:
    return 1 << max(4, int(n - 1).bit_length())
