"""Velocities split into rigid motions of bodies and the rest, which has neither momentum nor angular momentum."""

from __future__ import annotations

import numpy as np

THIN = 1e-10  # of the largest moment of inertia: about an axis with less a body does not turn


def rigid_velocities(label: np.ndarray, count: int, mass: np.ndarray, x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(n, 3) [m/s] of the rigid motions with the momenta that v (n, 3) [m/s] has at x (n, 3) [m]; zero for vertices of
    no body.

    label (n,): body of each vertex, -1 for none; mass (n,) [kg].
    """
    own = label >= 0
    label, mass, places, speeds = label[own], mass[own], x[own], v[own]
    total = np.maximum(np.bincount(label, mass, count), 1e-300)
    centre, velocity = (_sums(label, count, mass[:, None] * values) / total[:, None] for values in (places, speeds))
    arms, relative = places - centre[label], speeds - velocity[label]
    momentum = _sums(label, count, mass[:, None] * np.cross(arms, relative))
    squares = mass[:, None, None] * arms[:, :, None] * arms[:, None, :]
    moments = _sums(label, count, squares.reshape(-1, 9)).reshape(-1, 3, 3)
    inertia = np.trace(moments, axis1=1, axis2=2)[:, None, None] * np.eye(3) - moments
    spin = np.einsum("kij,kj->ki", np.linalg.pinv(inertia, rcond=THIN, hermitian=True), momentum)
    rigid = np.zeros_like(v)
    rigid[own] = velocity[label] + np.cross(spin[label], arms)
    return rigid


def _sums(label: np.ndarray, count: int, values: np.ndarray) -> np.ndarray:
    """(count, k) of values (n, k)."""
    return np.stack([np.bincount(label, column, count) for column in values.T], axis=1)
