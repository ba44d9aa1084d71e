"""Rigid bodies in the order of packs: their colours, their poses, and the points they carry."""

from __future__ import annotations

import numpy as np

from pliant.geometry import vertex_graph
from pliant.kernels.bodies import Bodies
from pliant.kernels.packs import Packs
from pliant.kernels.rigid_motion import load_poses, store_poses
from pliant.model import CarriedPoints


class BodyTables:
    """Bodies sorted by colour, with the packs of their points."""

    def __init__(self, carried: CarriedPoints, colours: np.ndarray, colour_count: int):
        """colours (n,) of all points: those of one body have one colour."""
        self.carried = carried
        self.colours = colours[carried.points[carried.start[:-1]]]  # (b,)
        self.order = np.argsort(self.colours, kind="stable")  # bodies colour after colour
        self.colour_start = np.searchsorted(self.colours[self.order], np.arange(colour_count + 1))

    def carrier(self, n: int) -> np.ndarray:
        """(n,) place in the order of the body that carries each point, -1 for others."""
        place = np.empty(self.carried.count, np.int64)
        place[self.order] = np.arange(self.carried.count)
        carrier = np.full(n, -1)
        carrier[self.carried.points] = place[self.carried.body]
        return carrier

    def build(self, packs: Packs, threads: int) -> Bodies:
        """What the kernel takes."""
        carried, width = self.carried, packs.width
        rows = packs.row_of_vertex[carried.points]
        first = np.minimum.reduceat(rows // width, carried.start[:-1])[self.order]
        sizes = -(-np.diff(carried.start)[self.order] // width)
        self.pack_start = np.append(first, first[-1] + sizes[-1])
        offsets = np.zeros((int(self.pack_start[-1] - first[0]) * width, 3))
        self.places = rows - first[0] * width  # (k,) rows of `offsets` of the carried points
        offsets[self.places] = carried.offsets
        poses, systems = np.zeros((carried.count, 7)), np.zeros((threads, 6, 7))
        self.rows = Bodies(self.colour_start, self.pack_start, offsets, poses, systems)
        return self.rows

    def colour_packs(self, colour_of_pack: np.ndarray) -> None:
        """Write the colours of the bodies' packs (packs,): contacts count who moves at the same time."""
        colour_of_pack[self.pack_start[0] : self.pack_start[-1]] = np.repeat(
            self.colours[self.order], np.diff(self.pack_start)
        )

    def begin_step(self, carried: CarriedPoints) -> None:
        """Take over where the points are in their bodies: some slide."""
        self.rows.offsets[self.places] = carried.offsets

    def load(self, poses: np.ndarray, origin: np.ndarray) -> None:
        """Take poses (b, 7) in the scene's order, relative to an origin (3,) [m]."""
        load_poses(poses, self.order, origin, self.rows.poses)

    def store(self, carried: CarriedPoints, poses: np.ndarray, x: np.ndarray, origin: np.ndarray) -> None:
        """Give poses (b, 7), and the points' positions (n, 3) in double precision."""
        store_poses(self.rows.poses, self.order, origin, carried.rows, poses, x)


def merged_graph(elements: list[np.ndarray], n: int, carried: CarriedPoints | None) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours of n points by elements, with all points of a body as its first one."""
    if carried is None:
        return vertex_graph(elements, n)
    whole = np.arange(n)
    whole[carried.points] = np.repeat(carried.points[carried.start[:-1]], np.diff(carried.start))
    return vertex_graph([whole[corners] for corners in elements], n)


def colours_of_bodies(colours: np.ndarray, carried: CarriedPoints | None) -> np.ndarray:
    """Colours (n,) in which all points of a body have that of its first one."""
    if carried is None:
        return colours
    whole = colours.copy()
    whole[carried.points] = np.repeat(colours[carried.points[carried.start[:-1]]], np.diff(carried.start))
    return whole


def without_padding(packs: Packs, lanes: np.ndarray) -> None:
    """Set numbers (packs, width) of missing points of rigid bodies to zero: they would weigh on the body."""
    is_missing = (packs.vertex_of_row.reshape(-1, packs.width) < 0) & (packs.subspace == 6)[:, None]
    lanes.reshape(is_missing.shape)[is_missing] = 0
