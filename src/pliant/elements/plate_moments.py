"""What a plate asks of a bending energy of the angles at hinges.

    E = k/2 sum_ij D_ij phi_i phi_j,      phi_i = theta_i - theta_i0 of hinge i

For a sheet with the constant curvature K, hinge i folds by f_i . K: a linear function of K that its two triangles
give. The energy of a plate has the moment K at every edge: sum_j D_ij phi_j = |e_i| m_i . K m_i, with m_i across the
edge. So D agrees with the plate, and a sheet of constant curvature is in equilibrium (the patch test), if

    sum_j D_ij f_j = |e_i| m_i m_i^T       for every hinge i.                                              (1)

At a free rim with the normal b no moment acts, so that only curvatures with b . K b = 0 are in equilibrium there: for
a hinge in a triangle of the rim, (1) is asked for without its part along b b^T. The others, curvature along the rim
and twist, then bend a strip and twist a plate as they should, up to the rim.

Symmetric tensors are rows (xx, yy, sqrt 2 xy), so that their scalar product is that of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SQRT2 = np.sqrt(2.0)
PARALLEL = 1e-6  # sine: two edges of a rim that are straighter have one normal


class HingeFrames(NamedTuple):
    """Hinges (h, 4) at rest, each unfolded into a plane with x along its edge and y to wing 2."""

    length: np.ndarray  # (h,) [m]
    both: np.ndarray  # (h,) [m^2] area of the two triangles
    wings: np.ndarray  # (h, 2, 2) [m] wings 2 and 3 seen from the edge's start


def hinge_frames(points: np.ndarray, hinges: np.ndarray) -> HingeFrames:
    """Of hinges (h, 4) at rest at points (n, 3) [m]."""
    x = points[hinges]
    edge = x[:, 1] - x[:, 0]
    length = np.linalg.norm(edge, axis=1)
    arms = x[:, 2:] - x[:, :1]
    along = np.einsum("mwa,ma->mw", arms, edge) / length[:, None]
    height = np.linalg.norm(np.cross(edge[:, None], arms), axis=2) / length[:, None]
    wings = np.stack((along, height * np.array([1.0, -1.0])), axis=2)
    return HingeFrames(length, 0.5 * length * height.sum(axis=1), wings)


def unit_folds(frames: HingeFrames) -> np.ndarray:
    """f (h, 3) [m]: folds of hinges, unfolded, for unit curvatures in the hinge's frame.

    With heights K_xx x^2 / 2 + K_yy y^2 / 2 + K_xy x y, edge length l and a wing at (x, y), the wing's triangle rises
    by ((x^2 - x l) K_xx / 2 + y^2 K_yy / 2 + x y K_xy) / |y|.
    """
    x, y = frames.wings[:, :, 0], frames.wings[:, :, 1]
    rise = (x * (x - frames.length[:, None]), y * y, SQRT2 * x * y)
    return 0.5 * np.sum(np.stack(rise, axis=2) / np.abs(y)[:, :, None], axis=1)


def rim_edges(hinges: np.ndarray) -> np.ndarray:
    """(h, 2, 2) bool: whether the edge from an end (0, 1) of a hinge to a wing (2, 3) belongs to one triangle only."""
    n = int(hinges.max(initial=0)) + 1

    def key(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.minimum(a, b) * n + np.maximum(a, b)

    return ~np.isin(key(hinges[:, :2, None], hinges[:, None, 2:]), key(hinges[:, 0], hinges[:, 1]))


def rim_directions(frames: HingeFrames) -> np.ndarray:
    """(h, 2, 2, 2) [m] from an end (0, 1) of a hinge to a wing (2, 3), in the hinge's frame."""
    ends = np.zeros((len(frames.length), 2, 1, 2))
    ends[:, 1, 0, 0] = frames.length
    return frames.wings[:, None] - ends


def moment_projections(frames: HingeFrames, is_rim: np.ndarray) -> np.ndarray:
    """(h, 3, 3) that take the parts along b b^T of rims `is_rim` (h, 2, 2) out of (1)."""
    edges = rim_directions(frames)
    b = edges[..., ::-1] * np.array([-1.0, 1.0]) / np.linalg.norm(edges, axis=-1, keepdims=True)
    squares = np.stack((b[..., 0] ** 2, b[..., 1] ** 2, SQRT2 * b[..., 0] * b[..., 1]), axis=-1).reshape(-1, 4, 3)
    projections = np.tile(np.eye(3), (len(is_rim), 1, 1))
    for place, asked in enumerate(is_rim.reshape(-1, 4).T):
        part = np.einsum("hij,hj->hi", projections, squares[:, place])
        size = np.linalg.norm(part, axis=1)
        part *= np.where(asked & (size > PARALLEL), 1 / np.maximum(size, PARALLEL), 0.0)[:, None]
        projections -= part[:, :, None] * part[:, None, :]
    return projections


def solve_normal(apply, lack: np.ndarray, iterations: int) -> np.ndarray:
    """z with apply(z) nearly `lack`, by conjugate gradients, for a symmetric semidefinite matrix.

    What the matrix cannot reach (nothing is left to reach, or p is in its null space) stays.
    """
    z, r, p = np.zeros_like(lack), lack.copy(), lack.copy()
    square = float(np.vdot(r, r))
    end = 1e-8 * square
    for _ in range(iterations):
        q = apply(p)
        curvature = float(np.vdot(p, q))
        if curvature <= 0.0:
            break
        step = square / curvature
        z, r = z + step * p, r - step * q
        before, square = square, float(np.vdot(r, r))
        if square <= end:
            break
        p = r + square / before * p
    return z
