"""Motions that lead vertices through a scene."""

from __future__ import annotations

import numpy as np

from pliant.model import Motion, Scene


def turn_about_z(points: np.ndarray, turns: float, seconds: float) -> Motion:
    """Turn points (k, 3) [m] about the z axis, gently from rest to rest within so many seconds; then hold them."""
    start = np.array(points, float)

    def motion(t: float) -> np.ndarray:
        s = min(max(t / seconds, 0.0), 1.0)
        angle = 2 * np.pi * turns * s * s * (3 - 2 * s)
        x, y, z = start.T
        return np.column_stack([np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y, z])

    return motion


def motions_of(scene: Scene) -> dict[str, list[Motion]]:
    """The motions of every body by its name, as Simulation.resume wants them: a checkpoint cannot hold functions.

    Simulation.resume("demo/demo.npz", motions=motions_of(twisted_beam()))
    """
    return {body.name: [motion for _, motion in body.motions] for body in scene.bodies if body.motions}
