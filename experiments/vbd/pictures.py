"""Pictures of a deforming mesh, with Pliant's own renderer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.viewer import light
from pliant.viewer.camera import direction, fit_camera
from pliant.viewer.pictures import SAMPLES, Surface


def y_up(points: np.ndarray) -> np.ndarray:
    """Points (n, 3) of a mesh whose y points up, turned so that z does, as the renderer wants it."""
    return points[:, [0, 2, 1]] * [1, -1, 1]


def moments(
    positions: Sequence[np.ndarray],
    surface: Surface,
    azimuth: float,
    elevation: float,
    height: int,
    shown: Sequence[np.ndarray] | None = None,
) -> list[np.ndarray]:
    """Pictures (rows, columns, 3) uint8 of a surface at several positions (n, 3) [m], all by the same camera.

    azimuth and elevation of the viewer in degrees; height in pixels; the camera shows all points of `shown`, by
    default of all positions.
    """
    used = np.unique(surface.triangles)
    seen = np.concatenate([np.asarray(x, float)[used] for x in shown or positions])
    camera = fit_camera(seen, direction(azimuth, elevation), SAMPLES * height, samples=SAMPLES)
    triangles, colours = np.ascontiguousarray(surface.triangles, np.int64), surface.triangle_colours().copy()
    images = []
    for x in positions:
        x = np.ascontiguousarray(x, float)
        fine = light.render(camera, x, triangles, colours, float(seen[:, 2].min()), seen.mean(axis=0))
        rows, columns = camera.height // SAMPLES, camera.width // SAMPLES
        mean = fine.reshape(rows, SAMPLES, columns, SAMPLES, 3).mean(axis=(1, 3))
        images.append(np.round(255 * np.clip(mean, 0, 1)).astype(np.uint8))
    return images
