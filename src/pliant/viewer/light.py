"""Light on what the raster found: a key light with soft shadows, a sky, and a ground that fades into the background."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.viewer.camera import Camera, direction, fit_camera
from pliant.viewer.raster import corner_normals, fill
from pliant.viewer.shade import reached_by_light, shade_bodies

KEY_LIGHT = direction(azimuth=-85, elevation=52)


class Lights(NamedTuple):
    """Strengths of the lights."""

    key: float = 0.54
    sky: float = 0.42
    up: float = 0.10
    front: float = 0.24
    shine: float = 0.07


EVEN_LIGHTS = Lights(key=0.16, sky=0.74, up=0.04, front=0.12, shine=0.0)  # colours that mean a value stay readable
BACKGROUND = np.array([0.975, 0.98, 0.985])
GROUND = np.array([0.915, 0.92, 0.935])
SHADOW_DEPTH = 0.30  # how much darker the ground is in the shadow
SHADOW_ROWS = 600
NARROW_BORDER = 0.03  # of the width of a picture that is fitted to shadows, where what remains of them fades
SOFT_CELLS = 6  # half width of a shadow's edge, in cells of the shadow map
GROUND_CELL = 2  # pixels along the edge of a square of ground that is lit as one: nothing on it is sharp


def with_shadows(points: np.ndarray, ground: float) -> np.ndarray:
    """Points (n, 3) [m] and where their shadows fall on the ground at a height [m]: what a picture shows."""
    heights = np.maximum(points[:, 2:] - ground, 0.0)
    return np.concatenate([points, points - heights / KEY_LIGHT[2] * KEY_LIGHT])


def render(
    camera: Camera,
    points: np.ndarray,
    triangles: np.ndarray,
    colours: np.ndarray,
    ground: float,
    middle: np.ndarray,
    lights: Lights = Lights(),  # noqa: B008  it cannot change
    border: float = 0.25,
) -> np.ndarray:
    """A picture (height, width, 3) with values 0 to 1.

    colours (m, 3) of the triangles, or (m, 3, 3) of their corners; ground: its height z [m]; middle (3,): where the
    ground is brightest [m]; border: at the sides, where shadows fade, as a part of the width.
    """
    seen = _look(camera, points, triangles)
    sun = fit_camera(points, KEY_LIGHT, SHADOW_ROWS)
    shadow = _look(sun, points, triangles)[0]
    picture = _ground(camera, seen[1] < 0, sun, shadow, ground, middle, border)
    of_corners = np.broadcast_to(colours if colours.ndim == 3 else colours[:, None], (len(triangles), 3, 3))
    halfway = (KEY_LIGHT + camera.axes[2]) / np.linalg.norm(KEY_LIGHT + camera.axes[2])
    shade_bodies(
        (camera.axes, camera.corner, camera.metres_a_pixel),
        (sun.axes, sun.corner, sun.metres_a_pixel),
        seen,
        corner_normals(points, triangles),
        np.ascontiguousarray(of_corners, float),
        shadow,
        SOFT_CELLS,
        (SOFT_CELLS + 4) * sun.metres_a_pixel,
        (KEY_LIGHT, halfway, tuple(lights)),
        picture,
    )
    return picture


def _look(camera: Camera, points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every pixel the nearness [m] of the nearest triangle, its index (or -1) and the weights of two corners."""
    shape = (camera.height, camera.width)
    nearness, owner, weights = np.full(shape, -np.inf), np.full(shape, -1, np.int64), np.zeros((*shape, 2))
    fill(camera.project(points), triangles, nearness, owner, weights)
    return nearness, owner, weights


def _ground(
    camera: Camera,
    seen: np.ndarray,
    sun: Camera,
    shadow: np.ndarray,
    level: float,
    middle: np.ndarray,
    border: float,
) -> np.ndarray:
    """A picture of the ground where it is seen, from its middle to the background."""
    cells = tuple(-(-n // GROUND_CELL) for n in seen.shape)
    is_seen = np.zeros(cells, bool)
    for i in range(GROUND_CELL):
        for j in range(GROUND_CELL):
            part = seen[i::GROUND_CELL, j::GROUND_CELL]
            is_seen[: part.shape[0], : part.shape[1]] |= part
    rows, columns = np.nonzero(is_seen)
    picture = np.zeros((*cells, 3))
    middles = (GROUND_CELL * rows + (GROUND_CELL - 1) / 2, GROUND_CELL * columns + (GROUND_CELL - 1) / 2)
    picture[rows, columns] = _lit_ground(camera, *middles, sun, shadow, level, middle, border)
    large = picture.repeat(GROUND_CELL, axis=0).repeat(GROUND_CELL, axis=1)
    return large[: seen.shape[0], : seen.shape[1]]


def _lit_ground(
    camera: Camera,
    rows: np.ndarray,
    columns: np.ndarray,
    sun: Camera,
    shadow: np.ndarray,
    level: float,
    middle: np.ndarray,
    border: float,
) -> np.ndarray:
    flat = camera.places(rows, columns, np.zeros(len(rows)))
    places = flat + ((level - flat[:, 2]) / camera.axes[2, 2])[:, None] * camera.axes[2]
    # The ground pales with distance behind the bodies, but not sideways: pictures of a strip join without a seam.
    behind = (middle - places)[:, :2] @ camera.axes[2, :2] / np.linalg.norm(camera.axes[2, :2])
    fade = np.exp(-((np.maximum(behind, 0) / (camera.height * camera.metres_a_pixel)) ** 2))[:, None]
    # A shadow ends before the side of the picture, so that it is not cut off there.
    side = np.minimum(columns + 0.5, camera.width - columns - 0.5) / (border * camera.width)
    depth = SHADOW_DEPTH * np.clip(side, 0, 1)[:, None]
    lit = np.empty(len(places))
    reached_by_light(sun.project(places), shadow, SOFT_CELLS, lit)
    light = 1 - depth * (1 - lit[:, None])
    return BACKGROUND + fade * (light * GROUND - BACKGROUND)
