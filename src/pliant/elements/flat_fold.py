"""Folds of a sheet that is flat at rest, as a constant quadratic form that can be taken apart.

    E = k/2 |s|^2,    s = sum_c w_c x_c,    sum_c w_c = 0

For deformations that keep lengths, s of a hinge is as long as its fold (elements.quadratic_bending), and the s of two
neighbouring hinges are nearly parallel: s = a s_1 + b s_2 is then as long as a theta_1 + b theta_2.  So hinges
(0, 1, 2, 3), pairs of hinges numbered as in elements.fold_pair and fans of three as in elements.fold_fan, with the
weights of elements.fan_weights, have the bending energy of a plate, without angles.  Each is gone when its triangles
part.

Seen from a corner with weight w:  force = -k w s,   block = k w^2 Identity, exact and positive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements.block import Block, Invariance, Tearing
from pliant.elements.element import ConstraintForm, Element, View
from pliant.elements.fold_fan import FAN_HINGES
from pliant.elements.fold_pair import PAIR_HINGES
from pliant.lanes import maximum, number, sqrt
from pliant.lanes.vectors import add_identity, add_scaled, dot, physics

LEAST_LENGTH = 1e-30  # [1] divides in place of a shorter length


@dataclass(frozen=True)
class FlatFolds(Block):
    """Hinges (m, 4): edge start and end, then the two wings."""

    tearing = Tearing.FOLLOWS_FOLDS
    invariance = Invariance.RIGID

    weights: np.ndarray  # (m, 4) w [1/m]
    stiffness: np.ndarray  # (m,) k [J]


@dataclass(frozen=True)
class FlatFoldPairs(FlatFolds):
    """Pairs of hinges that share a triangle (m, 5): that, from the vertex that both edges have, then two wings."""

    tearing = Tearing.FOLLOWS_FOLD_PAIRS


@dataclass(frozen=True)
class FlatFoldFans(FlatFolds):
    """Three hinges that follow each other around a vertex (m, 6): that, the ends of their edges, the outer wings."""

    tearing = Tearing.FOLLOWS_FOLD_FANS


def slope_changes(points: np.ndarray, hinges: np.ndarray) -> np.ndarray:
    """w (h, 4) [1/m]: sum_c w_c z_c is the fold of a hinge, unfolded into a plane, with small heights z.

    A wing at height y beside the edge, its foot at the part p of the edge, rises by (z - (1 - p) z_0 - p z_1) / y.
    """
    x = points[hinges]
    edge = x[:, 1] - x[:, 0]
    squared = np.einsum("ma,ma->m", edge, edge)
    w = np.zeros((len(hinges), 4))
    for wing in (2, 3):
        arm = x[:, wing] - x[:, 0]
        part = np.einsum("ma,ma->m", arm, edge) / squared
        height = np.linalg.norm(np.cross(edge, arm), axis=1) / np.sqrt(squared)
        w[:, wing] = 1 / height
        w[:, 0] -= (1 - part) / height
        w[:, 1] -= part / height
    return w


def flat_fold_pairs(points: np.ndarray, elements: np.ndarray, weights: np.ndarray, k: float) -> FlatFoldPairs:
    """Pairs (m, 5) at rest at points (n, 3) [m] with weights (m, 2) of their folds and bending stiffness k [N m]."""
    return FlatFoldPairs(elements, _mixed(points, elements, PAIR_HINGES, weights), np.full(len(elements), float(k)))


def flat_fold_fans(points: np.ndarray, elements: np.ndarray, weights: np.ndarray, k: float) -> FlatFoldFans:
    """Fans (m, 6) at rest at points (n, 3) [m] with weights (m, 3) of their folds and bending stiffness k [N m]."""
    return FlatFoldFans(elements, _mixed(points, elements, FAN_HINGES, weights), np.full(len(elements), float(k)))


def _mixed(
    points: np.ndarray, elements: np.ndarray, hinges: tuple[tuple[int, ...], ...], sizes: np.ndarray
) -> np.ndarray:
    """Weights of the corners (m, k) of elements whose hinges, by their corners, have the weights sizes (m, h)."""
    weights = np.zeros(elements.shape)
    for own, size in zip(hinges, sizes.T, strict=True):
        weights[:, own] += size[:, None] * slope_changes(points, elements[:, own])
    return weights


@physics
def _sum(a, b, c, u, v, w):
    return add_scaled(add_scaled((u * a[0], u * a[1], u * a[2]), v, b), w, c)


@physics
def _add(f, H, s, w, stiffness):
    """w: of the others together, minus that of the vertex."""
    pull = stiffness * w
    return add_scaled(f, pull, s), add_identity(H, pull * w)


@physics
def add_of_three(f, H, a, b, c, u, v, w, stiffness):
    """Add the force on a corner and its block; the other three relative to it, with their weights."""
    return _add(f, H, _sum(a, b, c, u, v, w), u + v + w, stiffness)


@physics
def add_of_four(f, H, a, b, c, d, u, v, w, z, stiffness):
    """Add the force on a corner and its block; the other four relative to it, with their weights."""
    return _add(f, H, add_scaled(_sum(a, b, c, u, v, w), z, d), u + v + w + z, stiffness)


@physics
def add_of_five(f, H, a, b, c, d, e, u, v, w, z, q, stiffness):
    """Add the force on a corner and its block; the other five relative to it, with their weights."""
    s = add_scaled(add_scaled(_sum(a, b, c, u, v, w), z, d), q, e)
    return _add(f, H, s, u + v + w + z + q, stiffness)


@physics
def energy_of_three(a, b, c, u, v, w, stiffness):
    """E [J]."""
    s = _sum(a, b, c, u, v, w)
    return 0.5 * stiffness * dot(s, s)


@physics
def energy_of_four(a, b, c, d, u, v, w, z, stiffness):
    """E [J]."""
    s = add_scaled(_sum(a, b, c, u, v, w), z, d)
    return 0.5 * stiffness * dot(s, s)


@physics
def energy_of_five(a, b, c, d, e, u, v, w, z, q, stiffness):
    """E [J]."""
    s = add_scaled(add_scaled(_sum(a, b, c, u, v, w), z, d), q, e)
    return 0.5 * stiffness * dot(s, s)


@physics
def _direction(s):
    """|s| and s / |s|."""
    length = sqrt(dot(s, s))
    inverse = 1.0 / maximum(length, number(LEAST_LENGTH, length))
    u = (s[0] * inverse, s[1] * inverse, s[2] * inverse)
    return length, u


@physics
def _scaled(w, u):
    return (w * u[0], w * u[1], w * u[2])


@physics
def hinge_length(corners, weights, stiffness):
    """|s|, its derivatives and k: the constraint form of a hinge."""
    x, w = corners, weights
    s = add_scaled(_sum(x[0], x[1], x[2], w[0], w[1], w[2]), w[3], x[3])
    length, u = _direction(s)
    return length, (_scaled(w[0], u), _scaled(w[1], u), _scaled(w[2], u), _scaled(w[3], u)), stiffness


@physics
def pair_length(corners, weights, stiffness):
    """|s|, its derivatives and k: the constraint form of a pair of hinges."""
    x, w = corners, weights
    s = add_scaled(add_scaled(_sum(x[0], x[1], x[2], w[0], w[1], w[2]), w[3], x[3]), w[4], x[4])
    length, u = _direction(s)
    gradients = (_scaled(w[0], u), _scaled(w[1], u), _scaled(w[2], u), _scaled(w[3], u), _scaled(w[4], u))
    return length, gradients, stiffness


@physics
def fan_length(corners, weights, stiffness):
    """|s|, its derivatives and k: the constraint form of a fan."""
    x, w = corners, weights
    s = add_scaled(_sum(x[0], x[1], x[2], w[0], w[1], w[2]), w[3], x[3])
    length, u = _direction(add_scaled(add_scaled(s, w[4], x[4]), w[5], x[5]))
    inner = (_scaled(w[0], u), _scaled(w[1], u), _scaled(w[2], u))
    outer = (_scaled(w[3], u), _scaled(w[4], u), _scaled(w[5], u))
    return length, (inner[0], inner[1], inner[2], outer[0], outer[1], outer[2]), stiffness


def hessian(corners: np.ndarray, weights: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """d2E/dx2 (m, 3 k, 3 k) [N/m]; does not depend on the positions."""
    k = weights.shape[1]
    blocks = np.einsum("m,mi,mj,ab->miajb", stiffness, weights, weights, np.eye(3))
    return blocks.reshape(len(weights), 3 * k, 3 * k)


def squares(folds: FlatFolds) -> np.ndarray:
    """(m, k, k) [N/m]."""
    return np.einsum("m,mi,mj->mij", folds.stiffness, folds.weights, folds.weights)


def _form(folds: FlatFolds, solver: str) -> ConstraintForm:
    measure = {4: hinge_length, 5: pair_length, 6: fan_length}[folds.elements.shape[1]]
    return ConstraintForm(measure, folds.elements, (folds.weights, folds.stiffness))


def _element(block: type[FlatFolds], name: str, corners: int, view: View) -> Element:
    return Element(
        block,
        name,
        corners=corners,
        corner_numbers=("weights",),
        numbers=("stiffness",),
        views=(view,),
        hessian=hessian,
        constraint_form=_form,
        laplacian=squares,
        projection=squares,
    )


def _orders(corners: int) -> tuple[tuple[int, ...], ...]:
    """Each corner first, the others in their order."""
    return tuple((c, *(other for other in range(corners) if other != c)) for c in range(corners))


FLAT_FOLD = _element(FlatFolds, "flat folds", 4, View(_orders(4), add_of_three, energy_of_three))
FLAT_FOLD_PAIR = _element(FlatFoldPairs, "pairs of flat folds", 5, View(_orders(5), add_of_four, energy_of_four))
FLAT_FOLD_FAN = _element(FlatFoldFans, "fans of flat folds", 6, View(_orders(6), add_of_five, energy_of_five))
