"""Elements around the vertices of a pack, as plain lists: for each element the other vertices and its constants.

Tets have link walks instead (kernels.links), because they are many and share faces.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.kernels.packs import Packs
from pliant.lanes import gather3, load, width_of
from pliant.lanes.vectors import physics, subtract


class Lists(NamedTuple):
    """Lists by pack: entry k of pack p's list is one element for each lane."""

    start: np.ndarray  # (packs + 1,) first entry of each pack
    others: np.ndarray  # flat (entries, others, width) rows of the other vertices; the vertex itself in padding
    constants: np.ndarray  # flat (entries, constants, width); zero in padding


class Incidences(NamedTuple):
    """Elements as each of their vertices sees them."""

    owner: np.ndarray  # (i,) the vertex
    others: np.ndarray  # (i, k) the other vertices of the element, in the order its function expects
    constants: np.ndarray  # (i, c)


@physics
def other(x, xi, lists, k, j, count):
    """Position of the other vertex number j of `count` in entry k, relative to the vertex itself."""
    return subtract(gather3(x, lists.others, (k * count + j) * width_of(xi[0]), xi[0]), xi)


@physics
def list_constant(lists, k, i, count, like):
    """Number i of the `count` constants of entry k."""
    return load(lists.constants, (k * count + i) * width_of(like), like)


def list_lengths(owner: np.ndarray, wide: np.ndarray, width: int) -> np.ndarray:
    """(n,) entries each vertex needs: those of a wide pack are dealt out over its lanes."""
    counts = np.bincount(owner, minlength=len(wide))
    return np.where(wide, -(-counts // width), counts)


def place_in_lists(packs: Packs, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First entries of the packs (packs + 1,); entry and lane of every incidence."""
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=len(packs.row_of_vertex))
    rank = np.empty(len(owner), np.int64)
    rank[order] = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    pack, lane = np.divmod(packs.row_of_vertex[owner], packs.width)
    wide = packs.is_wide[pack] == 1
    entry = np.where(wide, rank // packs.width, rank)
    lane = np.where(wide, rank % packs.width, lane)
    lengths = np.zeros(packs.pack_count, np.int64)
    np.maximum.at(lengths, pack, entry + 1)
    start = np.concatenate([[0], np.cumsum(lengths)])
    return start, entry + start[pack], lane


def build_lists(packs: Packs, incidences: Incidences, dtype) -> Lists:
    """Sort incidences into the lists of their owners' packs."""
    start, entry, lane = place_in_lists(packs, incidences.owner)
    k, c = incidences.others.shape[1], incidences.constants.shape[1]
    own = np.repeat(np.arange(packs.pack_count), np.diff(start))[:, None] * packs.width + np.arange(packs.width)
    others = np.repeat(own[:, None, :], k, axis=1).astype(np.uint32)
    constants = np.zeros((start[-1], c, packs.width), dtype)
    others[entry, :, lane] = packs.row_of_vertex[incidences.others]
    constants[entry, :, lane] = incidences.constants
    return Lists(start, others.reshape(-1), constants.reshape(-1))
