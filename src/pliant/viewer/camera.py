"""Where a picture is taken from: a parallel projection, the same for all frames of a series."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.errors import PliantError


@dataclass(frozen=True)
class Camera:
    """A parallel projection. Camera coordinates [m] are right, up and towards the viewer."""

    axes: np.ndarray  # (3, 3) unit vectors right, up, towards the viewer
    corner: np.ndarray  # (2,) right and up of the picture's lower left corner [m]
    metres_a_pixel: float
    width: int  # [pixels]
    height: int  # [pixels]

    def project(self, points: np.ndarray) -> np.ndarray:
        """(n, 3) columns and rows [pixels] from the upper left corner, and nearness to the viewer [m]."""
        seen = _rotated(points, self.axes)
        seen[:, 0] = (seen[:, 0] - self.corner[0]) / self.metres_a_pixel
        seen[:, 1] = self.height - (seen[:, 1] - self.corner[1]) / self.metres_a_pixel
        return seen

    def places(self, rows: np.ndarray, columns: np.ndarray, nearness: np.ndarray) -> np.ndarray:
        """Points (n, 3) [m] seen in the middle of pixels, so near [m] to the viewer."""
        u = self.corner[0] + (columns + 0.5) * self.metres_a_pixel
        v = self.corner[1] + (self.height - rows - 0.5) * self.metres_a_pixel
        return _rotated(np.column_stack([u, v, nearness]), self.axes.T)


def direction(azimuth: float, elevation: float) -> np.ndarray:
    """Unit vector to a place given by its angle from x in the horizontal plane and its height, both in degrees."""
    a, e = np.radians([float(azimuth), float(elevation)])
    return np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])


def fit_camera(
    points: np.ndarray,
    towards: np.ndarray,
    height: int,
    margin: float = 0.06,
    samples: int = 1,
    aspect: tuple[float, float] = (0.0, np.inf),
) -> Camera:
    """A camera that looks against `towards` (3,) and shows all points (n, 3) [m] in a picture of so many rows.

    margin: empty border, as a fraction of the larger extent; samples: the width is a multiple of it [pixels]; aspect:
    least and greatest width over height.
    """
    if not np.isfinite(points).all():
        raise PliantError("a picture needs finite positions [m]; look at the simulation that gave them.")
    axes = _axes(towards)
    seen = points @ axes[:2].T
    low, high = seen.min(axis=0), seen.max(axis=0)
    border = margin * max(float((high - low).max()), 1e-9)
    low, extent = low - border, high - low + 2 * border
    roomy = np.array([max(extent[0], aspect[0] * extent[1]), max(extent[1], extent[0] / aspect[1])])
    low, extent = low - (roomy - extent) / 2, roomy
    metres_a_pixel = float(extent[1]) / height
    width = samples * max(1, round(float(extent[0]) / metres_a_pixel / samples))
    return Camera(axes, low, metres_a_pixel, width, height)


def _rotated(points: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """rotation @ p of every point p. Sums by hand: BLAS would start threads for so thin a matrix."""
    x, y, z = points.T
    return np.stack([row[0] * x + row[1] * y + row[2] * z for row in rotation], axis=1)


def _axes(towards: np.ndarray) -> np.ndarray:
    """Right, up and towards: up is as near to z as the view allows."""
    towards = towards / np.linalg.norm(towards)
    helper = np.array([0.0, 0.0, 1.0]) if abs(towards[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
    right = np.cross(helper, towards)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(towards, right), towards])
