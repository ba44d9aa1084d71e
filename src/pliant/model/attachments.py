"""Links between points of two bodies: springs of rest length zero.

A link joins the points sum_i alpha_i x_i and sum_j beta_j x_j.  With a = alpha on one side and -beta on the other, its
energy is k/2 |sum_i a_i x_i|^2, and because the a sum to zero, it is the sum over pairs

    k/2 |sum_i a_i x_i|^2 = 1/2 sum_(i<j) w_ij |x_i - x_j|^2,   w_ij = -k a_i a_j.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from pliant.arguments import NO_NUMBER, as_indices
from pliant.elements.joint import RATIO, HardAttachments
from pliant.errors import SceneError
from pliant.model import checks
from pliant.model.blocks import Attachments
from pliant.model.body import FIXED, Body
from pliant.model.rigid import RigidBody

ROUNDING = 1e-6  # how far from 1 weights given in single precision may sum


@dataclass(frozen=True)
class Attachment:
    """k links of one call of Scene.attach."""

    body_a: Body
    vertices_a: np.ndarray  # (k, p)
    weights_a: np.ndarray  # (k, p), of sum 1
    body_b: Body
    vertices_b: np.ndarray  # (k, q)
    weights_b: np.ndarray  # (k, q)
    stiffness: float  # of each link [N/m]; inf: hard


def make_attachment(
    body_a: Body,
    vertices_a: ArrayLike,
    body_b: Body,
    vertices_b: ArrayLike,
    stiffness: float,
    weights_a: ArrayLike | None,
    weights_b: ArrayLike | None,
) -> Attachment:
    """Check what a user gives."""
    a = _points(body_a, vertices_a, weights_a, "a")
    b = _points(body_b, vertices_b, weights_b, "b")
    if len(a[0]) != len(b[0]):
        raise SceneError(
            f"attach: {len(a[0])} points of {body_a.name} and {len(b[0])} of {body_b.name}; give equally many of "
            "both, a link joins two."
        )
    k = (
        math.inf
        if checks.is_infinite(stiffness)
        else checks.number(stiffness, "attach: stiffness", "N/m", positive=True)
    )
    if math.isinf(k) and (a[0].shape[1] > 1 or b[0].shape[1] > 1):
        raise SceneError(
            "attach: stiffness is infinite, which joins vertices and points of rigid bodies; for points on edges, "
            "faces and tets give a finite one [N/m]."
        )
    link = Attachment(body_a, *a, body_b, *b, k)
    if body_a is body_b:
        _, joined = _merged(np.hstack([a[0], b[0]]), np.hstack([a[1], -b[1]]))
        empty = np.flatnonzero(np.abs(joined).max(axis=1) <= ROUNDING)
        if empty.size:
            raise SceneError(f"attach: link {empty[0]} joins a point of {body_a.name} with itself; remove it.")
    return link


def attachment_pairs(link: Attachment, first_a: int, first_b: int) -> Attachments:
    """Its pairs of vertices; first_a and first_b are the scene's numbers of the bodies' vertices 0."""
    if math.isinf(link.stiffness):
        ends = [(link.body_a, link.vertices_a[:, 0]), (link.body_b, link.vertices_b[:, 0])]
        mass = np.max([_moving_mass(body)[own] for body, own in ends], axis=0)
        pairs = np.hstack([link.vertices_a + first_a, link.vertices_b + first_b])
        return HardAttachments(pairs, RATIO * mass, np.ones(len(pairs), bool))
    vertices = np.hstack([link.vertices_a + first_a, link.vertices_b + first_b])
    vertices, a = _merged(vertices, np.hstack([link.weights_a, -link.weights_b]))
    corners = list(combinations(range(vertices.shape[1]), 2))
    pairs = np.concatenate([vertices[:, pair] for pair in corners])
    weights = np.concatenate([-link.stiffness * a[:, i] * a[:, j] for i, j in corners])
    return Attachments(pairs[weights != 0], weights[weights != 0])


def _moving_mass(body: Body) -> np.ndarray:
    """(n,) [kg] that each vertex moves: its own, or all of a rigid body; none where it is held."""
    whole = np.full(body.n_vertices, body.mass) if isinstance(body, RigidBody) else body.masses
    return np.where(body.subspace == FIXED, 0.0, whole)


def _merged(vertices: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Links (k, p) with each vertex once: its numbers a are added up where it comes first and zero after that."""
    first = np.argmax(vertices[:, :, None] == vertices[:, None, :], axis=2)  # place of each vertex's first appearance
    total = np.zeros_like(a)
    np.add.at(total, (np.arange(len(a))[:, None], first), a)
    return vertices, total


def _points(body: Body, vertices: ArrayLike, weights: ArrayLike | None, side: str) -> tuple[np.ndarray, np.ndarray]:
    """Corners (k, p) and weights (k, p) of points of a body."""
    what = f"attach: vertices_{side} of {body.name}"
    given = corners = as_indices(vertices)
    if corners.dtype == bool and corners.shape == (body.n_vertices,):
        corners = np.flatnonzero(corners)
    corners = corners[:, None] if corners.ndim == 1 else corners
    if corners.ndim != 2 or corners.dtype.kind not in "iu" or not 1 <= corners.shape[1] <= 4 or len(corners) == 0:
        raise SceneError(
            f"{what} have type {corners.dtype} and shape {given.shape}; give (k,) vertex indices, or (k, 2), "
            "(k, 3) or (k, 4) corners of edges, faces or tets with weights."
        )
    outside = np.argwhere((corners < 0) | (corners >= body.n_vertices))
    if outside.size:
        link, place = outside[0]
        raise SceneError(
            f"{what}: link {link} names vertex {corners[link, place]}; the body has vertices 0 to "
            f"{body.n_vertices - 1}."
        )
    shares = _weights(corners.shape, weights, f"attach: weights_{side} of {body.name}")
    corners = corners.astype(np.int64)
    if isinstance(body, RigidBody) and corners.shape[1] > 1:  # one point that the body carries: its block is then exact
        places = np.einsum("kp,kpa->ka", shares, body.initial_positions[corners])
        return np.array([[body.point(place)] for place in places]), np.ones((len(places), 1))
    return corners, shares


def _weights(shape: tuple[int, ...], weights: ArrayLike | None, what: str) -> np.ndarray:
    if weights is None and shape[1] == 1:
        return np.ones(shape)
    if weights is None:
        raise SceneError(f"{what} are missing: give {shape} numbers of sum 1 in each row, one per corner.")
    try:
        given = np.array(weights, dtype=float)
    except NO_NUMBER:
        given = np.empty(0)
    given = given[:, None] if given.ndim == 1 and shape[1] == 1 else given
    if given.shape != shape or not np.isfinite(given).all():
        raise SceneError(f"{what} have shape {given.shape}; give {shape} finite numbers, one per corner.")
    total = given.sum(axis=1)
    wrong = np.flatnonzero(np.abs(total - 1) > ROUNDING)
    if wrong.size:
        raise SceneError(f"{what}: those of link {wrong[0]} sum to {total[wrong[0]]:g}; they must sum to 1.")
    kept = np.abs(total - 1) <= 4 * np.finfo(float).eps  # normalised before: their bits stay
    return given / np.where(kept, 1.0, total)[:, None]
