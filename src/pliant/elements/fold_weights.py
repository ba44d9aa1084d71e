"""Weights of a bending energy of single angles and pairs of angles that agrees with the plate on any mesh.

    E = k/2 sum_ij D_ij phi_i phi_j,      phi_i = theta_i - theta_i0 of hinge i;  i = j, or i and j share a triangle

A diagonal D, single hinges, cannot agree with the plate (plate_moments, Equation 1). The mean of the shape operator
over triangles (Grinspun, Gingold, Reisman and Zorin 2006, Computing discrete shape operators on general meshes, with
normals of edges between those of their triangles),

    D_ij = A_T (|e_i| / S_i) (|e_j| / S_j) (m_i . m_j)^2,       S_i the area of both triangles of hinge i,

has (1) where cells are alike, and is up to half too stiff elsewhere. It is the start here: the nearest D with (1) is
sought among sums of positive forms of two angles each, by Dykstra's alternating projections. Each such form is one
square (a phi_i + b phi_j)^2 and what is left for the hinges alone, so that E >= 0 term by term. On very irregular
meshes no such D has (1) exactly; the energy is then too high by a few percent. Triangles that are higher over a rim
than their edge there is long admit none near: (1) is not asked for at their hinges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from pliant.elements.plate_moments import (
    SQRT2,
    hinge_frames,
    moment_projections,
    rim_directions,
    rim_edges,
    solve_normal,
    unit_folds,
)

ROUNDS = (10, 80)  # of alternating projections, least and most
WORK = 600_000  # pairs of hinges times rounds: large sheets get fewer
INNER = 4  # iterations of conjugate gradients in a round
ENOUGH = 1e-2  # what (1) may lack, relative
HIGH = 0.99  # a triangle higher than this times the length of its edge at a rim
LEAST = 5e-3  # of the start's: the least eigenvalue of a form of two angles


class FoldWeights(NamedTuple):
    """Of pairs of hinges: E = k/2 sum (a phi_i + b phi_j)^2 + k/2 sum_i own_i phi_i^2."""

    a: np.ndarray  # (f,)
    b: np.ndarray  # (f,)
    own: np.ndarray  # (h,)


class Form(NamedTuple):
    """Forms p x^2 + 2 o x y + q y^2 of two angles; each (f,)."""

    p: np.ndarray
    o: np.ndarray
    q: np.ndarray


def fold_weights(
    points: np.ndarray, hinges: np.ndarray, elements: np.ndarray, pairs: np.ndarray, owners: np.ndarray
) -> FoldWeights:
    """Of pairs (f, 2) of hinges (h, 4) in triangles `owners` (f,), whose vertices are elements (f, 5), at rest at
    points (n, 3) [m] (geometry.fold_pairs).
    """
    problem = _Problem(points, hinges, elements, pairs, owners)
    form = problem.nearest()
    size, ratio = np.sqrt(np.abs(form.o)), (form.p / form.q) ** 0.25
    a, b = size * ratio, np.sign(form.o) * size / ratio
    return FoldWeights(a, b, problem.single + problem.sums(form.p - a**2, form.q - b**2))


class _Problem:
    """Equation (1) for forms of two angles."""

    def __init__(
        self, points: np.ndarray, hinges: np.ndarray, elements: np.ndarray, pairs: np.ndarray, owners: np.ndarray
    ):
        self.pairs, self.count = pairs, len(hinges)
        self.frames = frames = hinge_frames(points, hinges)
        both, density = frames.both, frames.length / frames.both
        area, turn = _triangles(points, elements)
        first, second = pairs.T
        parts = _multiplicities(pairs, owners, self.count)  # a hinge's stiffness in a triangle is shared by its pairs
        self.single = np.maximum(both - self.sums(area / parts[:, 0], area / parts[:, 1]), 0.0) * density**2
        p, q = area / parts[:, 0] * density[first] ** 2, area / parts[:, 1] * density[second] ** 2
        o = np.sqrt(p * q)
        self.scale = np.stack((p, o, q))  # distances between forms are relative, whatever the triangles' shapes
        one = np.ones(len(pairs))
        self.start = np.stack((one, area * density[first] * density[second] * np.cos(turn) ** 2 / o, one))
        projections = self._asked(hinges)
        self.plate = projections[:, :, 1].ravel()  # moments over |e|
        blocks = projections / frames.length[:, None, None], np.arange(self.count), np.arange(self.count + 1)
        self.moments = (sp.bsr_matrix(blocks) @ self._moments(unit_folds(frames), turn)).tocsr()
        halved = sp.diags(np.repeat([1.0, 0.5, 1.0], len(pairs)))  # the norm is p^2 + 2 o^2 + q^2
        self.forms = (halved @ self.moments.T).tocsr()
        self.normal = (self.moments @ self.forms).tocsr()

    def _asked(self, hinges: np.ndarray) -> np.ndarray:
        """(h, 3, 3) projections on what (1) asks of each hinge; zero where it asks nothing."""
        is_rim = rim_edges(hinges)
        across = np.abs(self.frames.wings[:, None, :, 1]) * self.frames.length[:, None, None]
        is_high = np.sum(rim_directions(self.frames) ** 2, axis=-1) < HIGH * across
        in_pairs = np.bincount(self.pairs.ravel(), minlength=self.count)
        is_asked = (in_pairs == 4 - is_rim.sum(axis=(1, 2))) & ~(is_rim & is_high).any(axis=(1, 2))
        return moment_projections(self.frames, is_rim) * is_asked[:, None, None]

    def _moments(self, folds: np.ndarray, turn: np.ndarray) -> sp.csr_matrix:
        """Matrix (3 h, 3 f) from forms, all p, all o, all q, to sum_j D_ij f_j, in the frame of edge i."""
        first, second = self.pairs.T
        p, o, q = (np.asarray(part)[:, None] for part in self.scale)
        f, places = len(self.pairs), np.arange(len(self.pairs))
        entries = (
            (first, places, p * folds[first]),
            (first, places + f, o * _turned(folds[second], turn)),
            (second, places + f, o * _turned(folds[first], -turn)),
            (second, places + 2 * f, q * folds[second]),
        )
        rows = np.concatenate([3 * hinge[:, None] + np.arange(3) for hinge, _, _ in entries])
        columns = np.repeat(np.concatenate([column for _, column, _ in entries]), 3)
        values = np.concatenate([value for _, _, value in entries])
        return sp.csr_matrix((values.ravel(), (rows.ravel(), columns)), (3 * self.count, 3 * f))

    def nearest(self) -> Form:
        """Dykstra's algorithm between (1) and positive forms."""
        form = _positive(self.start)
        kept = np.zeros_like(form)
        enough = ENOUGH * np.linalg.norm(self.plate)
        for _ in range(int(np.clip(WORK // max(len(self.pairs), 1), *ROUNDS))):
            lack = self.plate - self.moments @ form.ravel()
            if np.linalg.norm(lack) <= enough:
                break
            tried = form + (self.forms @ solve_normal(self.normal.dot, lack, INNER)).reshape(form.shape) + kept
            form = _positive(tried)
            kept = tried - form
        return Form(*(form * self.scale))

    def sums(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """(h,) over pairs, of one number for each of their two hinges."""
        return np.bincount(self.pairs.ravel(), np.stack((first, second), axis=1).ravel(), self.count)


def _triangles(points: np.ndarray, elements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Areas [m^2] of the triangles (0, 1, 2) of pairs, and their angles at 0: the turn between both edges' frames."""
    x = points[elements]
    u, v = x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]
    double = np.linalg.norm(np.cross(u, v), axis=1)
    return 0.5 * double, np.arctan2(double, np.einsum("ma,ma->m", u, v))


def _multiplicities(pairs: np.ndarray, owners: np.ndarray, count: int) -> np.ndarray:
    """(f, 2) in how many pairs of its triangle each hinge of a pair is."""
    keys = owners[:, None] * count + pairs
    _, inverse, many = np.unique(keys.ravel(), return_inverse=True, return_counts=True)
    return many[inverse].reshape(keys.shape)


def _turned(folds: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """f (f, 3) of an edge, for curvatures in the frame from which its own is turned by an angle [rad]."""
    c, s = np.cos(turn), np.sin(turn)
    xx, yy, xy = folds.T
    mixed = SQRT2 * c * s
    return np.stack(
        (
            c * c * xx + s * s * yy - mixed * xy,
            s * s * xx + c * c * yy + mixed * xy,
            mixed * (xx - yy) + (c * c - s * s) * xy,
        ),
        axis=1,
    )


def _positive(form: np.ndarray) -> np.ndarray:
    """The nearest forms (p, o, q) (3, f) whose eigenvalues are at least LEAST."""
    p, o, q = form
    mean, half = 0.5 * (p + q), 0.5 * (p - q)
    radius = np.sqrt(half**2 + o**2) + 1e-300
    high, low = np.maximum(mean + radius, LEAST), np.maximum(mean - radius, LEAST)
    mean, scale = 0.5 * (high + low), 0.5 * (high - low) / radius
    return np.stack((mean + scale * half, scale * o, mean - scale * half))
