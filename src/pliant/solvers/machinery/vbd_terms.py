"""How blocks of elements enter vertex block descent: lists of their vertices, tables, lines of kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from pliant.elements.conversion import with_stiffness
from pliant.elements.element import Element
from pliant.elements.registry import element_of
from pliant.geometry.links import walk_links
from pliant.kernels.element_lists import LawText, incidences_of, list_source
from pliant.kernels.links import longest_paths, spread_over_entries
from pliant.kernels.lists import build_lists, list_lengths
from pliant.kernels.packs import Packs, spread
from pliant.kernels.patches_invertible import PatchPacks, invertible_patch_source, patch_packs
from pliant.kernels.pressure import PRESSURE_SOURCE, pressure_incidences
from pliant.kernels.term_source import TermSource
from pliant.kernels.tets_general import general_links, general_source
from pliant.kernels.tets_invertible import TetPacks, invertible_source, load_interpolants, tet_packs
from pliant.kernels.tets_volumetric import volumetric_links, volumetric_source
from pliant.kernels.transfer import to_rows
from pliant.kernels.yarn_lists import YARN_SOURCE, triangle_lists, yarn_around
from pliant.materials.calculus import law_code
from pliant.materials.proportional import is_proportional
from pliant.model import Block, InvertibleSolids, Pairs, PlateSquares, Pressures, Solids, YarnTriangles
from pliant.model.blocks import InvertiblePatches, PatchTets
from pliant.solvers.machinery.summed_squares import SUMMED, summed_pairs, with_room


class VertexLoad(NamedTuple):
    """How many elements the vertices have, and which of them get a pack of their own."""

    elements_of: np.ndarray  # (n,)
    wide: np.ndarray  # (n,)
    width: int


class InternalStateSlots(NamedTuple):
    """Where a term keeps the internal state of its elements."""

    elements: TetPacks | PatchPacks
    by_entry: np.ndarray

    def load(self, block: Any) -> None:
        """Take the block's internal state."""
        load_interpolants(block.interpolants, self.elements.interpolants, self.elements.slots, self.by_entry)

    def save(self, block: Any) -> None:
        """Write to the block's internal state."""
        block.interpolants[:] = self.elements.interpolants[: len(block.interpolants)]


#: Of a step's block, the packs, and the origin (3,) [m] that positions in the tables are relative to.
Refresh = Callable[[Any, Packs, np.ndarray], None]


class PackedTerm(NamedTuple):
    """A term in the order of packs."""

    tables: dict[str, Any]  # by the names that its source has for them, without _K
    lists: tuple[str, ...]  # which of them are lists
    diagonal: np.ndarray  # (n,) constant part of its Hessian [N/m]
    internal_state: InternalStateSlots | None = None
    viscous: np.ndarray | None = None  # (n,) the same of a term that is viscous
    refresh: Refresh | None = None  # writes the numbers of a step's block into the tables


class Term(Protocol):
    """A block as vertex block descent sees it."""

    lengths: np.ndarray  # (n,) entries in the list of each vertex

    def __init__(self, block: Any, load: VertexLoad): ...

    @property
    def source(self) -> TermSource: ...

    def build(self, packs: Packs, dtype: Any) -> PackedTerm: ...


class SolidTerm:
    """Tets, walked along the links of the vertices."""

    def __init__(self, block: Solids, load: VertexLoad):
        self.code = law_code(block.law)
        self.block = self.with_rest_volumes(block)
        self.walks = walk_links(block.tets, len(load.wide), longest_paths(*load))
        self.lengths = np.diff(self.walks.start)
        self.varies = vary_at_vertices(block.tets, self.numbers, len(load.wide))

    def with_rest_volumes(self, block: Any) -> Any:
        """The same energy with volumes of the shape at rest, where that is possible."""
        return block

    @property
    def numbers(self) -> np.ndarray:
        """(m, p) what the law takes."""
        return self.block.parameters

    @property
    def takes_fast_path(self) -> bool:
        """Whether J comes from the volume of the tet at rest, without a deformation gradient."""
        return self.code.is_volumetric

    @property
    def source(self) -> TermSource:
        return self._source_of(volumetric_source if self.takes_fast_path else general_source)

    def _source_of(self, path: Callable[..., TermSource]) -> TermSource:
        code = self.code
        return path(code.name, code.text, self.block.parameters.shape[1], code.has_barrier, self.varies)

    def build(self, packs: Packs, dtype: Any) -> PackedTerm:
        block, n = self.block, len(packs.row_of_vertex)
        rest = (block.tets, block.gradients, block.volumes)
        parameters = self._parameters(packs, dtype)
        if self.takes_fast_path:
            shear = self.code.functions.shear_weight(*block.parameters.T)
            links, diagonal = volumetric_links(packs, self.walks, *rest, shear, dtype)
        else:
            links, diagonal = general_links(packs, self.walks, *rest, dtype), np.zeros(n)
        return PackedTerm({"links": links, "parameters": parameters}, ("links",), diagonal)

    def _parameters(self, packs: Packs, dtype: Any) -> np.ndarray:
        """By vertex; by entry of the walks where tets at one vertex differ."""
        if self.varies:
            return spread_over_entries(packs, self.walks, self.numbers, dtype)
        return spread_parameters(packs, self.block.tets, self.numbers, dtype)


class WeightedTerm(SolidTerm):
    """Tets of patches, whose volumes are weights of the energy. Laws that are proportional to their parameters take the
    weights into these, and so the fast path; others the general one.
    """

    block: PatchTets

    def with_rest_volumes(self, block: Any) -> Any:
        if not self.code.is_volumetric or not is_proportional(self.code, block.parameters):
            return block
        part = block.stabilisation
        return replace(block, volumes=block.volumes / part, parameters=part[:, None] * block.parameters)

    @property
    def takes_fast_path(self) -> bool:
        return self.code.is_volumetric and is_proportional(self.code, self.block.parameters)


class InvertibleTerm(SolidTerm):
    """Tets whose law is converted where they are crushed or inverted: the general path, whatever the law."""

    block: InvertibleSolids

    @property
    def numbers(self) -> np.ndarray:
        return with_stiffness(self.block)

    @property
    def source(self) -> TermSource:
        return self._source_of(invertible_source)

    def build(self, packs: Packs, dtype: Any) -> PackedTerm:
        block, n = self.block, len(packs.row_of_vertex)
        links = general_links(packs, self.walks, block.tets, block.gradients, block.volumes, dtype)
        by_entry = np.zeros(len(links.pushed), dtype)
        tets = tet_packs(packs, self.walks, block.tets, block.gradients, block.conversion[:, :3], dtype)
        tables = {"links": links, "interpolants": by_entry, "tets": tets, "parameters": self._parameters(packs, dtype)}
        return PackedTerm(tables, ("links",), np.zeros(n), InternalStateSlots(tets, by_entry))


class ListTerm:
    """Elements in plain lists, one or more for each vertex, as their Element describes them."""

    def __init__(self, block: Any, load: VertexLoad):
        self.block, self.element = block, element_of(block)
        self.varies = self.element.has_law and vary_at_vertices(block.elements, self.numbers, len(load.wide))
        self.incidences = incidences_of(self.element, block, self.numbers if self.varies else None)
        counts = [list_lengths(part.owner, load.wide, load.width) for part in self.incidences]
        self.lengths = np.sum(counts, axis=0)

    @property
    def numbers(self) -> np.ndarray:
        """(m, p) what the law takes."""
        return self.block.parameters

    @property
    def law(self) -> LawText:
        code = law_code(self.block.law)
        return LawText(code.name, code.text, self.numbers.shape[1], self.varies)

    @property
    def source(self) -> TermSource:
        return list_source(self.element, self.block, self.law if self.element.has_law else None)

    def build(self, packs: Packs, dtype: Any) -> PackedTerm:
        n = len(packs.row_of_vertex)
        tables: dict[str, Any] = {f"list{k}": build_lists(packs, own, dtype) for k, own in enumerate(self.incidences)}
        lists = tuple(tables)
        if self.element.has_law and not self.varies:
            tables["parameters"] = spread_parameters(packs, self.block.elements, self.numbers, dtype)
        diagonal = self.constant_diagonal(n)
        if self.element.sees_previous:
            previous = np.zeros((len(packs.vertex_of_row), 4), dtype)
            return PackedTerm(tables | {"previous": previous}, lists, diagonal, refresh=_writes_previous(previous))
        if self.element.places or self.element.changes:
            return PackedTerm(tables, lists, diagonal, refresh=_writes_numbers(self.element, tables, dtype))
        if self.block.is_viscous:  # no part of the elastic Hessian; what it pulls with is in the target (begin_step)
            return PackedTerm(tables, lists, np.zeros(n), viscous=diagonal)
        return PackedTerm(tables, lists, diagonal)

    def constant_diagonal(self, n: int) -> np.ndarray:
        """(n,) what its elements add to the diagonal of every corner's block, whatever the positions [N/m]."""
        if not self.element.diagonal:
            return np.zeros(n)
        own = np.repeat(getattr(self.block, self.element.diagonal), self.element.corners)
        return np.bincount(self.block.elements.ravel(), own, minlength=n)


class InvertiblePatchTerm(ListTerm):
    """Patches whose law is converted where they are crushed or inverted."""

    block: InvertiblePatches

    @property
    def numbers(self) -> np.ndarray:
        return with_stiffness(self.block)

    @property
    def source(self) -> TermSource:
        has_barrier = law_code(self.block.law).has_barrier
        return invertible_patch_source(self.element, self.block, self.law, has_barrier)

    def build(self, packs: Packs, dtype: Any) -> PackedTerm:
        built = super().build(packs, dtype)
        patches = patch_packs(packs, self.block, self.incidences[0], dtype)
        slots = InternalStateSlots(patches, built.tables["list0"].constants)
        return built._replace(tables=built.tables | {"patches": patches}, internal_state=slots)


class SummedSquaresTerm:
    """Squares of sheets that tear, summed up to weighted pairs."""

    def __init__(self, block: PlateSquares, load: VertexLoad):
        self.block, self.incidences = block, with_room(summed_pairs(block))
        self.lengths = list_lengths(self.incidences.owner, load.wide, load.width)

    @property
    def source(self) -> TermSource:
        return list_source(SUMMED, Pairs(self.incidences.others, self.incidences.constants[:, 0]))

    def build(self, packs: Packs, dtype: Any) -> PackedTerm:
        tables = {"list0": build_lists(packs, self.incidences, dtype)}
        return PackedTerm(tables, ("list0",), np.zeros(len(packs.row_of_vertex)))


def with_places_from(element: Element, block: Any, origin: np.ndarray) -> Any:
    """A block whose numbers that are points in space are relative to an origin (3,) [m]."""
    return replace(block, **{name: getattr(block, name) - origin for name in element.places})


def _writes_numbers(element: Element, tables: dict[str, Any], dtype: Any) -> Refresh:
    """Writes constants of lists again when they are places and the origin has moved, when elements were added, and
    when numbers that change from step to step have.
    """
    written: tuple = ()

    def refresh(block: Any, packs: Packs, origin: np.ndarray) -> None:
        nonlocal written
        values = [own.tobytes() for own in element.numbers_of(block)] if element.changes else []
        key = (*origin.tolist(), len(block.elements), *values)
        if written == key:
            return
        written = key
        moved = with_places_from(element, block, origin)
        for k, own in enumerate(incidences_of(element, moved)):
            tables[f"list{k}"].constants[:] = build_lists(packs, own, dtype).constants

    return refresh


def _writes_previous(rows: np.ndarray) -> Refresh:
    """Writes where the corners of a block of damping were at the start of the step to rows (r, 4)."""

    def refresh(block: Any, packs: Packs, origin: np.ndarray) -> None:
        x = np.zeros((len(packs.row_of_vertex), 3))
        x[block.elements] = block.previous - origin
        to_rows(x, packs.vertex_of_row, packs.is_wide, packs.width, rows)

    return refresh


class PressureTerm:
    """Closed surfaces under pressure, which may change from step to step."""

    source = PRESSURE_SOURCE

    def __init__(self, block: Pressures, load: VertexLoad):
        self.block, self.incidences = block, pressure_incidences(block.elements)
        self.lengths = list_lengths(self.incidences.owner, load.wide, load.width)

    def build(self, packs: Packs, dtype: Any) -> PackedTerm:
        n = len(packs.row_of_vertex)

        def at_vertices(block: Pressures) -> np.ndarray:
            return spread(packs, vertex_parameters(block.elements, block.pressures[:, None], n), dtype)

        pressures, written = at_vertices(self.block), self.block.pressures

        def refresh(block: Pressures, _: Packs, __: np.ndarray) -> None:
            nonlocal written
            if block.pressures is not written:
                pressures[:], written = at_vertices(block), block.pressures

        tables = {"surface": build_lists(packs, self.incidences, dtype), "pressures": pressures}
        return PackedTerm(tables, ("surface",), np.zeros(n), refresh=refresh)


class YarnTerm:
    """Triangles of yarn cloth, with the splines of their material."""

    source = YARN_SOURCE

    def __init__(self, block: YarnTriangles, load: VertexLoad):
        self.block, self.around = block, yarn_around(block)
        self.lengths = 2 * list_lengths(self.around[0].owner, load.wide, load.width)  # two triangles in each entry

    def build(self, packs: Packs, dtype: Any) -> PackedTerm:
        tables = {
            "list": build_lists(packs, self.around[0], dtype),
            "triangles": triangle_lists(self.block, self.around, packs, dtype),
            "table": self.block.material.table(dtype),
        }
        return PackedTerm(tables, ("list",), np.zeros(len(packs.row_of_vertex)))


#: By the path that an element takes.
PATHS: dict[str, type[Term]] = {
    "lists": ListTerm,
    "summed squares": SummedSquaresTerm,
    "tets": SolidTerm,
    "weighted tets": WeightedTerm,
    "invertible tets": InvertibleTerm,
    "patches": ListTerm,
    "invertible patches": InvertiblePatchTerm,
    "surface": PressureTerm,
    "yarn triangles": YarnTerm,
}


def make_terms(blocks: tuple[Block, ...], load: VertexLoad) -> list[Term]:
    return [PATHS[element_of(block).path](block, load) for block in blocks]


def vertex_parameters(elements: np.ndarray, parameters: np.ndarray, n: int) -> np.ndarray:
    """Parameters of the elements at each vertex (n, p). Vertices without any get those of the first element."""
    at_vertices = np.tile(parameters[0], (n, 1))
    at_vertices[elements] = parameters[:, None]
    return at_vertices


def vary_at_vertices(elements: np.ndarray, parameters: np.ndarray, n: int) -> bool:
    """Whether elements at one vertex differ in their parameters (m, p)."""
    return bool((vertex_parameters(elements, parameters, n)[elements] != parameters[:, None]).any())


def spread_parameters(packs: Packs, elements: np.ndarray, parameters: np.ndarray, dtype: Any) -> np.ndarray:
    """A law's parameters in the order of packs; missing vertices have some too, because a law may divide by them."""
    at_vertices = vertex_parameters(elements, parameters, len(packs.row_of_vertex))
    return spread(packs, at_vertices, dtype, padding=at_vertices[0])
