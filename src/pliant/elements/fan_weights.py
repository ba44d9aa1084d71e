"""Weights of a bending energy of single, two and three angles that agrees with the plate on any mesh.

    E = k/2 sum_ij D_ij phi_i phi_j,      phi_i = theta_i - theta_i0 of hinge i

D is a sum of positive forms of up to three hinges that follow each other around a vertex (geometry.fans), the nearest
ones that agree with the plate (elements.plate_forms). Their frames are unfolded around the vertex, so that the sheet
may be curved at rest. Each form is a part for the hinges alone, as large as it can be, and what is left is one square
of three angles and one of the last two:

    D = diag(own) + t t^T + s s^T,      t = (a, b, c),   s = (0, a', b')

so that E >= 0 term by term, and a sheet that tears loses the squares whose triangles part and keeps the rest.
Squares of two angles alone cannot agree with the plate on irregular triangles: they are 2 to 4 % too stiff in bending
and 6 to 8 % in twist, refined or not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.elements.plate_forms import FormGroup, form_group, nearest_forms, sheet_folds, tensor_turns
from pliant.geometry import FoldFans
from pliant.geometry.fans import Groups


class FanWeights(NamedTuple):
    """E = k/2 sum (t . phi of a fan)^2 + k/2 sum (s . phi of a pair)^2 + k/2 sum_i own_i phi_i^2."""

    fans: np.ndarray  # (f, 3) t
    pairs: np.ndarray  # (f + p, 2) s: of the last two hinges of each fan, then of the pairs
    own: np.ndarray  # (h,)


def fan_weights(points: np.ndarray, triangles: np.ndarray, hinges: np.ndarray, folds: FoldFans) -> FanWeights:
    """Of a sheet at rest at points (n, 3) [m] with triangles (m, 3), hinges (h, 4) and their fans."""
    sheet = sheet_folds(points, triangles, hinges)
    corner = points[triangles.ravel()]
    kinds: tuple[tuple[Groups, np.ndarray], ...] = (
        (folds.fans, corner[folds.fan_corners[:, (0, 1, 2, 3)]]),
        (folds.pairs, corner[folds.pair_corners[len(folds.fans.hinges) :, (0, 1, 2)]]),
        (folds.singles, points[hinges[folds.singles.hinges[:, 0], :2]]),
    )
    groups: list[FormGroup] = [
        form_group(sheet, group.vertices, group.hinges, _unfolded(spokes)) for group, spokes in kinds
    ]
    of_fans, of_pairs, of_singles = nearest_forms(sheet, groups)
    alone = _alone(of_fans)
    t, rest = _first_square(of_fans - alone)
    s, left = _square(np.concatenate((rest, of_pairs)))
    own = np.einsum("mii->mi", alone)
    own[:, 1:] += left[: len(own)]
    total = np.zeros(len(hinges))
    for group, part in zip(groups, (own, left[len(own) :], of_singles[:, 0]), strict=True):
        total += group.sums @ part.ravel()
    return FanWeights(t, s, total)


def _unfolded(spokes: np.ndarray) -> np.ndarray:
    """(m, k, 3, 3) tensors from the frames of hinges to that of the first; spokes (m, 1 + k, 3) [m]: the vertex, then
    the other ends of the hinges' edges. A frame that is turned by pi has the same tensors.
    """
    arms = spokes[:, 1:] - spokes[:, :1]
    one, next_one = arms[:, :-1], arms[:, 1:]
    sines = np.linalg.norm(np.cross(one, next_one), axis=2)
    between = np.arctan2(sines, np.einsum("mka,mka->mk", one, next_one))
    angles = np.concatenate((np.zeros((len(arms), 1)), np.cumsum(between, axis=1)), axis=1)
    c, s = np.cos(angles), np.sin(angles)
    return tensor_turns(np.stack((np.stack((c, -s), axis=-1), np.stack((s, c), axis=-1)), axis=-2))


def _alone(forms: np.ndarray) -> np.ndarray:
    """The largest diagonal (m, k, k), in proportion to that of positive forms (m, k, k), that leaves them positive."""
    diagonal = np.einsum("mii->mi", forms)
    scale = 1 / np.sqrt(diagonal)
    least = np.maximum(np.linalg.eigvalsh(forms * scale[:, :, None] * scale[:, None, :])[:, 0], 0.0)
    return (least[:, None] * diagonal)[:, :, None] * np.eye(forms.shape[1])


def _first_square(forms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """t (m, 3) of forms (m, 3, 3), and the forms of the last two that are left: a step of Cholesky's algorithm."""
    first = forms[:, 0, 0]
    t = forms[:, 0] / np.sqrt(np.where(first > 0, first, 1.0))[:, None]
    return t, forms[:, 1:, 1:] - t[:, 1:, None] * t[:, None, 1:]


def _square(forms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """s (m, 2) with the product of forms (m, 2, 2), and what is left for the two alone (m, 2)."""
    p, q, o = np.maximum(forms[:, 0, 0], 0.0), np.maximum(forms[:, 1, 1], 0.0), forms[:, 0, 1]
    size = np.sqrt(np.minimum(np.abs(o), np.sqrt(p * q)))
    ratio = np.where(size > 0, (p / np.where(q > 0, q, 1.0)) ** 0.25, 1.0)
    s = np.stack((size * ratio, np.sign(o) * size / np.where(ratio > 0, ratio, 1.0)), axis=1)
    return s, np.maximum(np.stack((p, q), axis=1) - s**2, 0.0)
