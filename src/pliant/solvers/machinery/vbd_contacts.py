"""Contacts in the order of packs, filled anew at every detection."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.kernels.contacts import (
    CONSTANTS,
    OTHERS,
    VERTEX_OBSTACLE_CONSTANTS,
    ContactRows,
    count_entries,
    fill_entries,
    fill_records,
    fill_vertex_obstacle,
)
from pliant.kernels.packs import Packs
from pliant.kernels.transfer import to_rows


class ContactTables:
    """Arrays of the contacts; they grow when a detection needs more room.

    in_turn: whether one colour is moved after another. Then vertices of a contact that have the same colour, as those
    of equal bodies often have, must share what is to be taken back.
    """

    def __init__(self, packs: Packs, dtype: Any, in_turn: bool):
        self.packs, self.dtype = packs, dtype
        colours = np.searchsorted(packs.colour_start, np.arange(packs.pack_count), side="right") - 1
        is_moved = in_turn & (np.arange(packs.pack_count) < packs.moving_count)
        self.colour_of_pack = np.where(is_moved, colours, -1)
        rows = len(packs.vertex_of_row)
        self.count = 0  # contacts
        self.counts = np.zeros(rows, np.int64)
        self.rows = ContactRows(
            vertex_obstacle_start=np.zeros(packs.pack_count + 1, np.int64),
            vertex_obstacle=np.zeros(0, dtype),
            place=np.zeros(0, np.int64),
            start=np.zeros(packs.pack_count + 1, np.int64),
            own=np.zeros(0, np.uint32),
            others=np.zeros(0, np.uint32),
            record=np.zeros(0, np.uint32),
            constants=np.zeros(0, dtype),
            normal_rows=np.zeros((1, 4), dtype),
            start_rows=np.zeros((1, 4), dtype),
            weight_rows=np.zeros((1, 4), dtype),
            rows=np.zeros((0, 4), np.int64),
            weights=np.zeros((0, 4)),
            normals=np.zeros((0, 3)),
            points=np.zeros((0, 3)),
            gaps=np.zeros(0),
            grips=np.zeros(0),
            follows=np.zeros(0, np.uint8),
            x_prev=np.zeros((rows, 4), dtype),
            buffer=np.zeros((rows, 4), dtype),
            forces=np.zeros((rows, 4), dtype),
            upper=np.zeros((rows, 4), dtype),
            lower=np.zeros((rows, 4), dtype),
            collided=np.zeros(rows, np.uint8),
            stiffness=np.zeros(1, dtype),
            slip=np.ones(1, dtype),
            damping=np.zeros(1, dtype),
        )

    def begin_step(self, x_prev: np.ndarray) -> None:
        """Take up a step."""
        packs = self.packs
        to_rows(x_prev, packs.vertex_of_row, packs.is_wide, packs.width, self.rows.x_prev)
        self.rows.collided[:] = 0

    def load(self, potential: Any) -> None:
        """Sort the contacts of a contact.ContactPotential into lists: of single vertices with obstacles, and of four
        vertices.
        """
        touches, packs, width = potential.touches, self.packs, self.packs.width
        is_vertex_obstacle = touches.vertices[:, 1] < 0
        self.count = k = len(is_vertex_obstacle)
        vertices = np.where(touches.vertices < 0, touches.vertices[:, :1], touches.vertices)
        rows, old = packs.row_of_vertex[vertices].astype(np.int64), self.rows
        count_entries(rows, is_vertex_obstacle, packs.is_wide, width, self.counts, old.vertex_obstacle_start, old.start)
        vertex_obstacle, entries = int(old.vertex_obstacle_start[-1]) * width, int(old.start[-1]) * width
        self.rows = old._replace(
            vertex_obstacle=_room(old.vertex_obstacle, vertex_obstacle * VERTEX_OBSTACLE_CONSTANTS),
            place=np.empty(k, np.int64),
            own=_room(old.own, entries),
            others=_room(old.others, entries * OTHERS),
            record=_room(old.record, entries),
            constants=_room(old.constants, entries * CONSTANTS),
            normal_rows=np.empty((k + 1, 4), self.dtype),
            start_rows=np.empty((k + 1, 4), self.dtype),
            weight_rows=np.empty((k + 1, 4), self.dtype),
            rows=rows,
            weights=touches.weights.copy(),
            normals=touches.normals.copy(),
            points=touches.points,
            gaps=touches.gaps,
            grips=touches.friction * potential.stiffness,
            follows=touches.follows.astype(np.uint8),
        )
        settings = ((old.stiffness, potential.stiffness), (old.slip, potential.slip), (old.damping, potential.damping))
        for array, value in settings:
            array[0] = value
        fill_vertex_obstacle(
            is_vertex_obstacle, self.rows, packs.is_wide, width, potential.limits, touches.motions, self.counts
        )
        fill_entries(is_vertex_obstacle, self.rows, packs.is_wide, self.colour_of_pack, width, self.counts)
        fill_records(is_vertex_obstacle, self.rows, potential.limits)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.rows)


def _room(array: np.ndarray, size: int) -> np.ndarray:
    """The array, or a larger one if it is too small."""
    return array if len(array) >= size else np.zeros(int(1.3 * size), array.dtype)
