"""A step's potential element after element in lanes and threads: energy, gradient, and the Hessian as a sparse matrix
of 3x3 blocks.

Tets and triangles of every law are compiled, other elements as other_elements says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.energies.scatter import sum_at_vertices
from pliant.kernels.assembly_source import TET, TRIANGLE, ElementTable, Shape, assembly_module, element_table
from pliant.kernels.block_pattern import (
    CHUNK,
    BlockPattern,
    Places,
    find_pattern,
    places_in_lanes,
)
from pliant.kernels.block_sums import add_to_blocks
from pliant.kernels.threads import Team
from pliant.lanes.compiled import cached
from pliant.lanes.host import default_width
from pliant.materials import ARAP
from pliant.materials.calculus import law_code
from pliant.model import Block, Sheets, Solids
from pliant.model.blocks import Converted
from pliant.solvers.contract import Execution, Work
from pliant.solvers.machinery.energy_noise import NOISE, typical_edge
from pliant.solvers.machinery.other_elements import NumpyElements, by_corners, position_rows, source_of
from pliant.solvers.machinery.preconditioner import Grouped, group_rows
from pliant.sparse import sp

HELD_PART = 0.01  # of the residual after a refresh: how exactly the potential of held contacts is minimised
LEAST_PART = 1 / 16  # of the way to their new values that friction limits go in a refresh
SAME = 1e-9  # of the largest friction limit: a change that is none
IDLE = 3  # iterations at rounding, then an end
ELEMENTS_A_THREAD = 2000  # fewer are not worth another thread


@dataclass
class LawTerm:
    """Elements of one law, computed in lanes."""

    number: int  # of the block in the problem
    module: ModuleType
    table: ElementTable
    places: Places
    buffer: np.ndarray
    width: int
    sizes: Callable[[Any], np.ndarray] | None = None  # of the block, (m,), where they change with its memory

    def energy(self, block: Block, x: np.ndarray, team: Team) -> float:
        """[J]."""
        m, out = len(block.elements), np.empty(len(self.table.sizes))
        team.run(self.module.energies, position_rows(x), self._table(block), out)
        return float(np.sum(out[:m]))

    def gradient(self, block: Block, x: np.ndarray, team: Team) -> np.ndarray:
        """dE/dx (n, 3) [N]."""
        m, corners = block.elements.shape
        out = np.empty(3 * len(self.table.vertices))
        team.run(self.module.gradients, position_rows(x), self._table(block), out)
        return sum_at_vertices(block.elements, by_corners(out, corners, self.width)[:m], len(x))

    def add_hessians(self, block: Block, x: np.ndarray, psd: bool, team: Team, values: np.ndarray) -> None:
        team.run(self.module.assemble, psd, position_rows(x), self._table(block), self.places, self.buffer, values)

    def _table(self, block: Block) -> ElementTable:
        if self.sizes is not None:
            own = self.sizes(block)
            self.table.sizes[: len(own)] = own
        return self.table


@dataclass
class OtherTerm:
    """Elements of another kind."""

    number: int
    places: Places
    source: NumpyElements

    def energy(self, block: Block, x: np.ndarray, team: Team) -> float:
        """[J]."""
        return self.source.energy(block, x, team)

    def gradient(self, block: Block, x: np.ndarray, team: Team) -> np.ndarray:
        """dE/dx (n, 3) [N]."""
        return self.source.gradient(block, x, team)

    def add_hessians(self, block: Block, x: np.ndarray, psd: bool, team: Team, values: np.ndarray) -> None:
        rows = position_rows(x)
        for chunk in range(len(self.places.chunk_start) - 1):
            part = slice(chunk * CHUNK, min((chunk + 1) * CHUNK, len(block.elements)))
            buffer = self.source.hessians(block, x, rows, part, psd, team)
            team.run(cached(add_to_blocks), chunk, self.places, buffer, values)


@dataclass
class AssembledPotential(Work):
    """The matrix of the vertices that may move, in the scene's order, and all that is needed to fill it."""

    pattern: BlockPattern
    vertices: np.ndarray  # (rows,) that may move
    projection: sp.csr_matrix | None  # onto the free directions, if some vertices are held to lines or planes
    terms: list[LawTerm | OtherTerm]
    team: Team
    values: np.ndarray  # (blocks, 3, 3) [N/m]
    edge: float  # typical length of an element [m]
    refresh_below: float = np.inf  # residual [m/s^2] of the contacts as they are held below which they are refreshed
    changes: np.ndarray | None = None  # (contacts,) [N] ways to their new values that friction limits had before them
    part: float = 1.0  # of these ways that they went
    least: float = np.inf  # residual [m/s^2] of the step so far
    idle: int = 0  # iterations at rounding since it has halved
    _grouped: Grouped | None = None

    def forget(self) -> None:
        """The potential has changed."""
        self.refresh_below, self.least, self.idle = np.inf, np.inf, 0
        self.changes, self.part = None, 1.0

    def has_settled(self, problem: IncrementalPotential, x: np.ndarray, residual: float) -> bool:
        """Whether rounding alone moves x (n, 3): the residual [m/s^2] is no larger than what stiffness makes of the
        rounding of positions, and three iterations have not halved it.
        """
        if residual <= 0.5 * self.least:
            self.least, self.idle = residual, 0
        elif residual * float(np.sum(problem.model.mass[self.vertices])) <= self._rounding * float(np.abs(x).max()):
            self.idle += 1
        return self.idle >= IDLE

    def refresh_if_due(self, problem: IncrementalPotential, x: np.ndarray, tolerance: float) -> tuple[float, bool]:
        """Residual at x (n, 3) [m/s^2], and whether it is that of contacts that are up to date there.

        Friction limits, closest points and normals are held until the residual has fallen to a part of what it was
        after the last refresh, or to the tolerance [m/s^2]. Limits that overshoot (a ball that friction turns
        lifts itself off the points it presses on) go a part of the way to their new values, by how the last refresh
        changed these ways (Irons and Tuck 1969), and what is returned is the residual of that.
        """
        residual = problem.residual_of(self.gradient(problem, x))
        if problem.contacts is None or not problem.contacts.count:
            return residual, True
        if residual > max(self.refresh_below, tolerance):
            return residual, False
        limits = problem.contacts.friction_limits
        before = limits.copy()
        problem.refresh_contacts(x)
        residual = problem.residual_of(self.gradient(problem, x))
        changes = limits - before
        if self.changes is not None:
            apart = self.changes - changes
            along, square = float(self.changes @ apart), float(apart @ apart)
            self.part = min(max(self.part * along / square, LEAST_PART), 1.0) if square > 0 and along > 0 else 1.0
        self.changes = changes
        is_partial = self.part < 1 and residual > tolerance and np.abs(changes).max() > SAME * limits.max()
        if is_partial:
            limits -= (1 - self.part) * changes
            residual = problem.residual_of(self.gradient(problem, x))
        self.refresh_below = HELD_PART * residual
        return residual, not is_partial

    def energy(self, problem: IncrementalPotential, x: np.ndarray) -> float:
        """G [J], as that of the problem."""
        d, moved = x - problem.y, x - problem.x_prev
        own = 0.5 * float(np.sum(problem.inertia * np.einsum("na,na->n", d, d)))
        damping = 0.5 * float(np.sum(np.einsum("nab,nb->na", problem.damping_blocks, moved) * moved))
        elements = sum(term.energy(*_seen(problem, term, x), self.team) for term in self.terms)
        return own + damping + elements + (0.0 if problem.contacts is None else problem.contacts.energy(x))

    def grouped(self, x: np.ndarray) -> Grouped:
        """Aggregates of the vertices that may move, found when first asked for, at positions x (rows, 3)."""
        if self._grouped is None:
            self._grouped = group_rows(x, self.pattern.start, self.pattern.column)
        return self._grouped

    @property
    def noise(self) -> float:
        """Differences of energy [J] below this are rounding: terms of the energy are as large as the stiffness of the
        last Hessian times a length squared, however small their sum.
        """
        return self._rounding * self.edge**2

    @property
    def _rounding(self) -> float:
        """[N/m] machine epsilons of the stiffness of all vertices in the last Hessian."""
        stiffness = float(np.einsum("naa->", self.values[self.pattern.diagonal])) / 3
        return NOISE * float(np.finfo(float).eps) * stiffness

    def gradient(self, problem: IncrementalPotential, x: np.ndarray) -> np.ndarray:
        """dG/dx (n, 3) [N], along the directions in which vertices may move."""
        g = problem.inertia[:, None] * (x - problem.y)
        g += np.einsum("nab,nb->na", problem.damping_blocks, x - problem.x_prev)
        for term in self.terms:
            g += term.gradient(*_seen(problem, term, x), self.team)
        return problem.project(g if problem.contacts is None else g + problem.contacts.gradient(x))

    def hessian(self, problem: IncrementalPotential, x: np.ndarray, psd: bool = False) -> sp.bsr_matrix:
        """d2G/dx2 by the vertices that may move [N/m]; its values are overwritten by the next call.

        With psd, each element's part is made positive semidefinite. In directions in which a vertex is held the matrix
        is its inertia, so that solutions do not move it along them.
        """
        self.fill(problem, x, psd)
        self.values[self.pattern.diagonal] += problem.damping_blocks[self.vertices]
        size = 3 * self.pattern.row_count
        H = sp.bsr_matrix((self.values, self.pattern.column, self.pattern.start), shape=(size, size))
        if problem.contacts is not None and problem.contacts.count:
            touching = problem.contacts.hessian(x)
            free = (3 * self.vertices[:, None] + np.arange(3)).ravel()
            H = H + touching[free][:, free].tobsr((3, 3))
        return H if self.projection is None else self._held(H, problem.inertia[self.vertices])

    def fill(self, problem: IncrementalPotential, x: np.ndarray, psd: bool = False) -> None:
        """Let `values` be inertia and elements: the Hessian without damping, contacts and holds."""
        self.values[:] = 0.0
        self.values[self.pattern.diagonal] = problem.inertia[self.vertices, None, None] * np.eye(3)
        for term in self.terms:
            term.add_hessians(*_seen(problem, term, x), psd, self.team, self.values)

    def _held(self, H: sp.bsr_matrix, inertia: np.ndarray) -> sp.bsr_matrix:
        held = sp.identity(H.shape[0], format="csr") - self.projection
        return (self.projection @ H @ self.projection + held.multiply(np.repeat(inertia, 3)[:, None])).tobsr((3, 3))


def _seen(problem: IncrementalPotential, term: LawTerm | OtherTerm, x: np.ndarray) -> tuple[Block, np.ndarray]:
    """A term's block and what it depends on: positions, or displacements if it is viscous."""
    block = problem.blocks[term.number]
    return block, x - problem.x_prev if block.is_viscous else x


def build_assembly(problem: IncrementalPotential, execution: Execution) -> AssembledPotential:
    """Pattern, tables and compiled code for a scene."""
    model = problem.model
    vertices = np.flatnonzero(model.is_free)
    row_of_vertex = np.full(model.n_vertices, -1)
    row_of_vertex[vertices] = np.arange(len(vertices))
    elements = [block.elements for block in problem.blocks]
    pattern = find_pattern(elements, row_of_vertex)
    terms = [
        term for number, block in enumerate(problem.blocks) for term in _terms(number, block, pattern, row_of_vertex)
    ]
    team = execution.team(sum(map(len, elements)), ELEMENTS_A_THREAD)
    values = np.zeros((len(pattern.column), 3, 3))
    return AssembledPotential(
        pattern, vertices, _projection(problem, vertices), terms, team, values, typical_edge(model)
    )


def _terms(number: int, block: Block, pattern: BlockPattern, row_of_vertex: np.ndarray) -> list[LawTerm | OtherTerm]:
    make = partial(_law_term, number, block, pattern, row_of_vertex)
    if isinstance(block, Solids) and isinstance(block, Converted):
        return [
            make(TET, block.volumes, block.law, block.parameters, lambda b: (1 - b.interpolants) * b.volumes),
            make(TET, block.volumes, ARAP, block.conversion[:, 3:], lambda b: b.interpolants * b.volumes),
        ]
    if isinstance(block, Solids):
        return [make(TET, block.volumes, block.law, block.parameters)]
    if isinstance(block, Sheets):
        return [make(TRIANGLE, block.areas, block.law, block.parameters)]
    source = source_of(block)
    return [OtherTerm(number, places_in_lanes(pattern, block.elements, row_of_vertex, source.width), source)]


def _law_term(
    number: int, block: Any, pattern: BlockPattern, row_of_vertex: np.ndarray, shape: Shape, sizes: np.ndarray,
    law: type, parameters: np.ndarray, changing: Callable[[Any], np.ndarray] | None = None,
) -> LawTerm:  # fmt: skip
    width, code = default_width("double"), law_code(law)
    return LawTerm(
        number,
        assembly_module(shape, code.name, code.text, code.has_barrier, parameters.shape[1], width),
        element_table(block.elements, block.gradients, sizes, parameters, width),
        places_in_lanes(pattern, block.elements, row_of_vertex, width),
        np.empty(shape.buffer_size(width)),
        width,
        changing,
    )


def _projection(problem: IncrementalPotential, vertices: np.ndarray) -> sp.csr_matrix | None:
    """Block-diagonal, of the directions in which vertices may move."""
    model = problem.model
    if (model.subspace[vertices] == 3).all():
        return None
    axes = [model.project(np.tile(axis, (model.n_vertices, 1)))[vertices] for axis in np.eye(3)]
    n = len(vertices)
    return sp.bsr_matrix((np.stack(axes, axis=2), np.arange(n), np.arange(n + 1)), shape=(3 * n, 3 * n)).tocsr()
