"""Contacts on a device: records that all their vertices read, and lists of them by vertex (VBD 3.5 and 3.9)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.device.contact_source import CONTACT_TABLES
from pliant.device.follow_source import REFRESHED
from pliant.device.opencl import Executor, Launch
from pliant.lanes.types import DTYPES

GROUP = 64
ROOM = 1.5  # buffers have so much more than they need now, so that they seldom grow


class DeviceContacts:
    """Buffers of contacts, filled again at every detection."""

    def __init__(self, executor: Executor, precision: str, rows: int):
        self.executor, self.dtype, self.row_count = executor, DTYPES[precision], rows
        self.collided = np.zeros(rows, np.uint8)  # vertices that had a contact in this step
        self.count = 0
        self._changes = False  # whether iterations change friction limits or closest points
        self._follows = False  # whether closest points are among them
        self._buffers: dict[str, Any] = {}
        self._sizes: dict[str, int] = {}
        self._refresh: Launch | None = None
        self._contacts: Any = None
        self._fill(_Arrays.empty(rows, self.dtype))
        self.has_grown = False  # whether there are buffers that kernels do not know yet

    @property
    def tables(self) -> list[Any]:
        """Buffers in the order in which kernels take them."""
        return [self._buffers[name] for name in CONTACT_TABLES.names]

    def load(self, rows: np.ndarray, contacts: Any, x_prev: np.ndarray, colour_of_row: np.ndarray, origin: np.ndarray,
             slip: float, damping: float) -> None:  # fmt: skip
        """Take up the contacts of a ContactSet with the rows (k, 4) of their vertices.

        x_prev (r, 3) [m]: rows at the start of the step, relative to the origin; colour_of_row (r,): -1 where nothing
        moves.
        """
        arrays = _Arrays.of(rows, contacts, x_prev, colour_of_row, origin, slip, damping, self.row_count, self.dtype)
        self.collided[arrays.touched] = 1
        self.count, self._contacts = len(rows), contacts
        self._follows = bool(contacts.updates_closest_point.any())
        self._changes = self._follows or bool((contacts.friction > 0).any())
        self._fill(arrays)

    def _fill(self, arrays: _Arrays) -> None:
        for name, array in arrays.buffers.items():
            if name not in self._buffers or self._sizes[name] < array.nbytes:
                room = np.zeros((int(len(array) * ROOM) + 1, *array.shape[1:]), array.dtype)
                self._buffers[name], self._sizes[name] = self.executor.buffer(room), room.nbytes
                self._refresh, self.has_grown = None, True  # also if the device runs out of memory before the end
            self.executor.write(self._buffers[name], array)

    def refresh(self, source: str, x: Any) -> None:
        """Enqueue new closest points and friction limits at the positions x."""
        if not (self.count and self._changes):
            return
        if self._refresh is None:
            arguments = [np.int32(self.count), x, *(self._buffers[name] for name in REFRESHED)]
            self._refresh = self.executor.kernel(source, "refresh_contacts", arguments)
        self._refresh.set(0, np.int32(self.count))
        self._refresh(-(-self.count // GROUP), GROUP)

    def write_back(self) -> None:
        """Friction limits and closest points of the last iteration to the ContactSet."""
        if not (self.count and self._changes):
            return
        self._read("exact_limits", self._contacts.friction_limit)
        if self._follows:
            self._read("exact_weights", self._contacts.weights)
            self._read("exact_normals", self._contacts.normals)

    def _read(self, name: str, values: np.ndarray) -> None:
        found = np.empty(values.shape)
        self.executor.read(self._buffers[name], found)
        values[:] = found


class _Arrays:
    """Arrays of all contacts by the names of the buffers that take them."""

    def __init__(self, buffers: dict[str, np.ndarray], touched: np.ndarray):
        self.buffers, self.touched = buffers, touched

    @classmethod
    def empty(cls, row_count: int, dtype: Any) -> _Arrays:
        four, one = np.zeros((0, 4), dtype), np.zeros(0, dtype)
        exact: dict[str, np.ndarray] = {f"exact_{name}": np.zeros((0, *shape)) for name, shape in _EXACT.items()}
        exact["exact_sides"] = np.zeros(0, np.int32)
        arrays = {
            "contact_start": np.zeros(row_count + 1, np.int32), "contact_entry": np.zeros(0, np.int32),
            "contact_multiplicity": one, "contact_rows": np.zeros((0, 4), np.int32), "contact_weights": four,
            "contact_normals": four, "contact_prev": four, "contact_anchors": four, "contact_stiffness": one,
            "contact_settings": np.ones(2, dtype),
        }  # fmt: skip
        return cls(arrays | exact, np.zeros(0, np.int64))

    @classmethod
    def of(cls, rows: np.ndarray, contacts: Any, x_prev: np.ndarray, colour_of_row: np.ndarray, origin: np.ndarray,
           slip: float, damping: float, row_count: int, dtype: Any) -> _Arrays:  # fmt: skip
        """See DeviceContacts.load."""
        contact, corner, start, multiplicity = _entries(rows, colour_of_row, row_count)
        has_anchor = contacts.obstacle >= 0
        anchors = np.where(has_anchor[:, None], contacts.points - origin, 0.0)
        y = x_prev[rows]
        ways = y[:, 1:] - y[:, :1]
        # relative to the first vertex, so that large coordinates cancel
        prev = np.einsum("kj,kja->ka", contacts.weights[:, 1:], ways)
        rounded = anchors.astype(dtype).astype(float)
        prev += np.where(has_anchor[:, None], y[:, 0] - rounded + contacts.motions, 0.0)
        arrays = {
            "contact_start": start,
            "contact_entry": (4 * contact + corner).astype(np.int32),
            "contact_multiplicity": multiplicity.astype(dtype),
            "contact_rows": rows.astype(np.int32),
            "contact_weights": contacts.weights.astype(dtype),
            "contact_normals": np.column_stack([contacts.normals, contacts.friction_limit]).astype(dtype),
            "contact_prev": np.column_stack([prev, contacts.thickness]).astype(dtype),
            "contact_anchors": np.column_stack([anchors, has_anchor]).astype(dtype),
            "contact_stiffness": contacts.stiffness.astype(dtype),
            "contact_settings": np.array([slip, damping], dtype),
            "exact_sides": np.where(contacts.updates_closest_point, contacts.side, 0).astype(np.int32),
            "exact_start": ways.reshape(-1, 9),
            "exact_weights": contacts.weights,
            "exact_normals": contacts.normals,
            "exact_anchors": np.column_stack([anchors, has_anchor]),
            "exact_most": contacts.friction * contacts.stiffness,
            "exact_thickness": contacts.thickness,
            "exact_limits": contacts.friction_limit,
        }
        return cls(arrays, rows[contact, corner])


_EXACT: dict[str, tuple[int, ...]] = {
    "start": (9,), "weights": (4,), "normals": (3,), "anchors": (4,), "most": (), "thickness": (), "limits": ()
}  # fmt: skip


def _entries(
    rows: np.ndarray, colour_of_row: np.ndarray, row_count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Contacts by vertex: contact and corner of each entry, first entries (rows + 1,), and how many vertices of the
    contact have the vertex's colour, so that they share what is to be taken back.
    """
    is_own = np.ones(rows.shape, bool)  # a corner that repeats an earlier one only fills a place
    for i in range(1, rows.shape[1]):
        is_own[:, i] = (rows[:, i : i + 1] != rows[:, :i]).all(axis=1)
    colours = np.where(is_own, colour_of_row[rows], -1)
    same = (colours[:, :, None] == colours[:, None, :]) & (colours[:, None, :] >= 0)
    counts = same.sum(axis=2)
    contact, corner = np.nonzero(colours >= 0)
    owner = rows[contact, corner]
    order = np.argsort(owner, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=row_count))]).astype(np.int32)
    contact, corner = contact[order], corner[order]
    return contact, corner, start, counts[contact, corner]
