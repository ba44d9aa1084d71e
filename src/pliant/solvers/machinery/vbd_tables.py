"""What solvers in lanes keep from step to step: packs, link walks, vertex numbers, threads and the compiled kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.geometry import colour_vertices, spatial_order, vertex_graph
from pliant.kernels.body_contacts import read_positions_and_poses, write_positions_and_poses
from pliant.kernels.packs import Packs, arrange, inherit, needs_wide_pack, spread, with_copies, with_spares
from pliant.kernels.sharing import ColourShares
from pliant.kernels.sweep_source import Variant, Vertices, sweep_module
from pliant.kernels.threads import Team, new_barrier
from pliant.kernels.transfer import read_positions, to_lanes, write_positions
from pliant.lanes.host import default_width
from pliant.lanes.types import DTYPES
from pliant.model import CARRIED, Model
from pliant.model.tearing import TopologyChange
from pliant.model.topology import Topology
from pliant.solvers.contract import Execution, Momentum, Work
from pliant.solvers.machinery.descent_work import DescentWork, load_target, middle_of_motion
from pliant.solvers.machinery.vbd_bodies import BodyTables, without_padding
from pliant.solvers.machinery.vbd_contacts import VISITS, ContactTables
from pliant.solvers.machinery.vbd_terms import InternalStateSlots, Refresh, VertexLoad, make_terms
from pliant.solvers.machinery.vbd_updates import update_lists

SOLVE_WORK = 3.0  # what the solve of a pack costs, in entries of its lists
ENTRIES_A_THREAD = 16000  # fewer are solved sooner by one thread than by two that wait for each other


class PackedWork(Work, ABC):
    """A work object with tables in the order of packs, so that accelerators measure energies with them."""

    @property
    @abstractmethod
    def packed_tables(self) -> Tables:
        """The tables."""


@dataclass
class Tables(PackedWork, DescentWork):
    """All arrays of the solver, in the order of packs."""

    packs: Packs
    shares: ColourShares
    vertices: Vertices
    terms: tuple[Any, ...]  # links and parameters of each law in turn
    module: ModuleType
    team: Team
    x: np.ndarray  # (rows, 4) positions relative to the origin
    held: np.ndarray  # (k,) vertices that do not move, in ascending order
    singular: np.ndarray  # (threads,) singular blocks in the last iteration
    is_damped: bool
    internal_states: tuple[InternalStateSlots | None, ...]  # of each block of the model
    refreshes: tuple[tuple[int, Refresh], ...]  # number of a block, and what takes up its numbers
    tables_of_blocks: tuple[dict[str, Any], ...]  # `terms` by name, block by block
    contacts: ContactTables | None = None
    bodies: BodyTables | None = None
    origin: np.ndarray = field(default_factory=lambda: np.zeros(3))  # [m] of the step, in double precision
    momentum_is_fresh: bool = True
    potential_number: int = 0  # counts how often contacts have changed
    _earlier: tuple[np.ndarray, np.ndarray] | None = field(default=None, repr=False)

    @property
    def packed_tables(self) -> Tables:
        return self

    @property
    def no_rows(self) -> np.ndarray:
        return self.x[:0]

    @property
    def tables(self) -> tuple[Any, ...]:
        """What a kernel takes after the vertices."""
        others = [part.rows for part in (self.contacts, self.bodies) if part is not None]
        return (*self.terms, *others)

    @property
    def singular_blocks(self) -> int:
        return int(self.singular.sum())

    @property
    def has_internal_states(self) -> bool:
        return any(slots is not None for slots in self.internal_states)

    def begin_step(self, problem: IncrementalPotential) -> None:
        """Load the step's inertial target and other numbers, and measure its damping."""
        packs, target = self.packs, load_target(problem)
        if self.x.dtype != problem.y.dtype:
            self.origin[:] = middle_of_motion(problem)
        for k, refresh in self.refreshes:
            refresh(problem.blocks[k], packs, self.origin)
        to_lanes(target - self.origin, packs.vertex_of_row, packs.is_wide, packs.width, self.vertices.target)
        self.momentum_is_fresh = True
        if self.bodies is not None:
            self.bodies.begin_step(problem, self.origin)
        if self.contacts is not None:
            self.contacts.begin_step(problem.x_start, self.origin)
            self.update_contacts(problem)
        if self.is_damped:
            self.load_internal_state(problem.model)
            before = problem.x_prev - self.origin
            to_lanes(before, packs.vertex_of_row, packs.is_wide, packs.width, self.vertices.x_prev)
            self.read(problem.x_prev)
            self.team.run(self.module.measure_damping, self.x, self.vertices, *self.tables)

    def update_contacts(self, problem: IncrementalPotential) -> None:
        """Take up what was detected last."""
        if self.contacts is not None:
            self.contacts.load(problem.contacts, self.team)
            self.potential_number += 1
            if self.bodies is not None:
                self.bodies.load_contacts(self.contacts.rows)

    @contextmanager
    def visiting_contacts(self, times: int) -> Iterator[None]:
        """Let contacts of a vertex be asked so often in an iteration, until they are the same."""
        if self.contacts is None:
            yield
            return
        self.contacts.rows.visits[0] = times
        try:
            yield
        finally:
            self.contacts.rows.visits[0] = VISITS

    def iterate(self, problem: IncrementalPotential, x: np.ndarray, n: int, momentum: Momentum | None) -> None:
        """n iterations in one compiled call."""
        self._load(problem, x)
        self.load_internal_state(problem.model)
        omegas, earlier = no_factors(n), (self.no_rows, self.no_rows)
        if momentum is not None:
            omegas, earlier = momentum.next(n), self.momentum()
        arrays = (self.singular, self.x, self.vertices, *self.tables)
        self.singular[:] = 0
        self.team.run(self.module.sweep, omegas, *earlier, *arrays, amount=n, shares=self.shares)
        self._save(problem, x)
        self.save_internal_state(problem.model)

    def read(self, x: np.ndarray) -> None:
        """Positions (n, 3) of the scene's vertices to the solver's rows."""
        packs = self.packs
        read_positions(x, self.origin, packs.vertex_of_row, packs.is_wide, packs.width, self.x)

    def write(self, x: np.ndarray) -> None:
        """The solver's rows to positions (n, 3) of the scene's vertices; those that are held stay in place."""
        write_positions(self.x, self.origin, self.packs.row_of_vertex, self.held, x)

    def _load(self, problem: IncrementalPotential, x: np.ndarray) -> None:
        """`read`, and take over the poses of rigid bodies."""
        if self.bodies is None:
            return self.read(x)
        packs, own = self.packs, self.bodies.rows
        ways = (self.origin, packs.vertex_of_row, packs.is_wide, packs.width, self.x)
        read_positions_and_poses(x, *ways, problem.poses, own.poses, own.R)

    def _save(self, problem: IncrementalPotential, x: np.ndarray) -> None:
        """`write`, and hand on the poses of rigid bodies and the positions of their points."""
        carried = problem.model.carried
        if self.bodies is None or carried is None:
            return self.write(x)
        ways = (self.x, self.origin, self.packs.row_of_vertex, self.held, x)
        write_positions_and_poses(*ways, self.bodies.rows.poses, carried.rows, problem.poses)

    def compile(self) -> None:
        """Compile now, or load what is compiled, so that no step has to."""
        alone, barrier, no_iterations = (0, 1), new_barrier(), np.ones(0)
        earlier = (self.no_rows, self.no_rows)
        arrays = (self.singular, self.x, self.vertices, *self.tables)
        self.module.sweep(*alone, barrier, self.shares(1), no_iterations, *earlier, *arrays)
        if self.is_damped:
            self.module.measure_damping(*alone, barrier, self.x, self.vertices, *self.tables)

    def update_topology(self, problem: IncrementalPotential, change: TopologyChange) -> bool:
        """Take up a torn scene: new vertices go to spare rows, and lists change only where elements do.

        Whether there was room; if not, the tables are of no more use.
        """
        packs = with_copies(self.packs, change.parents)
        if packs is None:
            return False
        for block, edit, tables in zip(problem.blocks, change.edits, self.tables_of_blocks, strict=True):
            if not update_lists(packs, tables, block, edit, change.parents):
                return False
        self.packs = packs
        self.vertices.inertia[:] = spread(packs, problem.inertia, self.x.dtype, padding=1.0)
        if self.is_damped:
            inherit(packs, self.vertices.damping_rate, change.parents)
        self.shares.update(packs)
        if self.contacts is not None:
            self.contacts.packs = packs
        return True

    def load_internal_state(self, model: Model) -> None:
        """Take over the internal states of the model's elements."""
        if not self.has_internal_states:
            return
        for slots, block in zip(self.internal_states, model.blocks, strict=True):
            if slots is not None:
                slots.load(block)

    def save_internal_state(self, model: Model) -> None:
        """Write the internal states back to the model's elements."""
        if not self.has_internal_states:
            return
        for slots, block in zip(self.internal_states, model.blocks, strict=True):
            if slots is not None:
                slots.save(block)

    def momentum(self) -> tuple[np.ndarray, np.ndarray]:
        """Iterates n - 1 and n - 2 (rows, 4); both are x at the beginning of a step."""
        if self._earlier is None:
            self._earlier = (np.empty_like(self.x), np.empty_like(self.x))
        if self.momentum_is_fresh:
            for iterate in self._earlier:
                iterate[:] = self.x
            self.momentum_is_fresh = False
        return self._earlier


@cache
def no_factors(n: int) -> np.ndarray:
    """Equation 19's factors of n iterations without momentum."""
    return np.ones(n)


def build_tables(
    problem: IncrementalPotential,
    execution: Execution,
    line_search: bool,
    psd: bool,
    width: int | None = None,
    in_turn: bool = True,
    hard_contact: bool = False,
) -> Tables:
    """Colour the vertices, sort them into packs, list their elements, and get the kernel.

    in_turn: whether the solver moves one colour after another.  hard_contact: whether contacts have multipliers.
    """
    model = problem.model
    width = width or default_width(execution.precision)
    dtype = DTYPES[execution.precision]
    n = model.n_vertices
    elements = [block.elements for block in model.blocks]
    graph = vertex_graph(elements, n)
    near = [] if problem.contacts is None else [problem.contacts.neighbours]
    colours = vertex_colours(model, graph, near)
    colour_count = int(colours.max(initial=-1)) + 1
    carrier = np.full(n, -1)
    if model.carried is not None:
        carrier[model.carried.points] = model.carried.body
    place = np.empty(n, np.int64)
    place[spatial_order(model.positions)] = np.arange(n)
    elements_of = sum((np.bincount(corners.ravel(), minlength=n) for corners in elements), np.zeros(n, np.int64))
    wide = needs_wide_pack(elements_of, width)
    terms = make_terms(problem.blocks, VertexLoad(elements_of, wide, width))
    lengths = sum((term.lengths for term in terms), np.zeros(n, np.int64))
    packs = arrange(colours, lengths, wide, model.subspace, place, width, colour_count, carrier)
    if model.topology is not None:
        packs = with_spares(packs, _spares(model.topology, colours, colour_count, width))

    built = [term.build(packs, dtype) for term in terms]
    diagonal = sum((term.diagonal for term in built), np.zeros(n))
    lists = [term.tables[name] for term in built for name in term.lists]
    work_of_pack = sum((np.diff(table.start) for table in lists), np.full(packs.pack_count, SOLVE_WORK))
    damped = bool(model.vertex_damping.any())
    viscous = [term.viscous for term in built if term.viscous is not None]
    constrained = bool(((model.subspace > 0) & (model.subspace < 3)).any())
    nothing = np.zeros(0, dtype)
    team = execution.team(int(lengths.sum()), ENTRIES_A_THREAD)
    vertices = Vertices(
        packs.is_wide,
        packs.subspace,
        spread(packs, problem.inertia, dtype, padding=1.0),
        spread(packs, diagonal, dtype),
        np.zeros(3 * packs.pack_count * width, dtype),
        np.zeros(3 * packs.pack_count * width, dtype) if damped else nothing,
        np.zeros(6 * packs.pack_count * width, dtype) if damped else nothing,
        spread(packs, model.vertex_damping / problem.h, dtype) if damped else nothing,
        spread(packs, np.sum(viscous, axis=0), dtype) if viscous else nothing,
        spread(packs, model.directions, dtype, padding=3**-0.5) if constrained else nothing,
    )
    without_padding(packs, vertices.inertia)
    sources = tuple(term.source for term in terms)
    touching = problem.contacts is not None
    flags = (
        constrained,
        damped,
        bool(viscous),
        line_search,
        psd,
        touching,
        model.carried is not None,
        touching & hard_contact,
    )
    module = sweep_module(Variant(execution.precision, width, sources, *flags))
    contacts = ContactTables(packs, dtype, in_turn) if touching else None
    bodies = None if model.carried is None else BodyTables(problem, packs, team.threads)
    x = np.zeros((len(packs.vertex_of_row), 4), dtype)
    shares = ColourShares(packs, work_of_pack, graph, team.threads)
    singular = np.zeros(team.threads, np.int64)
    internal_states = tuple(term.internal_state for term in built)
    tables = tuple(
        table for source, term in zip(sources, built, strict=True) for table in source.arguments(term.tables)
    )
    refreshes = tuple((k, term.refresh) for k, term in enumerate(built) if term.refresh is not None)
    by_block = tuple(term.tables for term in built)
    kept = (singular, damped, internal_states, refreshes, by_block, contacts, bodies)
    work = Tables(packs, shares, vertices, tables, module, team, x, model.fixed, *kept)
    work.compile()
    return work


def vertex_colours(model: Model, graph: tuple[np.ndarray, np.ndarray], near: Sequence[np.ndarray] = ()) -> np.ndarray:
    """(n,) colours from 0 on without gaps, -1 for vertices that are held or carried by a rigid body; graph: neighbours
    (geometry.vertex_graph); near: pairs (k, 2) that are to have different ones too.
    """
    near = [pairs for pairs in near if len(pairs)]
    if near:
        graph = vertex_graph([block.elements for block in model.blocks] + near, model.n_vertices)
    moves = model.is_free & (model.subspace != CARRIED)
    return _dense(np.where(moves, _colours(model, graph), -1))


def _colours(model: Model, graph: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """(n,) colours; vertices that tearing has added have those of the vertices they were (VBD 3.9)."""
    if model.topology is None:
        return colour_vertices(*graph)
    whole = model.topology.tear_topology
    return colour_vertices(*vertex_graph(list(whole.elements), int(whole.body_start[-1])))[model.topology.origin]


def _spares(topology: Topology, colours: np.ndarray, colour_count: int, width: int) -> np.ndarray:
    """(colours,) spare packs: half as many rows as there are vertices that can be split."""
    tear_topology = topology.tear_topology
    can_split = np.zeros(int(tear_topology.body_start[-1]), bool)
    can_split[tear_topology.corners[np.isfinite(tear_topology.limits)]] = True
    counts = np.bincount(colours[can_split[topology.origin] & (colours >= 0)], minlength=colour_count)
    return -(-counts // (2 * width))


def _dense(colours: np.ndarray) -> np.ndarray:
    """Colours without gaps: a colour whose vertices are all fixed is no colour."""
    used = np.unique(colours[colours >= 0])
    return np.where(colours >= 0, np.searchsorted(used, colours), -1)
