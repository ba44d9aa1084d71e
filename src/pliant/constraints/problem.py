"""The posed problem: velocities that satisfy constraints with bounds (Francu and Moldoveanu, Equations 6 to 17).

    y = A lambda + b,   lambda between its bounds,   y zero where it is inside them            (14, 15)

A = J W J^T is never assembled by the relaxations; `matrix` is for tests and small problems. lambda are impulses, so the
paper's h is in them. Rows are three for each constraint, normal and two tangents, of which those without friction are
zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.constraints.blocks import Blocks, have_room, room_for_blocks
from pliant.constraints.krylov import PARTS, Vectors
from pliant.constraints.lists import GROUPS, Colours, colour_rows, room_for_colours
from pliant.constraints.one_row import Scheme
from pliant.constraints.packed_rows import (
    ALL,
    FIELDS,
    FIELDS_OF_DISTANCES,
    FIELDS_THAT_MOVE,
    FIELDS_WITH_CHANGE,
    NOTHING,
    STEPS,
    PackedRows,
    room_for_packs,
)
from pliant.constraints.packs import pack_width
from pliant.constraints.preparing import prepare
from pliant.constraints.rows import CONTACT, DISTANCE, NO_FRICTION, PYRAMID, Bodies, Rows, copied, taken
from pliant.constraints.sweeps import Pace, copy_back, sweep
from pliant.kernels.threads import Team
from pliant.lanes.integers import MARGIN
from pliant.sparse import sp

RESIDUAL = (
    "root mean square over constraints of d (lambda - proj(lambda - r / d)) [m/s], r of Equation 28, d the diagonal of "
    "J W J^T (ConstraintProblem.residual)"
)


@dataclass
class ConstraintProblem:
    """Constraints of one step, the velocities they act on and the impulses found so far."""

    rows: Rows
    count: int  # constraints; arrays of rows may be longer
    bodies: Bodies
    scheme: Scheme
    planned: int  # iterations
    team: Team
    has_triangles: bool = True  # whether constraints may act on triangles
    done: int = 0  # iterations
    colours: Colours = field(default_factory=lambda: room_for_colours(0))
    blocks: Blocks = field(default_factory=lambda: room_for_blocks(0))
    _vectors: Vectors | None = None
    _is_coloured: bool = False
    _packs: PackedRows = field(default_factory=lambda: room_for_packs(0, 0, 0, np.dtype(float)))
    _packed: tuple[Any, ...] | None = None  # what packs hold, with the impulses of rows; None: nothing
    _is_stale: bool = False  # delta and steps of rows may be others than those in packs
    _behind: tuple[Any, ...] | None = None  # how packs were iterated that rows lag behind
    _ahead: Bodies | None = None  # with the velocities of the next iteration
    _colour: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int8))
    _cursor: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    _used: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.uint64))

    def prepare(self, gamma: float, keeps_lists: bool = False, is_warm: bool = False) -> None:
        """Lists, diagonals and delta for new rows; keeps_lists: the same constraints act on the same masses; is_warm:
        impulses as they are push the vertices.
        """
        corners = np.count_nonzero(self.rows.vertices[: self.count, 2] >= 0) if self.has_triangles else 0
        needed = 2 * (self.count + int(corners))
        if len(self.bodies.entries) < needed + MARGIN:
            entries, sources = (np.zeros(needed + needed // 4 + 64, np.int32) for _ in range(2))
            self.bodies = self.bodies._replace(entries=entries, sources=sources)
        rigid = self.bodies.rigid
        if len(rigid.twist) and len(rigid.entries) < 2 * self.count:
            rigid = rigid._replace(entries=np.zeros(5 * self.count // 2 + 64, np.int32))
            self.bodies = self.bodies._replace(rigid=rigid)
        n = len(self.bodies.inverse_mass) + len(rigid.twist)
        if len(self._cursor) != n:
            self._cursor = np.zeros(n, np.int64)
        if not have_room(self.blocks, self.count):
            self.blocks = room_for_blocks(self.count + self.count // 4)
        about = (self.bodies, self.blocks, self._cursor, self.scheme, gamma)
        self.team.run_for(30.0 * self.count, prepare, self.rows, self.count, *about, keeps_lists, is_warm)
        self.done, self._packed, self._behind = 0, None, None
        self._is_coloured &= keeps_lists

    @property
    def _is_single(self) -> bool:
        """Whether all constraints are done one by one."""
        return self.scheme.has_spin or len(self.bodies.rigid.twist) > 0 or len(self.rows.rolling) > 0

    def colour(self) -> None:
        """Find colours: constraints of one share no vertex."""
        self.copy_back()
        self._is_stale = True
        if self._is_coloured:
            return
        if len(self._colour) < self.count:
            capacity = len(self.rows.kind)
            self.colours, self._colour = room_for_colours(capacity), np.zeros(capacity, np.int8)
        self._packed = None
        shape = (self.team.threads, len(self._cursor))
        if self._used.shape != shape:
            self._used = np.zeros(shape, np.uint64)
        about = (self._used, self._colour, self.colours, self._is_single)
        rows = (self.rows, self.count, self.blocks, self.bodies.inverse_mass)
        self.team.run_for(10.0 * self.count, colour_rows, *rows, *about)
        self._is_coloured = True

    def iterate(self, n: int, pace: Pace, is_apart: bool) -> None:
        """n iterations; is_apart: constraints do not see each other's pushes within one (Jacobi)."""
        if is_apart and (self._ahead is None or len(self._ahead.velocity) != len(self.bodies.velocity)):
            self._ahead = copied(self.bodies)
        ahead = self._ahead if is_apart and self._ahead is not None else self.bodies
        about = (self.rows, self.colours, self.blocks, self.bodies, ahead, is_apart, self.scheme, pace, n)
        self.team.run_for(10.0 * n * self.count, sweep, *about, *self._packed_for(pace, is_apart))
        self.done, self._behind = self.done + n, (is_apart, self.scheme, pace, self._packs)
        if self.done >= self.planned:
            self.copy_back()

    def forget_packs(self) -> None:
        """Impulses of rows have changed."""
        self.copy_back()
        self._packed = None

    def _packed_for(self, pace: Pace, is_apart: bool) -> tuple[PackedRows, int]:
        """Packs for a way to change impulses, and what of them is to be filled (constraints.packed_rows)."""
        wanted = (is_apart, self.scheme, pace.a != 0.0, pace.omega, pace.weights)
        held, is_stale, self._is_stale = self._packed, self._is_stale, False
        if held == wanted and not is_stale:
            return self._packs, NOTHING
        self.copy_back()
        self._packed = wanted
        if held is not None and held[1] == wanted[1] and held[0] >= wanted[0] and held[2] >= wanted[2]:
            return self._packs, STEPS
        has_tangents = self.scheme.is_moving or self.scheme.friction != NO_FRICTION
        fields = FIELDS_OF_DISTANCES
        if has_tangents and (self.rows.kind[: self.count] == CONTACT).any():
            fields = FIELDS_THAT_MOVE if not self.scheme.holds_normals else FIELDS_WITH_CHANGE if pace.a else FIELDS
        dtype, width = self.rows.rest.dtype, pack_width(self.rows.rest.dtype)
        count = int(self.colours.packs[self.colours.palettes[0] * GROUPS])
        if len(self._packs.fields) < count * fields * width or self._packs.starts.shape[1] < count * width:
            self._packs = room_for_packs(count + count // 4 + 64, fields, width, dtype)
        self._packs = self._packs._replace(size=fields)
        return self._packs, ALL

    def copy_back(self) -> None:
        """Bring impulses of rows up to date after iterations over packs."""
        if self._behind is not None:
            about, self._behind = (self.colours, *self._behind), None
            self.team.run_for(4.0 * self.count, copy_back, self.rows, *about, self.done >= self.planned)

    @property
    def vectors(self) -> Vectors:
        """Scratch of the methods with directions."""
        kept = self._vectors
        if kept is None or len(kept.gradient) < self.count:
            dtype, m, n = self.rows.rest.dtype, len(self.rows.kind), len(self.bodies.inverse_mass)
            g, image, d, d_image = (np.zeros((m, 3), dtype) for _ in range(4))
            v, spin = np.zeros((n, 4), dtype), np.zeros((n, 3), dtype)
            twist = np.zeros_like(self.bodies.rigid.twist)
            numbers = (np.zeros((PARTS, 3)), np.zeros(5), np.zeros(m, bool))
            kept = Vectors(g, image, d, d_image, v, spin, twist, *numbers)
            self._vectors = kept
        return kept

    # --- in NumPy, for measuring and for tests ----------------------------------------------------------------------

    def jacobian(self) -> sp.csr_matrix:
        """J (3 m, N): velocities (3 n), where anything spins then spins times radius (3 n), then twists of rigid bodies
        (6 b).
        """
        self.copy_back()
        rows, m, n = taken(self.rows, self.count), self.count, len(self.bodies.inverse_mass)
        frames = self._frames()
        i, j, values = [], [], []
        weights = np.concatenate([np.ones((m, 1)), -rows.weights.astype(float)], axis=1)
        turned = np.cross(rows.normal[:, None].astype(float), frames)  # n x t
        for slot in range(4):
            own = np.flatnonzero((rows.vertices[:, slot] >= 0) & (self._carriers(min(slot, 1)) < 0))
            vertex = rows.vertices[own, slot].astype(np.int64)
            for part in range(3):
                for axis in range(3):
                    i.append(3 * own + part)
                    j.append(3 * vertex + axis)
                    values.append(weights[own, slot] * frames[own, part, axis])
                    if self.scheme.has_spin:
                        spins = (slot == 0) | ((slot == 1) & (rows.vertices[own, 2] < 0))
                        i.append(3 * own + part)
                        j.append(3 * n + 3 * vertex + axis)
                        values.append(np.where(spins, -turned[own, part, axis], 0.0))
        first = 6 * n if self.scheme.has_spin else 3 * n
        columns = first + 6 * len(self.bodies.rigid.twist)
        if not m:
            return sp.csr_matrix((0, columns))
        for side in range(2):
            own = np.flatnonzero(self._carriers(side) >= 0)
            levers, sign = rows.levers[own, 3 * side : 3 * side + 3].astype(float), 1.0 - 2.0 * side
            own_frames = frames[own]
            both = np.concatenate([own_frames, np.cross(levers[:, None], own_frames)], axis=2)
            for part in range(3):
                for k in range(6):
                    i.append(3 * own + part)
                    j.append(first + 6 * self._carriers(side)[own].astype(np.int64) + k)
                    values.append(sign * both[:, part, k])
        about = (np.concatenate(values), (np.concatenate(i), np.concatenate(j)))
        return sp.csr_matrix(about, shape=(3 * m, columns))

    def inverse_masses(self) -> sp.csr_matrix:
        """W, as wide as J [1/kg]: diagonal but for the tensors of inertia of rigid bodies."""
        rigid = self.bodies.rigid
        parts = [np.repeat(self.bodies.inverse_mass.astype(float), 3)]
        if self.scheme.has_spin:
            parts.append(np.repeat(self.bodies.inverse_inertia.astype(float), 3))
        blocks = [sp.diags(np.concatenate(parts))]
        for w, tensor in zip(rigid.inverse_mass, rigid.inverse_inertia, strict=True):
            blocks += [sp.diags(np.full(3, float(w))), sp.csr_matrix(tensor.astype(float))]
        return sp.block_diag(blocks).tocsr()

    def matrix(self) -> sp.csr_matrix:
        """A (3 m, 3 m) with the compliance of distances [1/kg]."""
        J = self.jacobian()
        compliance = np.zeros(3 * self.count)
        compliance[::3] = self.rows.compliance[: self.count]
        return (J @ self.inverse_masses() @ J.T + sp.diags(compliance)).tocsr()

    def apply(self, impulses: np.ndarray) -> np.ndarray:
        """A times impulses (m, 3)."""
        J = self.jacobian()
        image = J @ (self.inverse_masses() @ (J.T @ impulses.ravel()))
        image = image.reshape(-1, 3)
        image[:, 0] += self.rows.compliance[: self.count] * impulses[:, 0]
        return image

    def residuals(self) -> np.ndarray:
        """r (m, 3) of Equation 28 at the current velocities [m/s]; of the moving schemes that of Algorithm 1."""
        self.copy_back()
        rows, scheme = taken(self.rows, self.count), self.scheme
        parts = [self.bodies.velocity[:, :3], self.bodies.rigid.twist]
        if scheme.has_spin:
            parts.insert(1, self.bodies.spin)
        state = np.concatenate([part.astype(float).ravel() for part in parts])
        r = (self.jacobian() @ state).reshape(-1, 3) - np.einsum("mpa,ma->mp", self._frames(), self._drifts())
        soft = rows.compliance * rows.impulse[:, 0]
        if scheme.is_moving:
            value = self.constraint_values()
            r[:, 0] = scheme.velocity_part * r[:, 0] + scheme.position_part * (value / scheme.h + soft)
        else:
            r[:, 0] += rows.bias + soft
        if scheme.is_relaxed:
            r[:, 0] -= rows.friction * np.hypot(r[:, 1], r[:, 2])
        return r

    def target(self) -> np.ndarray:
        """b (m, 3) = r - A lambda of Equation 14 [m/s]."""
        r = self.residuals()
        return r - self.apply(self.rows.impulse[: self.count].astype(float))

    def projected(self, impulses: np.ndarray) -> np.ndarray:
        """proj of impulses (m, 3)."""
        rows, result = taken(self.rows, self.count), impulses.copy()
        normal = result[:, 0]
        bounded = np.where(rows.kind == CONTACT, np.maximum(normal, 0.0), np.minimum(normal, 0.0))
        result[:, 0] = np.where(rows.kind == DISTANCE, normal, bounded)
        bound = np.maximum(rows.friction * result[:, 0], 0.0)
        if self.scheme.friction == NO_FRICTION:
            bound = 0.0 * bound
        if self.scheme.friction == PYRAMID:
            result[:, 1:] = np.clip(result[:, 1:], -bound[:, None], bound[:, None])
        else:
            size = np.hypot(result[:, 1], result[:, 2])
            result[:, 1:] *= np.where(size > bound, bound / np.maximum(size, 1e-300), 1.0)[:, None]
        return result

    def residual(self) -> float:
        """How far the impulses are from a solution: see RESIDUAL [m/s]."""
        if not self.count:
            return 0.0
        r, d = self.residuals(), self.rows.diagonal[: self.count, [0, 1, 1]].astype(float)
        impulses = self.rows.impulse[: self.count].astype(float)
        change = d * (impulses - self.projected(impulses - r / d))
        return float(np.sqrt(np.sum(change**2) / self.count))

    def constraint_values(self) -> np.ndarray:
        """C (m,) [m] at the positions that the current velocities lead to."""
        rows, v = taken(self.rows, self.count), self.bodies.velocity[:, :3].astype(float)
        relative = v[rows.vertices[:, 0]] - self._drifts()
        for slot in range(1, 4):
            there = (rows.vertices[:, slot] >= 0) & (self._carriers(1) < 0)
            relative -= np.where(there, rows.weights[:, slot - 1], 0.0)[:, None] * v[rows.vertices[:, slot]]
        for side in range(2):
            own = np.flatnonzero(self._carriers(side) >= 0)
            twist = self.bodies.rigid.twist[self._carriers(side)[own]].astype(float)
            moved = twist[:, :3] + np.cross(twist[:, 3:], rows.levers[own, 3 * side : 3 * side + 3])
            relative[own] += moved - v[rows.vertices[own, 0]] if side == 0 else -moved
        s = rows.separation + self.scheme.h * relative
        is_pair = (rows.vertices[:, 1] >= 0) & (rows.vertices[:, 2] < 0)
        along = np.einsum("ma,ma->m", rows.normal, s)
        return np.where(is_pair, np.linalg.norm(s, axis=1), along) - rows.rest

    def position_error(self) -> float:
        """Sum of what constraints are violated by [m]: penetration, and change of length."""
        kind, value = self.rows.kind[: self.count], self.constraint_values()
        one_sided = np.where(kind == CONTACT, np.minimum(value, 0.0), np.maximum(value, 0.0))
        return float(np.abs(np.where(kind == DISTANCE, value, one_sided)).sum())

    def _drifts(self) -> np.ndarray:
        """(m, 3) velocity of the obstacles' points [m/s]; zero without obstacle."""
        rows = taken(self.rows, self.count)
        return np.where(rows.vertices[:, 1:2] < 0, rows.weights, 0.0)

    def _carriers(self, side: int) -> np.ndarray:
        """(m,) rigid body of one side of the constraints, else -1."""
        if not len(self.bodies.rigid.twist):
            return np.full(self.count, -1)
        return self.rows.carrier[: self.count, side]

    def _frames(self) -> np.ndarray:
        """(m, 3, 3) normal and tangents, the latter zero without friction."""
        rows = taken(self.rows, self.count)
        n, t = rows.normal.astype(float), rows.tangent.astype(float)
        slips = (rows.friction > 0) & (self.scheme.friction != NO_FRICTION)
        return np.stack([n, t * slips[:, None], np.cross(n, t) * slips[:, None]], axis=1)
