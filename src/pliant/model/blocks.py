"""Elements of all bodies frozen into flat arrays: one block for each kind and law."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

import numpy as np

from pliant.elements.band import Bands
from pliant.elements.block import Block, Tearing
from pliant.elements.bound import Bounds
from pliant.elements.conversion import Converted
from pliant.elements.curved_square import CurvedSquares
from pliant.elements.dead_load import DeadLoads
from pliant.elements.fibre import Fibres
from pliant.elements.fold_fan import FoldFans
from pliant.elements.fold_pair import FoldPairs
from pliant.elements.hinge import Hinges
from pliant.elements.invertible_patch import InvertiblePatches
from pliant.elements.pair import Attachments, Dampers, Pairs
from pliant.elements.patch import Patches, PatchTets
from pliant.elements.plate_square import PlateSquares
from pliant.elements.pressure import Pressures
from pliant.elements.rest_height import RestHeights
from pliant.elements.rod_bend import RodBends
from pliant.elements.sheet import Sheets
from pliant.elements.solids import InvertibleSolids, Solids
from pliant.elements.spring import Springs
from pliant.elements.stitch import Stitches
from pliant.elements.strain_rates import TetRates
from pliant.elements.yarn_triangle import YarnTriangles

__all__ = [
    "Attachments",
    "Bands",
    "Block",
    "Bounds",
    "Converted",
    "CurvedSquares",
    "Dampers",
    "DeadLoads",
    "Fibres",
    "FoldFans",
    "FoldPairs",
    "Hinges",
    "InvertiblePatches",
    "InvertibleSolids",
    "Pairs",
    "PatchTets",
    "Patches",
    "PlateSquares",
    "Pressures",
    "RestHeights",
    "RodBends",
    "Sheets",
    "Solids",
    "Springs",
    "Stitches",
    "Tearing",
    "TetRates",
    "YarnTriangles",
    "merge",
]


def merge(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """One block per key, in the order of their first appearance; elements keep their order."""
    groups: dict[tuple[type, ...], list[Block]] = {}
    for block in blocks:
        groups.setdefault(block.key, []).append(block)
    return tuple(_joined(members) for members in groups.values())


def _joined(members: list[Block]) -> Block:
    first = members[0]
    values = {
        field.name: np.concatenate([getattr(block, field.name) for block in members])
        if isinstance(getattr(first, field.name), np.ndarray)
        else getattr(first, field.name)
        for field in fields(first)
    }
    return type(first)(**values)
