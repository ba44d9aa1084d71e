"""Which file knows the energy of which elements. Each has, in double precision,

energy(block, x) -> float [J]
gradient(block, x) -> (n, 3) [N]
element_hessians(block, x, part) -> (k, corners, 3, corners, 3) [N/m], exact
vertex_blocks(block, x) -> (n, 3, 3) [N/m], what vertex block descent solves with
"""

from __future__ import annotations

from types import ModuleType

from pliant.energies import bounds, elastic, pairs, pressure
from pliant.model import Attachments, Block, Bounds, Dampers, Pairs, Pressures, Solids

ENERGIES: dict[type[Block], ModuleType] = {
    Solids: elastic,
    Pairs: pairs,
    Attachments: pairs,
    Dampers: pairs,
    Bounds: bounds,
    Pressures: pressure,
}


def energy_of(block: Block) -> ModuleType:
    return ENERGIES[type(block)]
