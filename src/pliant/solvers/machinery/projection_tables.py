"""What constraint solvers keep from step to step: packs of elements, rows of vertices, threads and the kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from pliant.elements.registry import element_of
from pliant.energies import IncrementalPotential
from pliant.geometry import spatial_order
from pliant.geometry.colouring import colour_elements
from pliant.geometry.strips import colour_tiles, single_strips, tet_strips, tiles_of_elements
from pliant.kernels.element_packs import ElementPacks, corner_starts, pack_elements
from pliant.kernels.projection_source import ProjectionVariant, projection_module
from pliant.kernels.strip_packs import StripPacks, pack_strips
from pliant.kernels.threads import Team, new_barrier
from pliant.kernels.transfer import from_rows
from pliant.lanes.host import default_width
from pliant.lanes.types import DTYPES
from pliant.model import Block, Model
from pliant.solvers.contract import Execution, Work
from pliant.solvers.machinery.projection_contacts import ProjectionContacts
from pliant.solvers.machinery.projection_sources import LaneSources, Sources

PACKS_A_TILE = 32  # fewer tiles have longer borders, more of them leave threads without work
ELEMENTS_A_THREAD = 4000  # fewer are corrected sooner by one thread than by two that wait for each other


@dataclass
class Constraints:
    """All elements of one kind, packed."""

    source: Any  # as the layout's sources write it: a ConstraintSource, on a device a CorrectionSource
    packs: ElementPacks | StripPacks
    corners: np.ndarray  # flat (packs, corners, width): where the rows of the corners begin
    numbers: np.ndarray  # what does not change within a step
    accumulated: np.ndarray  # multipliers or displacements of the elements within a step: zero at its start
    further: dict[str, Any] = field(default_factory=dict)  # tables that all elements share, by name
    refresh: Callable[[Model], None] | None = None  # writes numbers that change from step to step

    @property
    def tables(self) -> tuple[Any, ...]:
        """As the kernel takes them."""
        own = {"numbers": self.numbers, "accumulated": self.accumulated}
        return self.source.arguments(own | self.further)


@dataclass
class ProjectionWork(Work, ABC):
    """What a constraint solver keeps, wherever it runs. Vertices are in rows, neighbours in space near each other."""

    constraints: tuple[Constraints, ...]
    row_of_vertex: np.ndarray  # (n,)
    x: np.ndarray  # (n, 4) positions and h^2 / m, zero for vertices that are held
    start: np.ndarray  # (n, 4) positions at the start of the step; no rows if nothing needs them
    held: np.ndarray  # (n, 4) line or normal of a plane, and 1 or 2; no rows if there are none
    inverse_mass: np.ndarray  # (n,) h^2 / m of the scene's vertices, zero for those that are held [s^2/kg]
    contacts: ProjectionContacts | None
    shift: np.ndarray | None = field(default=None, init=False)  # (n, 3) change of the contacts' forces that
    # positions do not show yet [N]
    is_new_step: bool = field(default=True, init=False)

    @abstractmethod
    def iterate(self, n: int) -> None:
        """n iterations of the positions x."""

    def begin_step(self, problem: IncrementalPotential) -> None:
        """Forget the last step."""
        for constraint in self.constraints:
            constraint.accumulated[:] = 0
            if constraint.refresh is not None:
                constraint.refresh(problem.model)
        if len(self.start):
            self.start[self.row_of_vertex, :3] = problem.x_prev
        if self.contacts is not None:
            self.contacts.begin_step(problem.contacts, problem.x_start)
        self.is_new_step, self.shift = True, None

    def update_contacts(self, problem: IncrementalPotential) -> None:
        """Take up what was detected in the middle of a step."""
        if self.contacts is not None:
            change = self.contacts.exchange(problem.contacts)
            self.shift = change if self.shift is None else self.shift + change

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, n: int) -> None:
        """n iterations of positions x (n, 3) [m] of the scene's vertices."""
        if self.is_new_step:
            x[:] = inertial_start(problem)
            self.is_new_step = False
        if self.shift is not None:
            x += self.inverse_mass[:, None] * problem.project(self.shift)
            self.shift = None
        self.x[self.row_of_vertex, :3] = x
        self.iterate(n)
        from_rows(self.x, self.row_of_vertex, x)


@dataclass
class ProjectionTables(ProjectionWork):
    """All arrays of a constraint solver on the CPU."""

    module: ModuleType
    team: Team
    sums: np.ndarray  # (n, 4) corrections collected by Jacobi; no rows for Gauss-Seidel
    left: np.ndarray  # (threads,) elements the last iteration could not correct

    @property
    def singular_blocks(self) -> int:
        """Elements the last iteration could not correct."""
        return int(self.left.sum())

    def iterate(self, n: int) -> None:
        """n iterations in one compiled call."""
        self.left[:] = 0
        self.team.run(self.module.sweep, n, *self._arguments(), amount=n)

    def compile(self) -> None:
        """Compile now, or load what is compiled, so that no step has to."""
        self.module.sweep(0, 1, new_barrier(), 0, *self._arguments())

    def _arguments(self) -> list[Any]:
        tables = [(*c.packs.order, c.corners, *c.tables) for c in self.constraints]
        contacts = [] if self.contacts is None else [self.contacts.table]
        return [self.left, self.x, self.sums, self.start, self.held, *(a for t in tables for a in t), *contacts]


def inertial_start(problem: IncrementalPotential) -> np.ndarray:
    """Where constraint solvers must begin: the inertial target, held vertices in place (XPBD, Algorithm 1)."""
    x = problem.y.copy()
    constrained = (problem.model.subspace > 0) & (problem.model.subspace < 3)
    x[constrained] = (problem.x_prev + problem.project(problem.y - problem.x_prev))[constrained]
    return x


class Placement(NamedTuple):
    """Where the elements of one kind go. `packs` number placed elements, of which there may be more than elements."""

    packs: ElementPacks | StripPacks
    corners: np.ndarray  # flat: where the rows of the corners begin
    source: np.ndarray  # (placed,) the element that is placed
    slots: np.ndarray  # (placed, k) which of its corners is in which place
    share: np.ndarray  # (placed,) the part of its correction that each makes

    def of_elements(self, values: np.ndarray) -> np.ndarray:
        """Values (m, ...) of the elements for those placed."""
        return values[self.source]

    def of_corners(self, values: np.ndarray) -> np.ndarray:
        """Values (m, k, ...) of the elements' corners for those placed."""
        return values[self.source[:, None], self.slots]


@dataclass(frozen=True)
class Layout:
    """Where vertices and elements go, before their numbers are known."""

    model: Model
    h: float
    width: int
    dtype: Any
    row_of_vertex: np.ndarray
    inverse_mass: np.ndarray  # (n,) h^2 / m, zero for vertices that are held [s^2/kg]
    elements_of: np.ndarray  # (n,) number of elements at each vertex
    is_touching: bool  # whether there is contact
    sources: Sources  # what corrects elements, in the language of where they are

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What becomes constraints, which have damping of their own."""
        return tuple(block for block in self.model.blocks if not element_of(block).sees_previous)

    @property
    def is_damped(self) -> bool:
        return bool(self.model.damping.any())

    @property
    def is_constrained(self) -> bool:
        """Whether any vertex is held to a line or a plane."""
        return bool(((self.model.subspace > 0) & (self.model.subspace < 3)).any())

    def place(self, elements: np.ndarray, relaxation: float, jacobi: bool, are_tets: bool = False) -> Placement:
        """Packs of elements (m, k). The corners of tets may change places."""
        if self.sources.are_for_device:
            return self._in_one_pack(elements, relaxation)
        place = self._in_strips if jacobi else self._in_colours
        return place(elements, relaxation, are_tets)

    def _in_one_pack(self, elements: np.ndarray, relaxation: float) -> Placement:
        """For Jacobi on a device: each element once, as a lane of one pack of all."""
        m, k = elements.shape
        packs = ElementPacks(m, np.arange(m)[None], np.ones((1, m), bool), np.array([0, 1]))
        corners = corner_starts(packs, elements, self.row_of_vertex)
        slots = np.broadcast_to(np.arange(k), (m, k))
        return Placement(packs, corners, np.arange(m), slots, relaxation * self._share(elements))

    def _share(self, elements: np.ndarray) -> np.ndarray:
        """(m,) the part of its correction that an element (m, k) makes in Jacobi: divided by the largest number of
        elements at one of its vertices.

        Deviation: the papers average at each vertex, so that corners of an element follow it by different parts, and
        what it remembers (multiplier or displacement) is no longer what it did.  The same part for the whole element
        keeps them equal, and keeps momentum.
        """
        return 1 / self.elements_of[elements].max(axis=1)

    def _in_colours(self, elements: np.ndarray, relaxation: float, are_tets: bool) -> Placement:
        """For Gauss-Seidel: elements of a colour share no vertex."""
        m, k = elements.shape
        colours = colour_elements(elements, self.model.n_vertices)
        packs = pack_elements(colours, self.row_of_vertex[elements].mean(axis=1), self.width)
        corners = corner_starts(packs, elements, self.row_of_vertex)
        slots = np.broadcast_to(np.arange(k), (m, k))
        return Placement(packs, corners, np.arange(m), slots, np.full(m, relaxation))

    def _in_strips(self, elements: np.ndarray, relaxation: float, are_tets: bool) -> Placement:
        """For Jacobi: every lane of every row is an element of its own; those that repeat another have no share."""
        n, k = self.model.n_vertices, elements.shape[1]
        walk, tile = tiles_of_elements(elements, self.model.positions, PACKS_A_TILE * self.width)
        strips = tet_strips(elements, walk, tile, n) if are_tets else single_strips(elements, walk)
        packs = pack_strips(strips, k, tile, colour_tiles(elements, tile, n), self.width)
        source, vertices = packs.element.ravel(), packs.corners().reshape(-1, k)
        slots = (vertices[:, :, None] == elements[source][:, None, :]).argmax(axis=2)
        share = packs.is_first.ravel() * relaxation * self._share(vertices)
        packs = packs._replace(element=np.arange(len(source)).reshape(packs.element.shape))
        corners = np.ascontiguousarray(4 * self.row_of_vertex[packs.vertex], np.uint32).reshape(-1)
        return Placement(packs, corners, source, slots, share)


def lay_out(
    problem: IncrementalPotential, execution: Execution, width: int | None = None, sources: Sources | None = None
) -> Layout:
    """sources: None for the CPU."""
    model, h = problem.model, problem.h
    row_of_vertex = np.empty(model.n_vertices, np.int64)
    row_of_vertex[spatial_order(model.positions)] = np.arange(model.n_vertices)
    inverse_mass = np.where(model.is_free, 1 / problem.inertia, 0.0)
    elements_of = sum(
        np.bincount(block.elements.ravel(), minlength=model.n_vertices)
        for block in model.blocks
        if not element_of(block).sees_previous
    )
    width = width or default_width(execution.precision)
    dtype, touching = DTYPES[execution.precision], problem.contacts is not None
    of_vertices = (row_of_vertex, inverse_mass, np.asarray(elements_of))
    return Layout(model, h, width, dtype, *of_vertices, touching, LaneSources() if sources is None else sources)


def build_projection(
    layout: Layout, execution: Execution, solver: str, constraints: tuple[Constraints, ...], jacobi: bool
) -> ProjectionTables:
    """Rows of the vertices, threads, and the kernel."""
    sources = tuple(c.source for c in constraints)
    flags = (jacobi, layout.is_damped, layout.is_constrained, layout.is_touching)
    variant = ProjectionVariant(solver, execution.precision, layout.width, sources, *flags)
    team = execution.team(sum(c.packs.element.size for c in constraints), ELEMENTS_A_THREAD)
    tables = ProjectionTables(
        **rows_of(layout),
        constraints=constraints,
        module=projection_module(variant),
        team=team,
        sums=np.zeros((layout.model.n_vertices if jacobi else 0, 4), layout.dtype),
        left=np.zeros(team.threads, np.int64),
    )
    tables.compile()
    return tables


def rows_of(layout: Layout) -> dict[str, Any]:
    """What a ProjectionWork keeps of the vertices, by the names of its fields."""
    model, n = layout.model, layout.model.n_vertices

    def rows(are_needed: bool) -> np.ndarray:
        return np.zeros((n if are_needed else 0, 4), layout.dtype)

    x, held = rows(True), rows(layout.is_constrained)
    x[layout.row_of_vertex, 3] = layout.inverse_mass
    if layout.is_constrained:
        held[layout.row_of_vertex] = np.column_stack([model.directions, model.subspace])
    return {
        "row_of_vertex": layout.row_of_vertex,
        "x": x,
        "start": rows(layout.is_damped),
        "held": held,
        "inverse_mass": layout.inverse_mass,
        "contacts": ProjectionContacts(layout.row_of_vertex) if layout.is_touching else None,
    }


def movable(layout: Layout, elements: np.ndarray) -> np.ndarray:
    """(m,) which elements have a vertex that is not held: the others have nothing to correct."""
    return (layout.inverse_mass[elements] > 0).any(axis=1)
