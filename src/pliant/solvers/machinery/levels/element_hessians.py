"""Hessians of elements, some at a time and kept nowhere: what a coarse matrix is summed from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.kernels.assembly_source import TET, TRIANGLE, Shape, assembly_module, element_table
from pliant.kernels.block_pattern import CHUNK, pair_count
from pliant.kernels.threads import Team
from pliant.lanes.host import default_width
from pliant.materials.calculus import law_code
from pliant.model import Block, Sheets, Solids
from pliant.solvers.machinery.other_elements import NumpyElements, position_rows, source_of


class Hessians(NamedTuple):
    """Of elements (k, corners): 3x3 blocks of pairs of corners i <= j, flat (packs, pairs, 9, width) [N/m]."""

    elements: np.ndarray
    buffer: np.ndarray
    width: int


@dataclass
class LawHessians:
    """Tets or triangles of one law, computed in lanes."""

    shape: Shape
    module: ModuleType
    width: int

    def of(self, block: Any, x: np.ndarray, part: slice, psd: bool, team: Team) -> Hessians:
        elements, sizes = block.elements[part], block.volumes if self.shape is TET else block.areas
        table = element_table(elements, block.gradients[part], sizes[part], block.parameters[part], self.width)
        buffer = np.empty(9 * pair_count(self.shape.corners) * len(table.sizes))
        team.run(self.module.hessians, psd, position_rows(x), table, buffer)
        return Hessians(elements, buffer, self.width)


@dataclass
class OtherHessians:
    """All other elements."""

    source: NumpyElements

    def of(self, block: Any, x: np.ndarray, part: slice, psd: bool, team: Team) -> Hessians:
        buffer = self.source.hessians(block, x, position_rows(x), part, psd, team)
        return Hessians(block.elements[part], buffer, self.source.width)


@dataclass
class ElementHessians:
    """Of all elements of a scene, and of the inertia and damping of its vertices."""

    kinds: list[LawHessians | OtherHessians]  # of each block of the scene
    held: np.ndarray | None  # (n, 3, 3) onto free directions, if some vertices are held to lines or planes

    def parts(self, problem: IncrementalPotential, x: np.ndarray, psd: bool, team: Team) -> Iterator[Hessians]:
        """CHUNK elements at a time; psd: without negative eigenvalues."""
        own = problem.damping_blocks + problem.inertia[:, None, None] * np.eye(3)
        yield self._held(Hessians(np.arange(len(x))[:, None], own.reshape(-1), 1))
        for block, kind in zip(problem.blocks, self.kinds, strict=True):
            seen = x - problem.x_prev if block.is_viscous else x
            for first in range(0, len(block.elements), CHUNK):
                yield self._held(kind.of(block, seen, slice(first, first + CHUNK), psd, team))

    def _held(self, part: Hessians) -> Hessians:
        if self.held is None:
            return part
        elements, width = part.elements, part.width
        packs, corners = -(-len(elements) // width), elements.shape[1]
        padded = elements[np.minimum(np.arange(packs * width), len(elements) - 1)]
        pairs = list(combinations_with_replacement(range(corners), 2))
        used = part.buffer[: packs * len(pairs) * 9 * width]
        blocks = used.reshape(packs, len(pairs), 3, 3, width).transpose(1, 0, 4, 2, 3)
        blocks = blocks.reshape(len(pairs), -1, 3, 3)
        onto = np.stack(
            [self.held[padded[:, i]] @ own @ self.held[padded[:, j]] for own, (i, j) in zip(blocks, pairs, strict=True)]
        )
        flat = onto.reshape(len(pairs), packs, width, 3, 3).transpose(1, 0, 3, 4, 2).reshape(-1)
        return Hessians(elements, np.ascontiguousarray(flat), width)


def build_element_hessians(problem: IncrementalPotential) -> ElementHessians:
    """Compiled code for a scene's laws."""
    model = problem.model
    held = None
    if (model.subspace[model.is_free] < 3).any():
        axes = [model.project(np.tile(axis, (model.n_vertices, 1))) for axis in np.eye(3)]
        held = np.stack(axes, axis=2)
    return ElementHessians([_kind(block) for block in problem.blocks], held)


def _kind(block: Block) -> LawHessians | OtherHessians:
    if not isinstance(block, Solids | Sheets):
        return OtherHessians(source_of(block))
    shape, width, code = TET if isinstance(block, Solids) else TRIANGLE, default_width("double"), law_code(block.law)
    parameters = block.parameters.shape[1]
    module = assembly_module(shape, code.name, code.text, code.has_barrier, parameters, width)
    return LawHessians(shape, module, width)
