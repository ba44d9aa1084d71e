"""What vertex block descent keeps from step to step: packs, link walks, vertex numbers, threads and the compiled
kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from pliant.geometry import colour_vertices, spatial_order, vertex_graph
from pliant.geometry.links import LinkWalks, walk_links
from pliant.kernels.links import Links, longest_paths
from pliant.kernels.packs import Packs, arrange, needs_wide_pack, spread
from pliant.kernels.sharing import Shares, share_out
from pliant.kernels.sweep_source import Variant, Vertices, sweep_module
from pliant.kernels.term_source import TermSource
from pliant.kernels.tets_general import general_links, general_source
from pliant.kernels.tets_volumetric import volumetric_links, volumetric_source
from pliant.kernels.threads import Team
from pliant.lanes.host import default_width
from pliant.lanes.types import DTYPES
from pliant.materials.calculus import law_code
from pliant.model import Model, Solids
from pliant.solvers.iterate import Execution

SOLVE_WORK = 3.0  # what the solve of a pack costs, in entries of its lists
TETS_A_THREAD = 4000  # fewer are solved sooner by one thread than by two that wait for each other


@dataclass
class Tables:
    """All arrays of the solver, in the order of packs."""

    packs: Packs
    shares: Shares
    vertices: Vertices
    terms: tuple[Any, ...]  # links and parameters of each law in turn
    module: ModuleType
    team: Team
    x: np.ndarray  # (rows, 4) positions
    singular: np.ndarray  # (threads,) singular blocks in the last iteration
    is_damped: bool
    momentum_is_fresh: bool = True
    _memory: tuple[np.ndarray, np.ndarray] | None = field(default=None, repr=False)

    @property
    def no_rows(self) -> np.ndarray:
        return self.x[:0]

    @property
    def singular_blocks(self) -> int:
        return int(self.singular.sum())

    def compile(self) -> None:
        """Compile now, or load what is compiled, so that no step has to."""
        alone, barrier, no_iterations = (0, 1), np.zeros(1, np.int64), np.ones(0)
        memory = (self.no_rows, self.no_rows)
        arrays = (self.singular, self.x, self.vertices, *self.terms)
        self.module.sweep(*alone, barrier, self.shares, no_iterations, *memory, *arrays)
        if self.is_damped:
            self.module.measure_damping(*alone, barrier, self.x, self.vertices, *self.terms)

    def momentum(self) -> tuple[np.ndarray, np.ndarray]:
        """Iterates n - 1 and n - 2 (rows, 4); both are x at the beginning of a step."""
        if self._memory is None:
            self._memory = (np.empty_like(self.x), np.empty_like(self.x))
        if self.momentum_is_fresh:
            for iterate in self._memory:
                iterate[:] = self.x
            self.momentum_is_fresh = False
        return self._memory

    @property
    def nbytes(self) -> int:
        """Memory of all arrays."""
        arrays = [
            *self.shares,
            *self.vertices,
            self.x,
            *(a for term in self.terms for a in (term if isinstance(term, tuple) else (term,))),
        ]
        arrays += [self.packs.vertex_of_row, self.packs.row_of_vertex, *(self._memory or ())]
        return sum(array.nbytes for array in arrays)


def build_tables(
    model: Model, h: float, execution: Execution, line_search: bool, psd: bool, width: int | None = None
) -> Tables:
    """Colour the vertices, sort them into packs, walk their links, and get the kernel."""
    width = width or default_width(execution.precision)
    dtype = DTYPES[execution.precision]
    n = model.n_vertices
    elements = [solids.tets for solids in model.solids]
    graph = vertex_graph(elements, n)
    colours = np.where(model.is_free, colour_vertices(*graph), -1)
    place = np.empty(n, np.int64)
    place[spatial_order(model.positions)] = np.arange(n)
    elements_of = np.sum([np.bincount(tets.ravel(), minlength=n) for tets in elements], axis=0)
    wide = needs_wide_pack(elements_of, width)
    walks = [walk_links(tets, n, longest_paths(elements_of, wide, width)) for tets in elements]
    lengths = np.sum([np.diff(walk.start) for walk in walks], axis=0)
    packs = arrange(_dense(colours), lengths, wide, model.subspace, place, width)

    diagonal = np.zeros(n)
    terms: list[Any] = []
    work_of_pack = np.full(packs.pack_count, SOLVE_WORK)
    for solids, walk in zip(model.solids, walks, strict=True):
        links, own_diagonal = _links(packs, walk, solids, dtype)
        diagonal += own_diagonal
        work_of_pack += np.diff(links.start)
        terms += [links, spread(packs, _vertex_parameters(solids, n), dtype)]
    damped = bool(model.damping.any())
    constrained = bool(((model.subspace > 0) & (model.subspace < 3)).any())
    nothing = np.zeros(0, dtype)
    threads = execution.thread_count(model.n_tets, TETS_A_THREAD)
    vertices = Vertices(
        packs.is_wide,
        packs.subspace,
        spread(packs, model.mass / h**2, dtype, padding=1.0),
        spread(packs, diagonal, dtype),
        np.zeros(3 * packs.pack_count * width, dtype),
        np.zeros(3 * packs.pack_count * width, dtype) if damped else nothing,
        np.zeros(6 * packs.pack_count * width, dtype) if damped else nothing,
        spread(packs, model.damping / h, dtype) if damped else nothing,
        spread(packs, model.directions, dtype, padding=3**-0.5) if constrained else nothing,
    )
    laws = tuple(_source(solids) for solids in model.solids)
    module = sweep_module(Variant(execution.precision, width, laws, constrained, damped, line_search, psd))
    x = np.zeros((len(packs.vertex_of_row), 4), dtype)
    shares = share_out(packs, work_of_pack, graph, threads)
    singular = np.zeros(threads, np.int64)
    tables = Tables(packs, shares, vertices, tuple(terms), module, Team(threads), x, singular, damped)
    tables.compile()
    return tables


def _dense(colours: np.ndarray) -> np.ndarray:
    """Colours without gaps: a colour whose vertices are all fixed is no colour."""
    used = np.unique(colours[colours >= 0])
    return np.where(colours >= 0, np.searchsorted(used, colours), -1)


def _links(packs: Packs, walk: LinkWalks, solids: Solids, dtype: Any) -> tuple[Links, np.ndarray]:
    rest = (solids.tets, solids.gradients, solids.volumes)
    code = law_code(solids.law)
    if code.is_volumetric:
        shear = code.functions.shear_weight(*solids.parameters.T)
        return volumetric_links(packs, walk, *rest, shear, dtype)
    return general_links(packs, walk, *rest, dtype), np.zeros(len(packs.row_of_vertex))


def _vertex_parameters(solids: Solids, n: int) -> np.ndarray:
    """The law's parameters at each vertex (n, p): a body has one material. Vertices of other laws get those of the
    first tet.
    """
    parameters = np.tile(solids.parameters[0], (n, 1))
    parameters[solids.tets] = solids.parameters[:, None]
    return parameters


def _source(solids: Solids) -> TermSource:
    code = law_code(solids.law)
    path = volumetric_source if code.is_volumetric else general_source
    return path(code.name, code.text, solids.parameters.shape[1], code.has_barrier)
