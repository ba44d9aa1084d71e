"""Contacts in the order of packs, filled anew at every detection."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.kernels.contacts import CONSTANTS, OTHERS, OUTSIDE, TOGETHER, ContactRows, count_entries, fill_entries
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
            start=np.zeros(packs.pack_count + 1, np.int64),
            others=np.zeros(0, np.uint32),
            constants=np.zeros(0, dtype),
            place=np.zeros((0, 4), np.int64),
            rows=np.zeros((0, 4), np.int64),
            weights=np.zeros((0, 4)),
            normals=np.zeros((0, 3)),
            outside=np.zeros(0),
            points=np.zeros((0, 3)),
            gaps=np.zeros(0),
            grips=np.zeros(0),
            follows=np.zeros(0, np.uint8),
            x_start=np.zeros((rows, 4), dtype),
            buffer=np.zeros((rows, 4), dtype),
            collided=np.zeros(rows, np.uint8),
            slip=np.ones(1, dtype),
            damping=np.zeros(1, dtype),
        )

    def begin(self, x_start: np.ndarray) -> None:
        """Take up a step."""
        packs = self.packs
        to_rows(x_start, packs.vertex_of_row, packs.is_wide, packs.width, self.rows.x_start)
        self.rows.collided[:] = 0

    def load(self, potential: Any) -> None:
        """Sort the contacts of a contact.ContactPotential into lists."""
        touches, packs, width = potential.touches, self.packs, self.packs.width
        self.count = k = len(touches.vertices)
        arguments = (touches.vertices, packs.row_of_vertex, packs.is_wide, width)
        count_entries(*arguments, self.counts, self.rows.start)
        entries = int(self.rows.start[-1])
        numbers = np.column_stack(
            [
                touches.outside,
                touches.points,
                touches.motions,
                touches.normals,
                touches.gaps,
                np.full(k, potential.stiffness),
                potential.limits,
                1 / (touches.vertices >= 0).sum(axis=1),
            ]
        )
        assert numbers.shape[1] == TOGETHER - OUTSIDE
        self.rows = self.rows._replace(
            others=_room(self.rows.others, entries * OTHERS * width),
            constants=_room(self.rows.constants, entries * CONSTANTS * width),
            place=np.empty((k, 4), np.int64),
            rows=np.empty((k, 4), np.int64),
            weights=touches.weights.copy(),
            normals=touches.normals.copy(),
            outside=touches.outside,
            points=touches.points,
            gaps=touches.gaps,
            grips=touches.friction * potential.stiffness,
            follows=touches.follows.astype(np.uint8),
        )
        self.rows.slip[0], self.rows.damping[0] = potential.slip, potential.damping
        filled = (touches.vertices, numbers, packs.row_of_vertex, packs.is_wide, self.colour_of_pack, width)
        fill_entries(*filled, self.counts, self.rows)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.rows)


def _room(array: np.ndarray, size: int) -> np.ndarray:
    """The array, or a larger one if it is too small."""
    return array if len(array) >= size else np.zeros(int(1.3 * size), array.dtype)
