"""Which file knows the energy of which elements. Each has, in double precision,

energy(block, x) -> float [J]
gradient(block, x) -> (n, 3) [N]
element_hessians(block, x, part) -> (k, corners, 3, corners, 3) [N/m], exact
vertex_blocks(block, x) -> (n, 3, 3) [N/m], what vertex block descent solves with
and, where elements remember something, remember(block, x), which brings it up to date at x
"""

from __future__ import annotations

from types import ModuleType

from pliant.energies import elastic, invertible, pairs
from pliant.model import Block, InvertibleSolids, Pairs, Solids

ENERGIES: dict[type[Block], ModuleType] = {Solids: elastic, InvertibleSolids: invertible, Pairs: pairs}


def energy_of(block: Block) -> ModuleType:
    return ENERGIES[type(block)]
