"""How each kind of element enters vertex block descent: the lists of its vertices, its tables, its lines of kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from pliant.geometry.adjacency import elements_at
from pliant.geometry.links import walk_links
from pliant.kernels.bounds import BOUNDS_SOURCE, bound_incidences
from pliant.kernels.hinges import HINGES_SOURCE, hinge_incidences
from pliant.kernels.joints import JOINTS_SOURCE, joint_incidences
from pliant.kernels.links import longest_paths
from pliant.kernels.lists import Incidences, build_lists, edit_lists, list_lengths, rewrite_lists
from pliant.kernels.packs import Packs, inherit, spread
from pliant.kernels.pairs import PAIRS_SOURCE, pair_incidences
from pliant.kernels.pressure import PRESSURE_SOURCE, pressure_incidences
from pliant.kernels.springs import SPRINGS_SOURCE, spring_incidences
from pliant.kernels.term_source import TermSource
from pliant.kernels.tets_general import general_links, general_source
from pliant.kernels.tets_invertible import TetPacks, invertible_source, load_interpolants, tet_packs
from pliant.kernels.tets_volumetric import volumetric_links, volumetric_source
from pliant.kernels.triangles import FIBRES_SOURCE, membrane_source, triangle_incidences
from pliant.materials.calculus import law_code
from pliant.model import (
    Attachments,
    Block,
    Bounds,
    Dampers,
    Fibres,
    Hinges,
    InvertibleSolids,
    Joints,
    Pairs,
    Pressures,
    Sheets,
    Solids,
    Springs,
)
from pliant.model.tearing import Edit


class Crowding(NamedTuple):
    """How many elements the vertices have, and which of them get a pack of their own."""

    elements_of: np.ndarray  # (n,)
    wide: np.ndarray  # (n,)
    width: int


class Memory(NamedTuple):
    """Where a term keeps what its elements remember."""

    tets: TetPacks
    by_entry: np.ndarray

    def load(self, block: Any) -> None:
        """Take the block's memory."""
        load_interpolants(block.interpolants, self.tets.interpolants, self.tets.slots, self.by_entry)

    def save(self, block: Any) -> None:
        """Write to the block's memory."""
        block.interpolants[:] = self.tets.interpolants[: len(block.interpolants)]


class Built(NamedTuple):
    """A term in the order of packs."""

    tables: tuple[Any, ...]  # those with a `start`, the first entries of the packs, are lists
    diagonal: np.ndarray  # (n,) constant part of its Hessian [N/m]
    memory: Memory | None = None
    viscous: np.ndarray | None = None  # (n,) the same of a term that is viscous
    refresh: Callable[[Any], None] | None = None  # writes the numbers of a step's block into the tables


class Term(Protocol):
    """A block as vertex block descent sees it."""

    lengths: np.ndarray  # (n,) entries in the list of each vertex

    def __init__(self, block: Any, crowding: Crowding): ...

    @property
    def source(self) -> TermSource: ...

    def build(self, packs: Packs, dtype: Any) -> Built: ...


class SolidTerm:
    """Tets, walked along the links of the vertices."""

    def __init__(self, block: Solids, crowding: Crowding):
        self.block, self.code = block, law_code(block.law)
        self.walks = walk_links(block.tets, len(crowding.wide), longest_paths(*crowding))
        self.lengths = np.diff(self.walks.start)

    @property
    def source(self) -> TermSource:
        path = volumetric_source if self.code.is_volumetric else general_source
        return path(self.code.name, self.code.text, self.block.parameters.shape[1], self.code.has_barrier)

    def build(self, packs: Packs, dtype: Any) -> Built:
        block, n = self.block, len(packs.row_of_vertex)
        rest = (block.tets, block.gradients, block.volumes)
        parameters = spread_parameters(packs, block.tets, block.parameters, dtype)
        if self.code.is_volumetric:
            shear = self.code.functions.shear_weight(*block.parameters.T)
            links, diagonal = volumetric_links(packs, self.walks, *rest, shear, dtype)
            return Built((links, parameters), diagonal)
        return Built((general_links(packs, self.walks, *rest, dtype), parameters), np.zeros(n))


class InvertibleTerm(SolidTerm):
    """Tets whose law is converted where they are crushed or inverted: the general path, whatever the law."""

    block: InvertibleSolids

    @property
    def source(self) -> TermSource:
        return invertible_source(self.code.name, self.code.text, self.block.parameters.shape[1], self.code.has_barrier)

    def build(self, packs: Packs, dtype: Any) -> Built:
        block, n = self.block, len(packs.row_of_vertex)
        links = general_links(packs, self.walks, block.tets, block.gradients, block.volumes, dtype)
        numbers = np.column_stack([block.parameters, block.conversion[:, 3]])
        parameters = spread_parameters(packs, block.tets, numbers, dtype)
        by_entry = np.zeros(len(links.pushed), dtype)
        tets = tet_packs(packs, self.walks, block.tets, block.gradients, block.conversion[:, :3], dtype)
        return Built((links, parameters, by_entry, tets), np.zeros(n), Memory(tets, by_entry))


class ListTerm(ABC):
    """Elements in plain lists, one or more for each vertex."""

    def __init__(self, block: Any, crowding: Crowding):
        self.block, self.incidences = block, self.incidences_of(block)
        counts = [list_lengths(part.owner, crowding.wide, crowding.width) for part in self.incidences]
        self.lengths = np.sum(counts, axis=0)

    @staticmethod
    @abstractmethod
    def incidences_of(block: Any) -> tuple[Incidences, ...]:
        """The elements as their vertices see them, one entry a list."""

    def build(self, packs: Packs, dtype: Any) -> Built:
        lists = tuple(build_lists(packs, part, dtype) for part in self.incidences)
        return Built(lists, np.zeros(len(packs.row_of_vertex)))

    @classmethod
    def update_topology(
        cls, packs: Packs, tables: tuple[Any, ...], block: Any, edit: Edit, parents: np.ndarray
    ) -> bool:
        """Take up a torn block; whether that was possible.

        Vertices numbered last are new, one for each parent. Lists of theirs and of their parents are written anew; in
        others single entries change.
        """
        n = len(packs.row_of_vertex)
        is_split = np.zeros(n, bool)
        is_split[parents], is_split[n - len(parents) :] = True, True
        near = block.taken(elements_at(block.elements, is_split))
        before, after, now = (
            cls.incidences_of(elements) for elements in (edit.block, replace(edit.block, elements=edit.elements), near)
        )
        for lists, was, becomes, of_split in zip(tables, before, after, now, strict=False):
            own = Incidences(*(values[is_split[of_split.owner]] for values in of_split))
            if not edit_lists(packs, lists, was, becomes, ~is_split[was.owner]):
                return False
            if not rewrite_lists(packs, lists, own, np.flatnonzero(is_split)):
                return False
        for numbers in tables[len(now) :]:
            inherit(packs, numbers, parents)
        return True


class PairTerm(ListTerm):
    """Weighted pairs: their block is constant."""

    source = PAIRS_SOURCE

    @staticmethod
    def incidences_of(block: Pairs) -> tuple[Incidences, ...]:
        return (pair_incidences(block.elements, block.weights),)

    def build(self, packs: Packs, dtype: Any) -> Built:
        owner, _, weights = self.incidences[0]
        diagonal = np.bincount(owner, weights[:, 0], minlength=len(packs.row_of_vertex))
        return Built(super().build(packs, dtype).tables, diagonal)


class SpringTerm(ListTerm):
    """Springs and ropes."""

    source = SPRINGS_SOURCE

    @staticmethod
    def incidences_of(block: Springs) -> tuple[Incidences, ...]:
        return (spring_incidences(block.elements, block.lengths, block.stiffness, block.compression),)


class SheetTerm(ListTerm):
    """Membranes of one law."""

    @staticmethod
    def incidences_of(block: Sheets) -> tuple[Incidences, ...]:
        return (triangle_incidences(block.elements, block.gradients, block.areas),)

    @property
    def source(self) -> TermSource:
        code = law_code(self.block.law)
        return membrane_source(code.name, code.text, self.block.parameters.shape[1])

    def build(self, packs: Packs, dtype: Any) -> Built:
        built = super().build(packs, dtype)
        parameters = spread_parameters(packs, self.block.elements, self.block.parameters, dtype)
        return built._replace(tables=(*built.tables, parameters))


class FibreTerm(ListTerm):
    """Threads of a cloth."""

    source = FIBRES_SOURCE

    @staticmethod
    def incidences_of(block: Fibres) -> tuple[Incidences, ...]:
        return (triangle_incidences(block.elements, block.slopes[:, :, None], block.stiffness),)


class HingeTerm(ListTerm):
    """Hinges between triangles."""

    source = HINGES_SOURCE

    @staticmethod
    def incidences_of(block: Hinges) -> tuple[Incidences, ...]:
        return hinge_incidences(block.elements, block.angles, block.stiffness)


class JointTerm(ListTerm):
    """Joints of rods."""

    source = JOINTS_SOURCE

    @staticmethod
    def incidences_of(block: Joints) -> tuple[Incidences, ...]:
        return joint_incidences(block.elements, block.angles, block.stiffness)


class DamperTerm(PairTerm):
    """Weighted pairs that see displacements: their constant diagonal is not elastic, and what they pull with at the
    start of the step is in the target (VBD.begin_step).
    """

    def build(self, packs: Packs, dtype: Any) -> Built:
        built = super().build(packs, dtype)
        return built._replace(diagonal=np.zeros_like(built.diagonal), viscous=built.diagonal)


class BoundTerm(ListTerm):
    """Vertices in a box."""

    source = BOUNDS_SOURCE

    @staticmethod
    def incidences_of(block: Bounds) -> tuple[Incidences, ...]:
        return (bound_incidences(block.elements[:, 0], block.lower, block.upper, block.stiffness),)


class PressureTerm(ListTerm):
    """Closed surfaces under pressure, which may change from step to step."""

    source = PRESSURE_SOURCE

    @staticmethod
    def incidences_of(block: Pressures) -> tuple[Incidences, ...]:
        return (pressure_incidences(block.elements),)

    def build(self, packs: Packs, dtype: Any) -> Built:
        built, n = super().build(packs, dtype), len(packs.row_of_vertex)

        def at_vertices(block: Pressures) -> np.ndarray:
            return spread(packs, vertex_parameters(block.elements, block.pressures[:, None], n), dtype)

        pressures, written = at_vertices(self.block), self.block.pressures

        def refresh(block: Pressures) -> None:
            nonlocal written
            if block.pressures is not written:
                pressures[:], written = at_vertices(block), block.pressures

        return built._replace(tables=(*built.tables, pressures), refresh=refresh)


TERMS: dict[type[Block], type[Term]] = {
    Solids: SolidTerm,
    InvertibleSolids: InvertibleTerm,
    Sheets: SheetTerm,
    Fibres: FibreTerm,
    Springs: SpringTerm,
    Hinges: HingeTerm,
    Joints: JointTerm,
    Pairs: PairTerm,
    Attachments: PairTerm,
    Dampers: DamperTerm,
    Bounds: BoundTerm,
    Pressures: PressureTerm,
}


#: Blocks that tearing changes.
TORN: dict[type[Block], type[ListTerm]] = {
    Sheets: SheetTerm,
    Fibres: FibreTerm,
    Hinges: HingeTerm,
    Springs: SpringTerm,
    Joints: JointTerm,
    Bounds: BoundTerm,
}


def make_terms(blocks: tuple[Block, ...], crowding: Crowding) -> list[Term]:
    return [TERMS[type(block)](block, crowding) for block in blocks]


def vertex_parameters(elements: np.ndarray, parameters: np.ndarray, n: int) -> np.ndarray:
    """A law's parameters at each vertex (n, p): a body has one material. Vertices of other laws get those of the first
    element.
    """
    at_vertices = np.tile(parameters[0], (n, 1))
    at_vertices[elements] = parameters[:, None]
    return at_vertices


def spread_parameters(packs: Packs, elements: np.ndarray, parameters: np.ndarray, dtype: Any) -> np.ndarray:
    """A law's parameters in the order of packs; missing vertices have some too, because a law may divide by them."""
    at_vertices = vertex_parameters(elements, parameters, len(packs.row_of_vertex))
    return spread(packs, at_vertices, dtype, padding=at_vertices[0])
