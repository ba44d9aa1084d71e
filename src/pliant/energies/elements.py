"""The energy of every kind of element, by block, in double precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pliant.elements import reference
from pliant.elements.element import Element
from pliant.elements.hinge import Hinges
from pliant.elements.pair import Pairs
from pliant.elements.registry import element_of
from pliant.energies import elastic, invertible, pressure, triangles, yarn
from pliant.energies.hinges import hinge_energies
from pliant.energies.pairs import pair_energies
from pliant.energies.scatter import chunks, sum_at_vertices, sum_blocks_at_vertices
from pliant.model import Block, Sheets


class ElementEnergy(Protocol):
    """What is known of a kind of element. Files of functions (elastic, pressure) have these too."""

    def energy(self, block: Any, x: np.ndarray) -> float:
        """[J]."""

    def energies(self, block: Any, x: np.ndarray) -> np.ndarray:
        """(m,) [J] of each element."""

    def gradient(self, block: Any, x: np.ndarray) -> np.ndarray:
        """dE/dx (n, 3) [N]."""

    def element_hessians(self, block: Any, x: np.ndarray, part: slice) -> np.ndarray:
        """d2E/dx_i dx_j of some elements (k, corners, 3, corners, 3) [N/m], exact."""

    def vertex_blocks(self, block: Any, x: np.ndarray) -> np.ndarray:
        """d2E/dx_i^2 (n, 3, 3) [N/m], what vertex block descent solves with."""


@dataclass(frozen=True)
class Elementwise:
    """Sums over a block of an element's own functions (elements.reference)."""

    element: Element

    def energy(self, block: Block, x: np.ndarray) -> float:
        return float(np.sum(self.energies(block, x)))

    def energies(self, block: Block, x: np.ndarray) -> np.ndarray:
        parts = [reference.energies(self.element, block, x, part) for part in chunks(len(block.elements))]
        return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0), *parts])

    def gradient(self, block: Block, x: np.ndarray) -> np.ndarray:
        return sum_at_vertices(block.elements, reference.gradients(self.element, block, x), len(x))

    def element_hessians(self, block: Block, x: np.ndarray, part: slice) -> np.ndarray:
        return _by_corners(block, reference.hessians(self.element, block, x, part))

    def vertex_blocks(self, block: Block, x: np.ndarray) -> np.ndarray:
        return _summed(block, lambda part: reference.vertex_blocks(self.element, block, x, part), len(x))


class PairTerms(Elementwise):
    """Sums over weighted pairs, of which a sheet that bends has many (energies.pairs)."""

    def energies(self, block: Block, x: np.ndarray) -> np.ndarray:
        assert isinstance(block, Pairs)
        return pair_energies(block, x)


class HingeTerms(Elementwise):
    """Sums over hinges (energies.hinges)."""

    def energies(self, block: Block, x: np.ndarray) -> np.ndarray:
        assert isinstance(block, Hinges)
        return hinge_energies(block, x)


class Membranes:
    """Sums over the triangles of sheets (energies.triangles)."""

    def energy(self, block: Sheets, x: np.ndarray) -> float:
        return float(np.sum(self.energies(block, x)))

    def energies(self, block: Sheets, x: np.ndarray) -> np.ndarray:
        return triangles.energy(x, *_of_sheets(block))

    def gradient(self, block: Sheets, x: np.ndarray) -> np.ndarray:
        return sum_at_vertices(block.elements, triangles.gradient(x, *_of_sheets(block)), len(x))

    def element_hessians(self, block: Sheets, x: np.ndarray, part: slice) -> np.ndarray:
        return _by_corners(block, triangles.hessian(x, *_of_sheets(block, part)))

    def vertex_blocks(self, block: Sheets, x: np.ndarray) -> np.ndarray:
        return _summed(block, lambda part: triangles.vertex_blocks(x, *_of_sheets(block, part)), len(x))


def _of_sheets(block: Sheets, part: slice = slice(None)) -> tuple[Any, ...]:
    arrays = (block.elements[part], block.gradients[part], block.areas[part])
    return (*arrays, block.law, block.parameters[part])


def _by_corners(block: Block, hessians: np.ndarray) -> np.ndarray:
    corners = block.elements.shape[1]
    return hessians.reshape(-1, corners, 3, corners, 3)


def _summed(block: Block, of_corners: Any, n: int) -> np.ndarray:
    """Blocks of corners (m, k, 3, 3), part by part, at the vertices (n, 3, 3)."""
    parts = chunks(len(block.elements))
    return sum(
        (sum_blocks_at_vertices(block.elements[part], of_corners(part), n) for part in parts), np.zeros((n, 3, 3))
    )


#: What is not made of an element's lane functions alone.
_OF_PATHS: dict[str, ElementEnergy] = {
    "tets": elastic,
    "weighted tets": elastic,
    "patches": elastic,
    "invertible tets": invertible,
    "invertible patches": invertible,
    "surface": pressure,
    "yarn triangles": yarn,
}


def energy_of(block: Block) -> ElementEnergy:
    """The energy of a block's kind of element."""
    element = element_of(block)
    if element.path in _OF_PATHS:
        return _OF_PATHS[element.path]
    if isinstance(block, Pairs):
        return PairTerms(element)
    if isinstance(block, Hinges):
        return HingeTerms(element)
    return Membranes() if element.has_law else Elementwise(element)


def update_internal_state(block: Block, x: np.ndarray) -> None:
    """Bring the internal state of a block's elements up to date at x (n, 3) [m], in place: tets that are converted, and
    patches of them, are the elements that have one.
    """
    assert isinstance(block, invertible.Invertibles)
    invertible.update_internal_state(block, x)
