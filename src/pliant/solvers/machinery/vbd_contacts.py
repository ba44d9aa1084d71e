"""Contacts in the order of packs, filled again at every detection."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.contact.contact_set import ContactSet, no_contacts
from pliant.elements.closest import FACE_OBSTACLE, VERTEX_OBSTACLE, VERTEX_TRIANGLE
from pliant.kernels.contacts import (
    CONSTANTS,
    FOLLOWING,
    HELD,
    MIXED,
    OBSTACLE_CONSTANTS,
    OTHERS,
    ContactRows,
    count_entries,
    fill_entries,
    fill_records,
    fill_vertex_obstacle,
)
from pliant.kernels.packs import Packs
from pliant.kernels.threads import Team
from pliant.kernels.transfer import read_positions

FILLING, WRITING = 150, 30  # nanoseconds that a contact takes in lists and in its record
VISITS = 2  # of the contacts of a vertex in an iteration: where it begins, and where it would end with those


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
            prev_rows=np.zeros((1, 4), dtype),
            weight_rows=np.zeros((1, 4), dtype),
            anchor_rows=np.zeros((1, 4), dtype),
            has_anchors=np.zeros(1, np.uint8),
            rows=np.zeros((0, 4), np.int64),
            corners=np.zeros(0, np.uint32),
            in_lanes=np.zeros(0, np.int8),
            sides=np.zeros(0),
            contacts=no_contacts(),
            x_prev=np.zeros((rows, 4), dtype),
            buffer=np.zeros((rows, 4), dtype),
            forces=np.zeros((rows, 4), dtype),
            upper=np.zeros((rows, 4), dtype),
            lower=np.zeros((rows, 4), dtype),
            collided=np.zeros(rows, np.uint8),
            origin=np.zeros(3),
            slip=np.ones(1, dtype),
            damping=np.zeros(1, dtype),
            compliance=np.full(1, np.inf),
            visits=np.full(1, VISITS),
            ways=np.zeros((rows, 4), dtype),
        )

    def begin_step(self, x_prev: np.ndarray, origin: np.ndarray) -> None:
        """Take up a step from x_prev (n, 3) [m]; the tables' positions are relative to an origin (3,) [m]."""
        packs = self.packs
        self.rows.origin[:] = origin
        read_positions(x_prev, origin, packs.vertex_of_row, packs.is_wide, packs.width, self.rows.x_prev)
        self.rows.collided[:] = 0

    def load(self, potential: Any, team: Team) -> None:
        """Sort the contacts of a ContactPotential into lists: of vertices with obstacles, and of several vertices.

        The kernel works on the potential's own ContactSet: what it refreshes there, others see.
        """
        contacts, packs, width = potential.contacts, self.packs, self.packs.width
        has_obstacle = contacts.kind == VERTEX_OBSTACLE
        self.rows.has_anchors[0] = bool((contacts.kind == FACE_OBSTACLE).any())
        self.count = k = contacts.size
        rows, old = packs.row_of_vertex.take(potential.vertices), self.rows
        count_entries(rows, has_obstacle, packs.is_wide, width, self.counts, old.vertex_obstacle_start, old.start)
        obstacles, entries = int(old.vertex_obstacle_start[-1]) * width, int(old.start[-1]) * width
        self.rows = old._replace(
            vertex_obstacle=_room(old.vertex_obstacle, obstacles * OBSTACLE_CONSTANTS),
            place=np.empty(k, np.int64),
            own=_room(old.own, entries),
            others=_room(old.others, entries * OTHERS),
            record=_room(old.record, entries),
            constants=_room(old.constants, entries * CONSTANTS),
            normal_rows=np.empty((k + 1, 4), self.dtype),
            prev_rows=np.empty((k + 1, 4), self.dtype),
            weight_rows=np.empty((k + 1, 4), self.dtype),
            anchor_rows=np.empty((k + 1, 4), self.dtype),
            rows=rows,
            **_blocks(contacts, rows, width),
            contacts=contacts,
        )
        old.slip[0], old.damping[0] = potential.slip, potential.damping
        old.compliance[0] = potential.compliance if potential.has_multipliers else np.inf
        fill_vertex_obstacle(has_obstacle, self.rows, packs.is_wide, width, self.counts)
        own = (packs.is_wide, self.colour_of_pack, width, self.counts)
        team.run_for(FILLING * k, fill_entries, has_obstacle, self.rows, *own)
        team.run_for(WRITING * k, fill_records, has_obstacle, self.rows)


def _room(array: np.ndarray, size: int) -> np.ndarray:
    """The array, or a larger one if it is too small."""
    return array if len(array) >= size else np.zeros(int(1.3 * size), array.dtype)


def _blocks(contacts: ContactSet, rows: np.ndarray, width: int) -> dict[str, np.ndarray]:
    """What the refresh of contacts reads of blocks of `width` of them; rows (k, 4): of their vertices."""
    blocks = -(-len(rows) // width)
    corners = np.zeros((blocks * width, 4), np.uint32)
    corners[: len(rows)] = 4 * rows
    sorts = np.full(blocks * width, MIXED, np.int8)
    is_pair = (contacts.kind == VERTEX_TRIANGLE) & (contacts.obstacle < 0) & (contacts.side != 0)
    sorts[: len(rows)][is_pair & contacts.updates_closest_point] = FOLLOWING
    sorts[: len(rows)][(contacts.obstacle < 0) & ~contacts.updates_closest_point] = HELD
    of_blocks = sorts.reshape(blocks, width)
    return {
        "corners": np.ascontiguousarray(corners.reshape(blocks, width, 4).transpose(0, 2, 1)).ravel(),
        "in_lanes": np.where((of_blocks == of_blocks[:, :1]).all(axis=1), of_blocks[:, 0], MIXED),
        "sides": contacts.side.astype(float),
    }
