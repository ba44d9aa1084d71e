"""Energy of springs and ropes and its derivatives, in double precision (see elements.spring).

Everywhere: x (n, 3) [m], edges (m, 2), stiffness k (m,) [N/m], rest_lengths (m,) [m], compression (m,): the part of k
that resists compression, 1 for a spring, 0 for a rope.
"""

from __future__ import annotations

import numpy as np

from pliant.elements.spring import LEAST_LENGTH

Array = np.ndarray


def energy(x: Array, edges: Array, stiffness: Array, rest_lengths: Array, compression: Array) -> Array:
    """k/2 (l - l0)^2 (m,) [J]."""
    _, length, k = _measure(x, edges, stiffness, rest_lengths, compression)
    return 0.5 * k * (length - rest_lengths) ** 2


def gradient(x: Array, edges: Array, stiffness: Array, rest_lengths: Array, compression: Array) -> Array:
    """dE/dx (m, 2, 3) [N]."""
    d, length, k = _measure(x, edges, stiffness, rest_lengths, compression)
    pull = (k * (length - rest_lengths))[:, None] * d
    return np.stack((-pull, pull), axis=1)


def hessian(x: Array, edges: Array, stiffness: Array, rest_lengths: Array, compression: Array) -> Array:
    """d2E/dx2 (m, 6, 6) [N/m], exact: k d d^T + E'/l (1 - d d^T) with signs + - - +."""
    block = _block(*_measure(x, edges, stiffness, rest_lengths, compression), rest_lengths, -np.inf)
    return np.block([[block, -block], [-block, block]])


def vertex_blocks(x: Array, edges: Array, stiffness: Array, rest_lengths: Array, compression: Array) -> Array:
    """What a vertex solves with (m, 2, 3, 3) [N/m]: without the negative part across a compressed spring."""
    block = _block(*_measure(x, edges, stiffness, rest_lengths, compression), rest_lengths, 0.0)
    return np.stack((block, block), axis=1)


def _measure(
    x: Array, edges: Array, stiffness: Array, rest_lengths: Array, compression: Array
) -> tuple[Array, Array, Array]:
    """Unit directions from the first end to the second, lengths, and the stiffness that holds."""
    r = x[edges[:, 1]] - x[edges[:, 0]]
    length = np.linalg.norm(r, axis=1)
    k = np.where(length < rest_lengths, stiffness * compression, stiffness)
    return r / np.maximum(length, LEAST_LENGTH)[:, None], length, k


def _block(d: Array, length: Array, k: Array, rest_lengths: Array, least: float) -> Array:
    across = np.maximum(k * (1 - rest_lengths / np.maximum(length, LEAST_LENGTH)), least)[:, None, None]
    along = d[:, :, None] * d[:, None, :]
    return k[:, None, None] * along + across * (np.eye(3) - along)
