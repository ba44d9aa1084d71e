"""A moment on a set of vertices, as forces."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import SceneError
from pliant.model import checks

Moments = ArrayLike | Callable[[float], ArrayLike]
THIN = 1e-9  # of the largest moment of inertia: about an axis with less the vertices have no lever


class Moment:
    """M [N m] on vertices of a body, wherever they are: forces f_i = (I^-1 M) x r_i with r_i from their middle and
    I = sum (|r|^2 1 - r r^T). They sum to zero and have the moment M exactly.
    """

    def __init__(self, name: str, vertices: np.ndarray, moment: Moments, positions: np.ndarray):
        self.vertices, self._moment = vertices, moment
        if not callable(moment):
            self._moment = checks.vectors(moment, None, f"{name}: the moment", "N m")
        try:
            self(positions, positions, 0.0)
        except SceneError as error:
            raise SceneError(f"{name}: {error}") from None

    def __call__(self, x: np.ndarray, v: np.ndarray, time: float) -> np.ndarray:
        """Forces (n, 3) [N] at positions x (n, 3) [m]."""
        given = self._moment(time) if callable(self._moment) else self._moment
        moment = checks.vectors(given, None, "the moment", "N m")
        r = x[self.vertices] - x[self.vertices].mean(axis=0)
        inertia = np.sum(r * r) * np.eye(3) - r.T @ r
        values, axes = np.linalg.eigh(inertia)
        has_lever = values > THIN * values[-1]
        along = axes.T @ moment
        if np.abs(along[~has_lever]).max(initial=0.0) > 1e-6 * np.abs(moment).max(initial=0.0):
            raise SceneError(
                f"the {len(self.vertices)} vertices lie on one line, about which a moment has no lever: choose more."
            )
        turn = axes @ np.where(has_lever, along / np.where(has_lever, values, 1.0), 0.0)
        forces = np.zeros_like(x)
        forces[self.vertices] = np.cross(turn, r)
        return forces
