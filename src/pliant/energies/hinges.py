"""Energy of hinges and its derivatives, in double precision (see elements.hinge).

Everywhere: x (n, 3) [m], hinges (m, 4), rest_angles (m,) [rad], stiffness k w (m,) [J].
"""

from __future__ import annotations

import numpy as np

from pliant.elements.hinge import FLAT, TINY, rest_data

Array = np.ndarray


def angles(x: Array, hinges: Array) -> Array:
    """theta (m,) [rad]: 0 when flat, positive when the triangles fold away from their normals."""
    return rest_data(x, hinges)[0]


def energy(x: Array, hinges: Array, rest_angles: Array, stiffness: Array) -> Array:
    """k w/2 (theta - theta_0)^2 (m,) [J]."""
    return 0.5 * stiffness * (angles(x, hinges) - rest_angles) ** 2


def gradient(x: Array, hinges: Array, rest_angles: Array, stiffness: Array) -> Array:
    """dE/dx (m, 4, 3) [N]."""
    moment = stiffness * (angles(x, hinges) - rest_angles)
    return moment[:, None, None] * angle_gradients(x, hinges)


def hessian(x: Array, hinges: Array, rest_angles: Array, stiffness: Array) -> Array:
    """d2E/dx2 (m, 12, 12) [N/m], exact."""
    g = angle_gradients(x, hinges).reshape(-1, 12)
    bend = (angles(x, hinges) - rest_angles)[:, None, None]
    return stiffness[:, None, None] * (g[:, :, None] * g[:, None, :] + bend * angle_hessians(x, hinges))


def vertex_blocks(x: Array, hinges: Array, rest_angles: Array, stiffness: Array) -> Array:
    """What a vertex solves with (m, 4, 3, 3) [N/m]: k w dtheta dtheta^T."""
    g = angle_gradients(x, hinges)
    return stiffness[:, None, None, None] * g[:, :, :, None] * g[:, :, None, :]


def angle_gradients(x: Array, hinges: Array) -> Array:
    """dtheta/dx (m, 4, 3) [1/m]."""
    total = np.zeros((len(hinges), 4, 3))
    for wing in (2, 3):
        n, size, factors, _ = _side(x, hinges, wing)
        total[:, (0, 1, wing)] += (factors / size)[:, :, None] * n[:, None, :]
    return total


def angle_hessians(x: Array, hinges: Array) -> Array:
    """d2theta/dx2 (m, 12, 12) [1/m^2].

    The derivative of each vertex is a factor times n / |n|^2 for either triangle; both are differentiated.
    """
    total = np.zeros((len(hinges), 4, 3, 4, 3))
    for wing in (2, 3):
        corners = (0, 1, wing)
        n, size, factors, factor_gradients = _side(x, hinges, wing)
        inverse = n / size
        turned = (np.eye(3) - 2 * n[:, :, None] * inverse[:, None, :]) / size[:, :, None]  # d(n / |n|^2) / dn
        part = np.einsum("ma,mijb->miajb", inverse, factor_gradients)
        part += np.einsum("mi,mab,mjbc->miajc", factors, turned, _normal_gradients(x, hinges, wing), optimize=True)
        index = np.ix_(range(len(hinges)), corners, range(3), corners, range(3))
        total[index] += part
    return total.reshape(-1, 12, 12)


def _side(x: Array, hinges: Array, wing: int) -> tuple[Array, Array, Array, Array]:
    """Of the triangle (0, 1, wing): n (m, 3), |n|^2 (m, 1), the factors (m, 3) of n / |n|^2 in dtheta at its corners,
    and their derivatives (m, 3, 3, 3): factor, corner, axis.
    """
    edge, arm, back = _edges(x, hinges, wing)
    n = np.cross(edge, arm) if wing == 2 else np.cross(arm, edge)
    length = np.maximum(np.linalg.norm(edge, axis=1), TINY)
    t = edge / length[:, None]
    size = np.maximum(np.sum(n * n, axis=1), FLAT * length**4 + TINY)
    along_back, along_arm = np.sum(back * t, axis=1), np.sum(arm * t, axis=1)
    factors = np.stack((-along_back, along_arm, -length), axis=1)
    tilt_back = (back - along_back[:, None] * t) / length[:, None]  # d(back . t) by the edge alone
    tilt_arm = (arm - along_arm[:, None] * t) / length[:, None]
    zero = np.zeros_like(t)
    of_start = np.stack((tilt_back, t - tilt_back, -t), axis=1)
    of_end = np.stack((-t - tilt_arm, tilt_arm, t), axis=1)
    of_wing = np.stack((t, -t, zero), axis=1)
    return n, size[:, None], factors, np.stack((of_start, of_end, of_wing), axis=1)


def _normal_gradients(x: Array, hinges: Array, wing: int) -> Array:
    """dn/dx (m, 3, 3, 3): corner, component of n, axis."""
    edge, arm, back = _edges(x, hinges, wing)
    sign = 1.0 if wing == 2 else -1.0
    opposite = np.stack((back, -arm, edge), axis=1)  # dn = opposite x dx
    return sign * np.cross(opposite[:, :, None, :], np.eye(3)).swapaxes(2, 3)


def _edges(x: Array, hinges: Array, wing: int) -> tuple[Array, Array, Array]:
    """From vertex 0 to 1, from 0 to the wing, from 1 to the wing."""
    start, end, tip = x[hinges[:, 0]], x[hinges[:, 1]], x[hinges[:, wing]]
    return end - start, tip - start, tip - end
