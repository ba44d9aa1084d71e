"""Curvatures of the triangles of a sheet, linear in the positions, that bend as a plate on any mesh.

    E = k/2 sum_T A_T |K_T|^2,      K_T = sum_{edges e of T} 2/h_e (slope at e - slope of T) m_e m_e^T

with h_e the height of T on its edge e, m_e across the edge, out of T, and slopes in that direction. This is Morley's
plate: a quadratic function on each triangle, given by its heights at the vertices and one slope at the middle of each
edge, which both triangles of the edge share. It converges on any mesh. Here slopes are no unknowns. The slope at an
edge is the mean of the two triangles' slopes and a part of the folds theta of the edge and of the four other edges of
its triangles,

    slope at e = (s_1 + s_2) / 2 + sum_j c_ej theta_j,

with the least c_ej for which it is exact for every constant curvature. What is spanned are functions of Morley's plate
that contain all quadratic ones, so that the energy is positive, that of constant curvature is exact, constant
curvature is in equilibrium, and nothing but rigid motions is free of energy. The slope at the edge of a rim is free:
the least energy for any slope there has K_T without its part along m_e m_e^T.

Folds are slope changes, linear in the positions: of a hinge that is not stretched,
2 sin(theta / 2) along the mean of its triangles' normals. So K_T has three components that are vectors, weighted sums
of up to twelve positions. Triangles are unfolded, so that a sheet may be curved at rest.

Symmetric tensors are rows (xx, yy, sqrt 2 xy), so that their scalar product is that of rows.
"""

from __future__ import annotations

import numpy as np

from pliant.elements import triangle
from pliant.elements.plate_forms import tensor_turns
from pliant.elements.plate_moments import SQRT2, HingeFrames, hinge_frames, unit_folds
from pliant.geometry.folds import hinge_corners, next_corner
from pliant.sparse import sp

UNSEEN = 0.01  # relative: curvatures that fold the edges around a hinge less than this are not seen by them
TINY = 1e-300  # [m^2] divides in place of zero
ROUNDING = 1e-12  # of a part of a slope: nothing
PARALLEL = 1e-6  # of m m^T: rims that are straighter are one


def triangle_curvatures(points: np.ndarray, triangles: np.ndarray, is_local: bool = False) -> sp.csr_matrix:
    """(3 m, n) [1/m]: sqrt(A_T) K_T of triangles (m, 3) as sums of positions, three rows each; points (n, 3): rest.

    is_local: no triangle sees more than its neighbours and theirs, also at a rim.
    """
    sides = hinge_corners(triangles, len(points))
    hinges = triangles.ravel()[sides[:, :4]]
    rows = np.repeat(np.arange(len(hinges)), 4)
    folds = sp.csr_matrix((slope_changes(points, hinges).ravel(), (rows, hinges.ravel())), (len(hinges), len(points)))
    slots = next_corner(sides[:, 2:4])  # corners of the two triangles at which the hinge's edge begins
    first, second = _edge_moments(points, triangles, slots)
    parts = _slope_parts(hinge_frames(points, hinges), sides, slots, 3 * len(triangles), is_local)
    return (0.5 * (first + second) @ folds + (second - first) @ (parts @ folds)).tocsr()


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


def _edge_moments(points: np.ndarray, triangles: np.ndarray, slots: np.ndarray) -> list[sp.csr_matrix]:
    """Two (3 m, h) [1/m]: what a unit of slope at the edge of a hinge adds to sqrt(A_T) K_T of its first and second
    triangle, without the parts along m m^T of rims.
    """
    b, areas, _ = triangle.rest_data(points, triangles)  # b: across the edge opposite a corner, of size 1 / height
    size = np.linalg.norm(b, axis=2)
    squares = np.stack((b[..., 0] ** 2, b[..., 1] ** 2, SQRT2 * b[..., 0] * b[..., 1]), axis=2) / size[..., None] ** 2
    is_rim = np.ones(3 * len(triangles), bool)
    is_rim[next_corner(slots, 2)] = False  # the corner opposite the edge
    projections = np.tile(np.eye(3), (len(triangles), 1, 1))
    for corner, has_rim in enumerate(is_rim.reshape(-1, 3).T):
        part = np.einsum("mij,mj->mi", projections, squares[:, corner])
        length = np.linalg.norm(part, axis=1)
        part *= np.where(has_rim & (length > PARALLEL), 1 / np.maximum(length, PARALLEL), 0.0)[:, None]
        projections -= part[:, :, None] * part[:, None, :]
    moments = 2 * np.sqrt(areas)[:, None, None] * size[..., None] * np.einsum("mij,mcj->mci", projections, squares)
    flat, h = moments.reshape(-1, 3), len(slots)
    columns = np.repeat(np.arange(h), 3)
    matrices = []
    for slot in slots.T:
        rows = 3 * (slot // 3)[:, None] + np.arange(3)
        matrices.append(
            sp.csr_matrix((flat[next_corner(slot, 2)].ravel(), (rows.ravel(), columns)), (3 * len(triangles), h))
        )
    return matrices


def _slope_parts(
    frames: HingeFrames, sides: np.ndarray, slots: np.ndarray, n_corners: int, is_local: bool
) -> sp.csr_matrix:
    """c (h, h): the slope at the middle of an edge, towards wing 2, less the mean of its triangles' slopes, of folds.

    At a rim the folds next to an edge may be too few: the folds next to these are seen too, unless is_local.
    """
    own, wanted = unit_folds(frames), _slope_errors(frames)
    near, turns = _near_hinges(frames, sides, slots, n_corners)
    c, lack = _least_parts(_turned(own, near, turns), wanted)
    parts = _matrix(c, np.arange(len(near)), near, len(near))
    if is_local:
        return parts
    few = np.flatnonzero(np.linalg.norm(lack, axis=1) > UNSEEN * frames.length)
    by = near[few]
    far = np.where((by >= 0)[:, :, None], near[by], -1).reshape(len(few), 25)
    far_turns = (turns[few][:, :, None] @ turns[by]).reshape(len(few), 25, 3, 3)
    more, _ = _least_parts(_turned(own, far, far_turns), lack[few])
    return parts + _matrix(more, few, far, len(near))


def _near_hinges(
    frames: HingeFrames, sides: np.ndarray, slots: np.ndarray, n_corners: int
) -> tuple[np.ndarray, np.ndarray]:
    """(h, 5) each hinge and those at the other edges of its triangles, -1 at a rim; (h, 5, 3, 3) that turn tensors from
    their frames to its own.
    """
    h = len(sides)
    hinge_of = np.full(n_corners, -1)  # of the edge that begins at a corner
    hinge_of[slots[:, 0]] = hinge_of[slots[:, 1]] = np.arange(h)
    near, turns = [np.arange(h)], [np.tile(np.eye(3), (h, 1, 1))]
    for side in (0, 1):
        at = _corners_in_frame(frames, sides, side)
        for steps in (1, 2):
            slot = next_corner(slots[:, side], steps)
            near.append(hinge_of[slot])
            turns.append(tensor_turns(_axes_of_other(at, slot, hinge_of[slot], sides, slots)))
    return np.stack(near, axis=1), np.stack(turns, axis=1)


def _turned(folds: np.ndarray, hinges: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """(m, k, 3) folds (h, 3) of hinges (m, k) for unit curvatures in another frame; 0 where there is none."""
    return np.where((hinges >= 0)[:, :, None], np.einsum("mkij,mkj->mki", turns, folds[hinges]), 0.0)


def _least_parts(folds: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least c (m, k) with sum_k c_k folds_k = wanted (m, 3), folds (m, k, 3), and what is lacking (m, 3)."""
    values, vectors = np.linalg.eigh(folds.transpose(0, 2, 1) @ folds)
    inverse = np.where(values > UNSEEN**2 * values[:, -1:], 1 / np.maximum(values, TINY), 0.0)
    along = np.einsum("mji,mj->mi", vectors, wanted) * inverse
    c = np.einsum("mkj,mji,mi->mk", folds, vectors, along)
    return c, wanted - np.einsum("mk,mki->mi", c, folds)


def _matrix(c: np.ndarray, rows: np.ndarray, columns: np.ndarray, h: int) -> sp.csr_matrix:
    """(h, h) of values c (m, k) in rows (m,) and columns (m, k), -1 for none; without what is rounding."""
    there = (columns >= 0) & (np.abs(c) > ROUNDING)
    return sp.csr_matrix((c[there], (rows[np.nonzero(there)[0]], columns[there])), (h, h))


def _slope_errors(frames: HingeFrames) -> np.ndarray:
    """(h, 3) [m]: the slope of z = K_xx x^2 / 2 + K_yy y^2 / 2 + K_xy x y at the middle of an edge, along y, less the
    mean of the slopes of the two triangles through z at their corners, for unit curvatures.
    """
    x, y, length = frames.wings[:, :, 0], frames.wings[:, :, 1], frames.length[:, None]
    slopes = np.stack((x * (x - length) / (2 * y), 0.5 * y, (x - 0.5 * length) / SQRT2), axis=2)
    return -slopes.mean(axis=1)


def _corners_in_frame(frames: HingeFrames, sides: np.ndarray, side: int) -> np.ndarray:
    """(h, 3, 2) [m] where the corners 0, 1, 2 of the first or second triangle of hinges are, in the hinge's frame."""
    at = np.zeros((len(sides), 3, 2))
    rows = np.arange(len(sides))
    at[rows, sides[:, (1, 5)[side]] % 3, 0] = frames.length
    at[rows, sides[:, 2 + side] % 3] = frames.wings[:, side]
    return at


def _axes_of_other(
    at: np.ndarray, slot: np.ndarray, other: np.ndarray, sides: np.ndarray, slots: np.ndarray
) -> np.ndarray:
    """(h, 2, 2) columns: axes of the frame of the hinge `other` (h,) in a frame in which the corners of the triangle
    that both share are `at` (h, 3, 2); slot: corner at which the other's edge begins there.
    """
    rows = np.arange(len(slot))
    start, end, third = (at[rows, next_corner(slot, steps) % 3] for steps in (0, 1, 2))
    along = end - start
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    arm = third - start
    across = arm - np.einsum("ha,ha->h", arm, along)[:, None] * along
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    is_first = slots[other, 0] == slot  # then the other's wing 2 is in this triangle, else wing 3
    is_along = is_first | (sides[other, 4] == slot)
    return np.stack((np.where(is_along, 1, -1)[:, None] * along, np.where(is_first, 1, -1)[:, None] * across), axis=2)
