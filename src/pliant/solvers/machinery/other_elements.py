"""Elements other than tets and triangles of a law: compiled where an element has its second derivatives as lane
functions, from energies/ in NumPy where it has not.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from pliant.elements.element import Element
from pliant.elements.registry import element_of
from pliant.energies.elements import energy_of
from pliant.energies.scatter import sum_at_vertices
from pliant.kernels.block_pattern import pair_count
from pliant.kernels.curved_source import CurvedElements, curved_elements, element_module, positive_module
from pliant.kernels.threads import Team
from pliant.lanes.host import default_width
from pliant.model import Block

ALL = slice(None)


class NumpyElements:
    """Energies, gradients and Hessians from energies/; x (n, 3) [m]."""

    width: int = 1  # lanes

    def energy(self, block: Any, x: np.ndarray, team: Team) -> float:
        """[J]."""
        return energy_of(block).energy(block, x)

    def gradient(self, block: Any, x: np.ndarray, team: Team) -> np.ndarray:
        """dE/dx (n, 3) [N]."""
        return energy_of(block).gradient(block, x)

    def hessians(self, block: Any, x: np.ndarray, rows: np.ndarray, part: slice, psd: bool, team: Team) -> np.ndarray:
        """3x3 blocks of pairs of corners i <= j, flat (packs, pairs, 9, width) [N/m]; psd: without negative
        eigenvalues; rows: `position_rows` of x.
        """
        blocks = energy_of(block).element_hessians(block, x, part)
        if psd:
            blocks = make_semidefinite(blocks).reshape(blocks.shape)
        one, other = np.triu_indices(blocks.shape[1])
        return np.ascontiguousarray(blocks[:, one, :, other, :].swapaxes(0, 1), float).reshape(-1)


@dataclass
class BlockElements(NumpyElements):
    """Hessians in lanes."""

    element: Element
    module: ModuleType
    width: int

    def hessians(self, block: Any, x: np.ndarray, rows: np.ndarray, part: slice, psd: bool, team: Team) -> np.ndarray:
        table, packs = self._packed(block, part)
        corners = self.element.corners
        buffer = np.empty(9 * pair_count(corners) * packs * self.width)
        team.run(self.module.hessians, rows, table, buffer)
        if psd:
            team.run(positive_module(self.width).make_all_positive, corners, packs, buffer)
        return buffer

    def _packed(self, block: Any, part: slice = ALL) -> tuple[CurvedElements, int]:
        """Elements in lanes, and how many packs they are."""
        table = curved_elements(self.element, block, part, self.width)
        return table, len(table.vertices) // (self.element.corners * self.width)


class MeasuredElements(BlockElements):
    """All in lanes: elements with a measure."""

    def energy(self, block: Any, x: np.ndarray, team: Team) -> float:
        table, packs = self._packed(block)
        out = np.empty(packs * self.width)
        team.run(self.module.energies, position_rows(x), table, out)
        return float(np.sum(out[: len(block.elements)]))

    def gradient(self, block: Any, x: np.ndarray, team: Team) -> np.ndarray:
        table, packs = self._packed(block)
        m, corners = block.elements.shape
        out = np.empty(3 * corners * packs * self.width)
        team.run(self.module.gradients, position_rows(x), table, out)
        return sum_at_vertices(block.elements, by_corners(out, corners, self.width)[:m], len(x))


def source_of(block: Block) -> NumpyElements:
    """Where the energies and derivatives of a block's elements come from."""
    element, width = element_of(block), default_width("double")
    if element.curvature is not None:
        return MeasuredElements(element, element_module(element, block, width), width)
    if element.blocks is not None:
        return BlockElements(element, element_module(element, block, width), width)
    return NumpyElements()


def by_corners(out: np.ndarray, corners: int, width: int) -> np.ndarray:
    """Vectors of corners in lanes, flat (packs, corners, 3, width), as (elements, corners, 3)."""
    return out.reshape(-1, 3 * corners, width).swapaxes(1, 2).reshape(-1, corners, 3)


def position_rows(x: np.ndarray) -> np.ndarray:
    """Positions (n, 4) as lanes are loaded."""
    rows = np.zeros((len(x), 4))
    rows[:, :3] = x
    return rows


def make_semidefinite(hessians: np.ndarray) -> np.ndarray:
    """Without the negative eigenvalues; (k, corners, 3, corners, 3)."""
    width = 3 * hessians.shape[1]
    values, vectors = np.linalg.eigh(hessians.reshape(-1, width, width))
    return np.einsum("mik,mk,mjk->mij", vectors, np.maximum(values, 0), vectors, optimize=True)
