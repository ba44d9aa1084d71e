"""Rigid bodies in the order of packs: their poses, the points they carry, and the contacts of those."""

from __future__ import annotations

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.geometry import vertex_graph
from pliant.kernels.bodies import Bodies
from pliant.kernels.body_contacts import begin_bodies, colour_alone, count_body_contacts, load_body_contacts
from pliant.kernels.contacts import ContactRows
from pliant.kernels.packs import Packs
from pliant.kernels.rigid_blocks import MassPoints
from pliant.kernels.rigid_contacts import COLUMNS, MOST_COLOURS
from pliant.model import CarriedPoints, Model


class BodyTables:
    """What the kernel takes of rigid bodies, and where it comes from."""

    def __init__(self, problem: IncrementalPotential, packs: Packs, threads: int):
        carried = problem.model.carried
        assert carried is not None
        b, width = carried.count, packs.width
        rows = packs.row_of_vertex[carried.points]
        first = np.minimum.reduceat(rows // width, carried.start[:-1])
        pack_start = np.append(first, first[-1] - (-(carried.start[-1] - carried.start[-2]) // width))
        self.places = rows - first[0] * width  # (points,) rows of the offsets of the carried points
        offsets = np.zeros((int(pack_start[-1] - first[0]) * width, 3))
        offsets[self.places] = carried.offsets
        carrier, offset_rows = (np.full(len(packs.vertex_of_row), -1) for _ in range(2))
        carrier[rows], offset_rows[rows] = carried.body, self.places
        has_mass = problem.inertia[carried.points] > 0
        masses, mass_rows = (array[has_mass].reshape(b, -1) for array in (carried.points, self.places))
        own, w = offsets[mass_rows], problem.inertia[masses]
        self.masses = MassPoints(masses, mass_rows, w)
        moments = np.einsum("bi,bir,bis->brs", w, own, own)
        inertia = np.trace(moments, axis1=1, axis2=2)[:, None, None] * np.eye(3) - moments
        joined_start, joined = joined_bodies(problem.model, carried)
        nine, none = (lambda: np.zeros((b, 9))), np.zeros(0, np.int64)
        self.rows = Bodies(
            pack_start=pack_start,
            offsets=offsets,
            has_elements=have_elements(problem.model, carried),
            systems=np.zeros((threads, 6, 7)),
            poses=np.zeros((b, 7)),
            R=nine(),
            weight=w.sum(axis=1),
            moments=moments.reshape(b, 9),
            inverse=np.linalg.inv(inertia).reshape(b, 9),
            targets=np.zeros((b, 3)),
            start_places=np.zeros((b, 3)),
            spread=nine(),
            target_R=nine(),
            owed=np.zeros(b),
            joined_start=joined_start,
            joined=joined,
            order=np.zeros(b, np.int64),
            sorted=np.zeros(b, np.int64),
            colour_start=np.zeros(MOST_COLOURS + 1, np.int64),
            carrier=carrier,
            offset_rows=offset_rows,
            x_start=problem.x_start.copy(),
            contact=none,
            first=none,
            second=none,
            numbers=np.zeros((0, COLUMNS)),
            start=np.zeros(b + 1, np.int64),
            entries=none,
        )
        colour_alone(self.rows)

    def begin_step(self, problem: IncrementalPotential, origin: np.ndarray) -> None:
        """Take over targets, and where points are in their bodies: some slide; relative to an origin (3,) [m]."""
        carried, x_start = problem.model.carried, problem.x_start
        assert carried is not None
        if len(x_start) != len(self.rows.x_start):  # torn
            self.rows = self.rows._replace(x_start=np.empty_like(x_start))
        begin_bodies(self.rows, self.masses, self.places, carried.offsets, problem.y, x_start, origin)

    def load_contacts(self, table: ContactRows) -> None:
        """Take up those contacts of a detection that have a side which a body carries."""
        k = int(count_body_contacts(table, self.rows.carrier))
        whole = lambda n: np.empty(n, np.int64)  # noqa: E731
        numbers, ends = np.zeros((k, COLUMNS)), {"first": whole(k), "second": whole(k), "entries": whole(2 * k)}
        self.rows = self.rows._replace(contact=whole(k), numbers=numbers, **ends)
        load_body_contacts(table, self.rows)


def have_elements(model: Model, carried: CarriedPoints) -> np.ndarray:
    """(b,) bool: rigid bodies on which more than contacts acts."""
    acted_on = np.zeros(model.n_vertices, bool)
    for block in model.blocks:
        acted_on[block.elements[block.elements >= 0]] = True
    found: np.ndarray = np.bincount(carried.body, acted_on[carried.points], carried.count) > 0
    return found


def joined_bodies(model: Model, carried: CarriedPoints) -> tuple[np.ndarray, np.ndarray]:
    """Bodies that elements join: where the neighbours of each begin (b + 1,), and which they are."""
    b = carried.count
    whole = np.full(model.n_vertices, b)  # all vertices as one more
    whole[carried.points] = carried.body
    start, neighbours = vertex_graph([whole[block.elements] for block in model.blocks], b + 1)
    owner = np.repeat(np.arange(b + 1), np.diff(start))
    is_body = (owner < b) & (neighbours < b) & (owner != neighbours)
    counts = np.bincount(owner[is_body], minlength=b)
    return np.append(0, np.cumsum(counts)), neighbours[is_body].astype(np.int64)


def without_padding(packs: Packs, lanes: np.ndarray) -> None:
    """Set numbers (packs, width) of missing points of rigid bodies to zero: they would weigh on the body."""
    is_missing = (packs.vertex_of_row.reshape(-1, packs.width) < 0) & (packs.subspace == 6)[:, None]
    lanes.reshape(is_missing.shape)[is_missing] = 0
