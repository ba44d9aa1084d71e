"""How each kind of element enters vertex block descent: the lists of its vertices, its tables, its lines of kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from pliant.geometry.links import walk_links
from pliant.kernels.bounds import BOUNDS_SOURCE, bound_incidences
from pliant.kernels.links import longest_paths
from pliant.kernels.lists import build_lists, list_lengths
from pliant.kernels.packs import Packs, spread
from pliant.kernels.pairs import PAIRS_SOURCE, pair_incidences
from pliant.kernels.pressure import PRESSURE_SOURCE, pressure_incidences
from pliant.kernels.term_source import TermSource
from pliant.kernels.tets_general import general_links, general_source
from pliant.kernels.tets_volumetric import volumetric_links, volumetric_source
from pliant.materials.calculus import law_code
from pliant.model import Attachments, Block, Bounds, Dampers, Pairs, Pressures, Solids


class Crowding(NamedTuple):
    """How many elements the vertices have, and which of them get a pack of their own."""

    elements_of: np.ndarray  # (n,)
    wide: np.ndarray  # (n,)
    width: int


class Built(NamedTuple):
    """A term in the order of packs."""

    tables: tuple[Any, ...]  # the first has `start`, the first entries of the packs' lists
    diagonal: np.ndarray  # (n,) constant part of its Hessian [N/m]
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
        parameters = spread(packs, vertex_parameters(block.tets, block.parameters, n), dtype)
        if self.code.is_volumetric:
            shear = self.code.functions.shear_weight(*block.parameters.T)
            links, diagonal = volumetric_links(packs, self.walks, *rest, shear, dtype)
            return Built((links, parameters), diagonal)
        return Built((general_links(packs, self.walks, *rest, dtype), parameters), np.zeros(n))


class PairTerm:
    """Weighted pairs."""

    source = PAIRS_SOURCE

    def __init__(self, block: Pairs, crowding: Crowding):
        self.incidences = pair_incidences(block.elements, block.weights)
        self.lengths = list_lengths(self.incidences.owner, crowding.wide, crowding.width)

    def build(self, packs: Packs, dtype: Any) -> Built:
        owner, _, weights = self.incidences
        diagonal = np.bincount(owner, weights[:, 0], minlength=len(packs.row_of_vertex))
        return Built((build_lists(packs, self.incidences, dtype),), diagonal)


class DamperTerm(PairTerm):
    """Weighted pairs that see displacements: their constant diagonal is not elastic, and what they pull with at the
    start of the step is in the target (VBD.begin).
    """

    def build(self, packs: Packs, dtype: Any) -> Built:
        built = super().build(packs, dtype)
        return built._replace(diagonal=np.zeros_like(built.diagonal), viscous=built.diagonal)


class BoundTerm:
    """Vertices in a box."""

    source = BOUNDS_SOURCE

    def __init__(self, block: Bounds, crowding: Crowding):
        self.incidences = bound_incidences(block.elements[:, 0], block.lower, block.upper, block.stiffness)
        self.lengths = list_lengths(self.incidences.owner, crowding.wide, crowding.width)

    def build(self, packs: Packs, dtype: Any) -> Built:
        return Built((build_lists(packs, self.incidences, dtype),), np.zeros(len(packs.row_of_vertex)))


class PressureTerm:
    """Closed surfaces under pressure."""

    source = PRESSURE_SOURCE

    def __init__(self, block: Pressures, crowding: Crowding):
        self.block = block
        self.incidences = pressure_incidences(block.elements)
        self.lengths = list_lengths(self.incidences.owner, crowding.wide, crowding.width)

    def build(self, packs: Packs, dtype: Any) -> Built:
        n = len(packs.row_of_vertex)

        def at_vertices(block: Pressures) -> np.ndarray:
            return spread(packs, vertex_parameters(block.elements, block.pressures[:, None], n), dtype)

        pressures, written = at_vertices(self.block), self.block.pressures

        def refresh(block: Pressures) -> None:
            nonlocal written
            if block.pressures is not written:
                pressures[:], written = at_vertices(block), block.pressures

        return Built((build_lists(packs, self.incidences, dtype), pressures), np.zeros(n), refresh=refresh)


TERMS: dict[type[Block], type[Term]] = {
    Solids: SolidTerm,
    Pairs: PairTerm,
    Attachments: PairTerm,
    Dampers: DamperTerm,
    Bounds: BoundTerm,
    Pressures: PressureTerm,
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
