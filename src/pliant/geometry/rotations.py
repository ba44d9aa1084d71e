"""Rotations: unit quaternions (w, x, y, z), matrices and rotation vectors, many at a time."""

from __future__ import annotations

import numpy as np

SMALL_ANGLE = 1e-4  # [rad] below which sin(a) / a is its series: the error is below rounding


def matrices(quaternions: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    q = np.asarray(quaternions, float)
    double = 2 * q[..., :, None] * q[..., None, :]  # 2 w w, 2 w x, ..., 2 z z
    wx, wy, wz = (double[..., 0, k] for k in range(1, 4))
    xx, xy, xz, yy, yz, zz = (double[..., i, j] for i, j in ((1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)))
    out = np.empty((*wx.shape, 3, 3))
    out[..., 0, 0], out[..., 0, 1], out[..., 0, 2] = 1 - (yy + zz), xy - wz, xz + wy
    out[..., 1, 0], out[..., 1, 1], out[..., 1, 2] = xy + wz, 1 - (xx + zz), yz - wx
    out[..., 2, 0], out[..., 2, 1], out[..., 2, 2] = xz - wy, yz + wx, 1 - (xx + yy)
    return out


def crossed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b (k, 3), in a third of the time of np.cross."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        out[..., k] = a[..., i] * b[..., j] - a[..., j] * b[..., i]
    return out


def products(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Quaternions (..., 4) of the rotation `second` followed by `first`."""
    w, v = first[..., :1], first[..., 1:]
    u, s = second[..., :1], second[..., 1:]
    real = w * u - np.sum(v * s, axis=-1, keepdims=True)
    return np.concatenate([real, w * s + u * v + crossed(v, s)], axis=-1)


def inverses(quaternions: np.ndarray) -> np.ndarray:
    """Of unit quaternions (..., 4)."""
    return quaternions * np.array([1.0, -1.0, -1.0, -1.0])


def normalised(quaternions: np.ndarray) -> np.ndarray:
    """Divided by their lengths (..., 4)."""
    return quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)


def from_vectors(vectors: np.ndarray) -> np.ndarray:
    """Unit quaternions (..., 4) of rotations by |v| [rad] about v (..., 3): the exponential map."""
    angle = np.linalg.norm(vectors, axis=-1, keepdims=True)
    half = 0.5 * angle
    series = 0.5 - angle**2 / 48
    factor = np.where(angle < SMALL_ANGLE, series, np.sin(half) / np.where(angle == 0, 1.0, angle))
    return np.concatenate([np.cos(half), factor * vectors], axis=-1)


def to_vectors(quaternions: np.ndarray) -> np.ndarray:
    """Rotation vectors (..., 3) [rad] of unit quaternions (..., 4), at most half a turn long: the logarithm."""
    q = np.where(quaternions[..., :1] < 0, -quaternions, quaternions)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(sine, q[..., :1])
    factor = np.where(sine < SMALL_ANGLE, 2 + sine**2 / 3, angle / np.where(sine == 0, 1.0, sine))
    return factor * q[..., 1:]


def from_matrix(matrix: np.ndarray) -> np.ndarray:
    """Unit quaternion (4,) of a rotation matrix (3, 3) (Shepperd 1978: divide by the largest component)."""
    m = np.asarray(matrix, float)
    squares = np.array([1 + np.trace(m), *(1 + 2 * m[k, k] - np.trace(m) for k in range(3))])  # 4 (w, x, y, z)^2
    largest = int(np.argmax(squares))
    q = np.empty(4)
    if largest == 0:
        q[:] = squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    else:
        i = largest - 1
        j, k = (i + 1) % 3, (i + 2) % 3
        q[0], q[1 + i] = m[k, j] - m[j, k], squares[largest]
        q[1 + j], q[1 + k] = m[j, i] + m[i, j], m[k, i] + m[i, k]
    return q / np.linalg.norm(q)
