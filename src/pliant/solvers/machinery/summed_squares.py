"""Squares of sums of positions (elements.plate_square) in vertex block descent, summed up to weighted pairs.

    1/2 sum_elements sum_c |sum_i w_ic x_i|^2 = 1/2 sum_pairs q_ij |x_i - x_j|^2,   q_ij = -sum_elements sum_c w_ic w_jc

A vertex of a regular sheet has 13 to 16 neighbours in its pairs, but up to 36 entries of eleven vertices and 33 weights
in the squares themselves. Pairs cannot be taken apart. So where a sheet tears, those of the vertices near the tear are
summed up again from the squares that are left.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.elements.pair import BENDING, Pairs
from pliant.elements.plate_square import CORNERS, PlateSquares, add_summed_pair
from pliant.geometry.adjacency import elements_at
from pliant.kernels.lists import Incidences, rewrite_lists
from pliant.kernels.packs import Packs
from pliant.model.tearing import Edit

ROUNDING = 1e-12  # of a vertex's own sum: pairs that cancel, but for rounding
ROOM = 3  # spare entries of each vertex: ahead of a tear it sees both sides

SUMMED = replace(
    BENDING, name="summed squares", views=(replace(BENDING.views[0], add=add_summed_pair),), diagonal="", block=Pairs
)


def summed_pairs(squares: PlateSquares, is_owner: np.ndarray | None = None) -> Incidences:
    """Weighted pairs as their vertices see them, sorted; is_owner (n,): only those of some vertices.

    What a vertex sees depends on its own squares and their order alone, so that lists that are written again in part
    have the bits of lists that are built at once.
    """
    elements, weights = squares.elements, squares.weights
    owner = np.repeat(elements, CORNERS, axis=1).ravel()
    other = np.tile(elements, (1, CORNERS)).ravel()
    products = np.einsum("mic,mjc->mij", weights, weights).ravel()
    kept = products != 0 if is_owner is None else (products != 0) & is_owner[owner]
    owner, other, products = owner[kept], other[kept], products[kept]
    order = np.lexsort((other, owner))  # stable
    owner, other = owner[order], other[order]
    is_first = np.r_[True, (owner[1:] != owner[:-1]) | (other[1:] != other[:-1])][: len(owner)]
    sums = np.bincount(np.cumsum(is_first) - 1, products[order])
    owner, other = owner[is_first], other[is_first]
    n = int(elements.max(initial=-1)) + 1
    own = np.zeros(n)
    own[owner[owner == other]] = sums[owner == other]
    is_pair = (owner != other) & (np.abs(sums) > ROUNDING * own[owner])
    return Incidences(owner[is_pair], other[is_pair, None], -sums[is_pair, None])


def with_room(pairs: Incidences) -> Incidences:
    """Entries that add nothing after those of each vertex, where others may come."""
    owners = np.repeat(np.unique(pairs.owner), ROOM)
    return Incidences(
        np.concatenate([pairs.owner, owners]),
        np.concatenate([pairs.others, owners[:, None]]),
        np.concatenate([pairs.constants, np.zeros((len(owners), 1))]),
    )


def update_sums(packs: Packs, tables: dict[str, Any], squares: PlateSquares, edit: Edit, parents: np.ndarray) -> bool:
    """Sum up again what the vertices of changed squares see; whether there was room."""
    n = len(packs.row_of_vertex)
    is_changed = np.zeros(n, bool)
    is_changed[parents], is_changed[n - len(parents) :] = True, True
    is_changed[edit.block.elements], is_changed[edit.elements[edit.elements >= 0]] = True, True
    near = squares.taken(elements_at(squares.elements, is_changed))
    own = summed_pairs(near, is_changed)
    return rewrite_lists(packs, tables["list0"], own, np.flatnonzero(is_changed))
