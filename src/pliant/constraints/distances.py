"""Bilateral rows: springs, and cloth as distances that are kept (Francu and Moldoveanu, 8.2).

Edges of a sheet keep their length. An edge that is the longest of both its triangles is a diagonal: it and the
distance across it resist shear, the distance across any other edge resists bending.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.constraints.one_row import put_row
from pliant.constraints.rows import DISTANCE, ROPE, Rows
from pliant.elements.closest import row
from pliant.geometry import hinges
from pliant.geometry.surface import unique_edges
from pliant.lanes.entry import entry
from pliant.lanes.vectors import dot, subtract
from pliant.model import Sheets, Springs

STRETCH, SHEAR, BEND = range(3)


class Distances(NamedTuple):
    """m pairs of vertices and the distance that they keep."""

    pairs: np.ndarray  # (m, 2)
    lengths: np.ndarray  # (m,) [m]
    stiffness: np.ndarray  # (m,) [N/m]; infinite: hard
    only_pulls: np.ndarray  # (m,) bool
    role: np.ndarray  # (m,) STRETCH, SHEAR or BEND, of cloth


def spring_distances(block: Springs) -> Distances:
    """Springs with their stiffness; ropes only pull."""
    m = len(block.elements)
    return Distances(block.elements, block.lengths, block.stiffness, block.compression == 0, np.full(m, STRETCH))


def cloth_distances(block: Sheets, n_vertices: int, bends: bool) -> Distances:
    """Stretch, shear and bending of a sheet as hard distances, from its shape at rest; without bending
    unless `bends`.
    """
    triangles = block.elements
    sides = _rest_sides(block)  # (m, 3) of corners 0 1, 1 2, 2 0
    ends = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    edges = np.sort(unique_edges(triangles, n_vertices), axis=1)
    place = _places(edges, ends, n_vertices)
    lengths = np.zeros(len(edges))
    lengths[place] = sides.ravel()
    longest = np.ones(len(edges), bool)
    np.logical_and.at(longest, place, (sides >= sides.max(axis=1, keepdims=True) * (1 - 1e-9)).ravel())
    folds = hinges(triangles, n_vertices)
    at_fold = _places(edges, np.sort(folds[:, :2], axis=1), n_vertices)
    across = _flat_distance(edges, lengths, folds, n_vertices)
    roles = np.full(len(edges), STRETCH)
    is_diagonal = np.zeros(len(edges), bool)
    is_diagonal[at_fold] = longest[at_fold]
    roles[is_diagonal] = SHEAR
    of_folds = np.where(is_diagonal[at_fold], SHEAR, BEND)
    used = (of_folds == SHEAR) | bends
    folds, across, of_folds = folds[used], across[used], of_folds[used]
    pairs = np.concatenate([edges, folds[:, 2:]])
    m = len(pairs)
    return Distances(
        pairs, np.concatenate([lengths, across]), np.full(m, np.inf), np.zeros(m, bool),
        np.concatenate([roles, of_folds]),
    )  # fmt: skip


def _rest_sides(block: Sheets) -> np.ndarray:
    """Lengths (m, 3) at rest of the sides 0 1, 1 2, 2 0, from the gradients of the shape functions."""
    B = block.gradients  # (m, 3, 2): F = sum x_i b_i^T, so the edges at rest are the inverse
    edges = np.linalg.inv(np.swapaxes(B[:, 1:], 1, 2))  # (m, 2, 2) rows: x_1 - x_0 and x_2 - x_0 at rest
    one, two = edges[:, 0], edges[:, 1]
    return np.stack([np.linalg.norm(v, axis=1) for v in (one, two - one, two)], axis=1)


def _places(edges: np.ndarray, wanted: np.ndarray, n: int) -> np.ndarray:
    keys = edges[:, 0] * n + edges[:, 1]
    order = np.argsort(keys, kind="stable")
    return order[np.searchsorted(keys[order], wanted[:, 0] * n + wanted[:, 1])]


def _flat_distance(edges: np.ndarray, lengths: np.ndarray, folds: np.ndarray, n: int) -> np.ndarray:
    """Distance (k,) [m] of the wings of folds (k, 4) when both triangles lie in one plane."""

    def length(a: int, b: int) -> np.ndarray:
        return lengths[_places(edges, np.sort(folds[:, [a, b]], axis=1), n)]

    base = length(0, 1)
    places = []
    for wing in (2, 3):
        along = (base**2 + length(0, wing) ** 2 - length(1, wing) ** 2) / (2 * base)
        places.append((along, np.sqrt(np.maximum(length(0, wing) ** 2 - along**2, 0.0))))
    return np.hypot(places[0][0] - places[1][0], places[0][1] + places[1][1])


def fill_distances(rows: Rows, distances: Distances, factors: np.ndarray) -> None:
    """Write what stays the same: the first rows of all. factors: (m,) part of a correction made in an iteration."""
    m = len(distances.pairs)
    rows.kind[:m] = np.where(distances.only_pulls, ROPE, DISTANCE)
    rows.vertices[:m, :2], rows.vertices[:m, 2:] = distances.pairs, -1
    rows.weights[:m] = (1.0, 0.0, 0.0)
    rows.friction[:m], rows.rest[:m] = 0.0, distances.lengths
    rows.factor[:m] = factors
    rows.source[:m] = distances.pairs[:, 1]
    rows.rolling[:m] = 0.0


@entry(nogil=True, error_model="numpy")
def begin_distances(rows, stiffness, x, h):
    """Separations and normals of the first rows at the start of a step, at positions x (n, 3) [m]; stiffness: of
    Distances. They have no friction and need no tangents.
    """
    for i in range(len(stiffness)):
        s = subtract(row(x, rows.vertices[i, 0]), row(x, rows.vertices[i, 1]))
        length = math.sqrt(dot(s, s))
        n = (0.0, 0.0, 1.0)
        if length > 0.0:
            n = (s[0] / length, s[1] / length, s[2] / length)
        put_row(rows.separation, i, s)
        put_row(rows.normal, i, n)
        rows.compliance[i] = 1.0 / (stiffness[i] * h * h)
        put_row(rows.impulse, i, (0.0, 0.0, 0.0))
