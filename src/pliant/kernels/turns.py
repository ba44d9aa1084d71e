"""Unit quaternions (w, x, y, z), rotation matrices row after row (9,) and rotation vectors [rad], as tuples: what
geometry.rotations does for many at a time, inside compiled loops.
"""

from __future__ import annotations

import math

from pliant.geometry.rotations import SMALL_ANGLE
from pliant.lanes.inner import inner

inlined = inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)


@inlined
def matrix_of(q):
    """Rotation matrix (9,)."""
    w, x, y, z = q
    return (
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    )  # fmt: skip


@inlined
def rotated(R, v):
    """R v."""
    return (
        R[0] * v[0] + R[1] * v[1] + R[2] * v[2],
        R[3] * v[0] + R[4] * v[1] + R[5] * v[2],
        R[6] * v[0] + R[7] * v[1] + R[8] * v[2],
    )


@inlined
def rotated_back(R, v):
    """R^T v."""
    return (
        R[0] * v[0] + R[3] * v[1] + R[6] * v[2],
        R[1] * v[0] + R[4] * v[1] + R[7] * v[2],
        R[2] * v[0] + R[5] * v[1] + R[8] * v[2],
    )


@inlined
def product(p, q):
    """The rotation q followed by p."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + q[0] * p[1] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] + q[0] * p[2] + p[3] * q[1] - p[1] * q[3],
        p[0] * q[3] + q[0] * p[3] + p[1] * q[2] - p[2] * q[1],
    )


@inlined
def normalised(q):
    size = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (q[0] / size, q[1] / size, q[2] / size, q[3] / size)


@inlined
def turned(q, v):
    """q, and then a rotation by |v| about v."""
    angle = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    s = math.sin(0.5 * angle) / angle if angle > SMALL_ANGLE else 0.5 - angle * angle / 48.0
    return normalised(product((math.cos(0.5 * angle), s * v[0], s * v[1], s * v[2]), q))


@inlined
def turn_between(p, q):
    """The rotation vector that leads from p to q, at most half a turn."""
    d = product(q, (p[0], -p[1], -p[2], -p[3]))
    sign = -1.0 if d[0] < 0.0 else 1.0
    sine = math.sqrt(d[1] * d[1] + d[2] * d[2] + d[3] * d[3])
    factor = 2.0 + sine * sine / 3.0
    if sine >= SMALL_ANGLE:
        factor = 2.0 * math.atan2(sine, sign * d[0]) / sine
    return (sign * factor * d[1], sign * factor * d[2], sign * factor * d[3])
