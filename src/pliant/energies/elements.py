"""The energy of every kind of element, by block, in double precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from pliant.energies import bounds, elastic, fibres, hinges, invertible, joints, pairs, pressure, springs, triangles
from pliant.energies.scatter import chunks, sum_at_vertices, sum_blocks_at_vertices
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


class ElementEnergy(Protocol):
    """What is known of a kind of element. Files of functions (elastic, pairs) have these too.

    Where elements remember something, there is also remember(block, x), which brings it up to date at x.
    """

    def energy(self, block: Any, x: np.ndarray) -> float:
        """[J]."""

    def gradient(self, block: Any, x: np.ndarray) -> np.ndarray:
        """dE/dx (n, 3) [N]."""

    def element_hessians(self, block: Any, x: np.ndarray, part: slice) -> np.ndarray:
        """d2E/dx_i dx_j of some elements (k, corners, 3, corners, 3) [N/m], exact."""

    def vertex_blocks(self, block: Any, x: np.ndarray) -> np.ndarray:
        """d2E/dx_i^2 (n, 3, 3) [N/m], what vertex block descent solves with."""


@dataclass(frozen=True)
class Elementwise:
    """Sums over a block of functions of single elements: module.energy(x, elements, *numbers) (m,) and so on."""

    module: ModuleType
    numbers: Callable[[Any], tuple[Any, ...]]  # of a block, after its elements

    def energy(self, block: Block, x: np.ndarray) -> float:
        return float(np.sum(self.module.energy(x, *self._arguments(block))))

    def gradient(self, block: Block, x: np.ndarray) -> np.ndarray:
        return sum_at_vertices(block.elements, self.module.gradient(x, *self._arguments(block)), len(x))

    def element_hessians(self, block: Block, x: np.ndarray, part: slice) -> np.ndarray:
        corners = block.elements.shape[1]
        return self.module.hessian(x, *self._arguments(block, part)).reshape(-1, corners, 3, corners, 3)

    def vertex_blocks(self, block: Block, x: np.ndarray) -> np.ndarray:
        blocks = np.zeros((len(x), 3, 3))
        for part in chunks(len(block.elements)):
            own = self.module.vertex_blocks(x, *self._arguments(block, part))
            blocks += sum_blocks_at_vertices(block.elements[part], own, len(x))
        return blocks

    def _arguments(self, block: Block, part: slice = slice(None)) -> list[Any]:
        arrays = (block.elements, *self.numbers(block))
        return [value[part] if isinstance(value, np.ndarray) else value for value in arrays]


_PAIRS = Elementwise(pairs, lambda b: (b.weights,))

ENERGIES: dict[type[Block], Any] = {
    Solids: elastic,
    InvertibleSolids: invertible,
    Pairs: _PAIRS,
    Sheets: Elementwise(triangles, lambda b: (b.gradients, b.areas, b.law, b.parameters)),
    Fibres: Elementwise(fibres, lambda b: (b.slopes, b.stiffness)),
    Springs: Elementwise(springs, lambda b: (b.stiffness, b.lengths, b.compression)),
    Hinges: Elementwise(hinges, lambda b: (b.angles, b.stiffness)),
    Joints: Elementwise(joints, lambda b: (b.angles, b.stiffness)),
    Attachments: _PAIRS,
    Dampers: _PAIRS,
    Bounds: bounds,
    Pressures: pressure,
}


def energy_of(block: Block) -> Any:
    return ENERGIES[type(block)]
