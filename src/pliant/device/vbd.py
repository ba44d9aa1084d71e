"""Vertex block descent on a device: buffers, and the launches of an iteration.

All iterations of a sweep are enqueued one after another; the host waits only where it reads positions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.device.contacts import DeviceContacts
from pliant.device.groups import pack_groups
from pliant.device.opencl import Executor, Launch
from pliant.device.vbd_source import GROUP, STAGED, DeviceVariant, list_tables, program_source
from pliant.lanes.types import DTYPES


class Colour(NamedTuple):
    """Rows first..last of one colour; from `wide` on, vertices have too many neighbours for a packed group."""

    first: int
    wide: int
    last: int


class VertexNumbers(NamedTuple):
    """Constant numbers of the vertices, in the order of rows."""

    inertia: np.ndarray  # (rows,) m / h^2 [kg/s^2]
    diagonal: np.ndarray  # (rows,) constant part of the elastic Hessian [N/m]
    viscous: np.ndarray  # (rows,) of viscous elements
    damping_rate: np.ndarray  # (rows,) k_d / h
    subspace: np.ndarray  # (rows,) 3 free, 2 in a plane, 1 on a line
    direction: np.ndarray  # (rows, 3) of the line, or normal of the plane


class DeviceSweep:
    """The tables of a scene on a device. Positions are rows (r, 4), those that move first."""

    def __init__(
        self,
        executor: Executor,
        variant: DeviceVariant,
        colours: list[Colour],
        numbers: VertexNumbers,
        schedule: str,
    ):
        self.executor, self.variant, self.colours, self.schedule = executor, variant, colours, schedule
        self.dtype = DTYPES[variant.precision]
        self.rows, self.moving = len(numbers.inertia), colours[-1].last if colours else 0
        self.source = program_source(variant)
        self.x = self._empty_rows()
        self.moved = self._empty_rows() if variant.contact else self.x
        self.target, self.x_prev = self._empty_rows(), self._empty_rows()
        self.singular = executor.buffer(np.zeros(1, np.int32))
        self._singular_now = np.zeros(1, np.int32)
        self._vertex = self._vertex_buffers(numbers)
        self._lists = [self._list_buffers(k) for k in range(len(variant.lists))]
        self.contacts = DeviceContacts(executor, variant.precision, self.rows) if variant.contact else None
        self._updates, self._derived = self._updating()
        self._launches = self._iteration()
        self._memory: tuple[Any, Any] | None = None
        self._measure = self._measuring() if variant.damped else None
        self._unset = np.zeros(self.rows, np.uint8)

    # --- buffers ----------------------------------------------------------------------------------------------------

    def _empty_rows(self) -> Any:
        return self.executor.buffer(np.zeros((self.rows, 4), self.dtype))

    def _vertex_buffers(self, numbers: VertexNumbers) -> list[Any]:
        """In the order of vertex_source.VERTEX."""
        real = [self.executor.buffer(values.astype(self.dtype)) for values in numbers[:4]]
        inertia, diagonal, viscous, rate = real
        damping = self.executor.buffer(np.zeros((6, self.rows if self.variant.damped else 0), self.dtype))
        subspace = self.executor.buffer(numbers.subspace.astype(np.uint8))
        direction = self.executor.buffer(as_rows(numbers.direction, self.dtype))
        return [inertia, diagonal, viscous, self.target, self.x_prev, damping, rate, subspace, direction]

    def _list_buffers(self, k: int) -> dict[str, Any]:
        one = self.variant.lists[k]
        arrays: dict[str, np.ndarray] = {
            f"start_{k}": one.start,
            f"others_{k}": one.sorted_others,
            f"constants_{k}": one.sorted_constants(one.constants, self.dtype),
            f"parameters_{k}": np.ascontiguousarray(one.parameters.T, self.dtype),
        }
        if one.element is not None:
            arrays[f"element_{k}"] = one.element[one.order].astype(np.int32)
        if one.state is not None:
            arrays[f"state_{k}"] = np.zeros(one.state.size * len(one.state.corners), self.dtype)
        return {name: self.executor.buffer(arrays[name]) for name in list_tables(k, one)}

    @property
    def _tables(self) -> list[Any]:
        lists = [buffer for own in self._lists for buffer in own.values()]
        return [*lists, *(self.contacts.tables if self.contacts is not None else [])]

    def write_constants(self, k: int, constants: np.ndarray) -> None:
        """Other numbers (m, c) for the entries of list k."""
        array = self.variant.lists[k].sorted_constants(constants, self.dtype)
        self.executor.write(self._lists[k][f"constants_{k}"], array)

    def write_parameters(self, k: int, parameters: np.ndarray) -> None:
        """Other numbers (rows, p) of the vertices for list k."""
        self.executor.write(self._lists[k][f"parameters_{k}"], np.ascontiguousarray(parameters.T, self.dtype))

    def write_state(self, k: int, values: np.ndarray) -> None:
        """The states of the elements of list k."""
        self.executor.write(self._lists[k][f"state_{k}"], values.astype(self.dtype))

    def read_state(self, k: int, values: np.ndarray) -> None:
        """The states of the elements of list k, when all iterations are done."""
        found = np.empty(len(values), self.dtype)
        self.executor.read(self._lists[k][f"state_{k}"], found)
        values[:] = found

    def write_rows(self, buffer: Any, values: np.ndarray) -> None:
        """Positions (rows, 3)."""
        self.executor.write(buffer, as_rows(values, self.dtype))

    def read(self) -> np.ndarray:
        """Positions (rows, 3), when all iterations are done."""
        rows = np.empty((self.rows, 4), self.dtype)
        self.executor.read(self.x, rows)
        return rows[:, :3]

    # --- launches ---------------------------------------------------------------------------------------------------

    def _launch(self, name: str, arguments: list[Any]) -> Launch:
        return self.executor.kernel(self.source, name, arguments)

    def _iteration(self) -> list[tuple[Launch, int]]:
        """Launches of one iteration, colour after colour, with their numbers of groups."""
        rows = np.int32(self.rows)
        state = [self.x, self.moved, self.singular]
        tables = [*self._vertex, *self._tables]
        groups = self._packed() if self.schedule == "packed" else None
        launches: list[tuple[Launch, int]] = []
        for c, colour in enumerate(self.colours):
            grouped = colour.first if self.schedule == "groups" else colour.last
            if self.schedule == "items":
                arguments = [np.int32(colour.first), np.int32(colour.last), rows, *state, *tables]
                launches.append((self._launch("solve_items", arguments), groups_for(colour.last - colour.first)))
            if groups is not None:
                grouped = colour.wide
                first, last = groups.colour_start[c : c + 2]
                arguments = [np.int32(first), rows, *state, *groups.buffers, *self._vertex, *groups.tables]
                launches.append((self._launch("solve_packed", arguments), int(last - first)))
            arguments = [np.int32(grouped), rows, *state, *tables]
            launches.append((self._launch("solve_groups", arguments), colour.last - grouped))
            if self.contacts is not None:
                arguments = [np.int32(colour.first), np.int32(colour.last), self.x, self.moved]
                launches.append((self._launch("show", arguments), groups_for(colour.last - colour.first)))
        return [(launch, count) for launch, count in launches if count > 0]

    def _updating(self) -> tuple[list[tuple[Launch, int]], list[tuple[Launch, int]]]:
        """Launches that bring the states of elements up to date, with their numbers of groups: of states that follow
        from those before, and of such that follow from the positions alone.
        """
        updates: list[tuple[Launch, int]] = []
        derived: list[tuple[Launch, int]] = []
        for k, one in enumerate(self.variant.lists):
            if one.state is None:
                continue
            corners = np.ascontiguousarray(one.state.corners.T, np.int32)
            constants = np.ascontiguousarray(one.state.constants.T, self.dtype)
            tables = [self.executor.buffer(corners), self.executor.buffer(constants), self._lists[k][f"state_{k}"]]
            count = len(one.state.corners)
            launches = updates
            if one.state.table is not None:
                launches = derived
                tables.append(self.executor.buffer(one.state.table.astype(self.dtype)))
            launches.append((self._launch(f"update_state_{k}", [np.int32(count), self.x, *tables]), groups_for(count)))
        return updates, derived

    def _packed(self) -> PackedBuffers:
        """Groups on the device, and tables whose others are places in a group's local memory."""
        lists = self.variant.lists
        narrow = [(colour.first, colour.wide) for colour in self.colours]
        groups = pack_groups(lists, narrow, self.rows, GROUP, STAGED)
        arrays = (groups.rows, groups.neighbour_start, groups.neighbours)
        tables: list[Any] = []
        for k, (own, others) in enumerate(zip(self._lists, groups.others, strict=True)):
            local = own | ({f"others_{k}": self.executor.buffer(others)} if f"others_{k}" in own else {})
            tables += local.values()
        tables += self.contacts.tables if self.contacts is not None else []
        return PackedBuffers(groups.colour_start, [self.executor.buffer(array) for array in arrays], tables)

    def _measuring(self) -> Launch:
        arguments = [np.int32(self.moving), np.int32(self.rows), self.x_prev, *self._vertex, *self._tables]
        return self._launch("measure_damping", arguments)

    # --- a step -----------------------------------------------------------------------------------------------------

    def begin_step(self) -> None:
        """Measure the damping of vertices at the start of the step, and forget iterates before it."""
        if self._measure is not None:
            self._derive_states(self.x_prev)
            self._measure(groups_for(self.moving), GROUP)
        self._memory_is_fresh = True

    def set_contacts(self, *numbers: Any) -> None:
        """Take up contacts, as DeviceContacts.load does."""
        assert self.contacts is not None
        self.contacts.load(*numbers)
        if self.contacts.has_grown:  # kernels take other buffers
            self._launches = self._iteration()
            if self._measure is not None:
                self._measure = self._measuring()
            self.contacts.has_grown = False

    def sweep(self, omegas: np.ndarray | None, n: int) -> None:
        """Enqueue n iterations, each carried on by its omega (Equation 18) where they are given."""
        accelerate = None if omegas is None else self._accelerating()
        for k in range(n):
            self._begin_iteration()
            for launch, groups in self._launches:
                launch(groups, GROUP)
            if accelerate is not None and omegas is not None:
                accelerate.set(1, self.dtype(omegas[k]))
                accelerate(groups_for(self.moving), GROUP)

    def _begin_iteration(self) -> None:
        """Count singular blocks of this iteration alone, bring states of elements up to date, and refresh contacts."""
        self.executor.zero(self.singular)
        for launch, groups in self._updates:
            launch(groups, GROUP)
        self._derive_states(self.x)
        if self.contacts is not None:
            self.contacts.refresh(self.source, self.x)

    def _derive_states(self, x: Any) -> None:
        """Enqueue those states of elements that follow from the positions x alone."""
        for launch, groups in self._derived:
            launch.set(1, x)
            launch(groups, GROUP)

    def _accelerating(self) -> Launch:
        if self._memory is None:
            self._memory = (self._empty_rows(), self._empty_rows())
            self._collided = self.executor.buffer(self._unset)
        if self._memory_is_fresh:
            for iterate in self._memory:
                self.executor.copy(iterate, self.x)
            self._memory_is_fresh = False
        if self.contacts is not None:
            self.executor.write(self._collided, self.contacts.collided)
        arguments = [np.int32(self.moving), self.dtype(1), self.x, *self._memory, self._collided]
        return self._launch("accelerate", arguments)

    def singular_blocks(self) -> int:
        """Vertices that the last iteration left in place."""
        self.executor.read(self.singular, self._singular_now)
        return int(self._singular_now[0])


class PackedBuffers(NamedTuple):
    """Packed groups on a device."""

    colour_start: np.ndarray
    buffers: list[Any]
    tables: list[Any]


def as_rows(values: np.ndarray, dtype: Any) -> np.ndarray:
    """Vectors (r, 3) as rows of four."""
    rows = np.zeros((len(values), 4), dtype)
    rows[:, :3] = values
    return rows


def groups_for(items: int) -> int:
    """Work-groups for so many items."""
    return -(-items // GROUP)
