"""Energy of fibres in triangles and its derivatives, in double precision (see elements.fibre).

Everywhere: x (n, 3) [m], triangles (m, 3), beta (m, 3) [1/m] from elements.fibre.rest_data, stiffness A k (m,) [J].
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def energy(x: Array, triangles: Array, beta: Array, stiffness: Array) -> Array:
    """A k/8 (|F d|^2 - 1)^2 (m,) [J]."""
    _, strain = _measure(x, triangles, beta)
    return 0.125 * stiffness * strain**2


def gradient(x: Array, triangles: Array, beta: Array, stiffness: Array) -> Array:
    """dE/dx (m, 3, 3) [N]."""
    stretch, strain = _measure(x, triangles, beta)
    return 0.5 * (stiffness * strain)[:, None, None] * beta[:, :, None] * stretch[:, None, :]


def hessian(x: Array, triangles: Array, beta: Array, stiffness: Array) -> Array:
    """d2E/dx2 (m, 9, 9) [N/m], exact."""
    stretch, strain = _measure(x, triangles, beta)
    blocks = np.einsum("mi,mj,mab->miajb", beta, beta, _stiffness(stretch, strain, stiffness), optimize=True)
    return blocks.reshape(-1, 9, 9)


def vertex_blocks(x: Array, triangles: Array, beta: Array, stiffness: Array) -> Array:
    """What a vertex solves with (m, 3, 3, 3) [N/m]: without the negative part of a compressed fibre."""
    stretch, strain = _measure(x, triangles, beta)
    return beta[:, :, None, None] ** 2 * _stiffness(stretch, np.maximum(strain, 0.0), stiffness)[:, None]


def _measure(x: Array, triangles: Array, beta: Array) -> tuple[Array, Array]:
    """F d (m, 3), from differences so that nothing cancels far from the origin, and |F d|^2 - 1."""
    corner = x[triangles]
    stretch = np.einsum("mj,mja->ma", beta[:, 1:], corner[:, 1:] - corner[:, :1])
    return stretch, np.einsum("ma,ma->m", stretch, stretch) - 1


def _stiffness(stretch: Array, strain: Array, stiffness: Array) -> Array:
    """A k (F d (F d)^T + strain / 2): d2E by F d twice."""
    along = stretch[:, :, None] * stretch[:, None, :]
    return stiffness[:, None, None] * (along + 0.5 * strain[:, None, None] * np.eye(3))
