"""Light on what the raster found: a key light with soft shadows, a sky, and a ground that fades into the background."""

from __future__ import annotations

import numpy as np

from pliant.viewer.camera import Camera, direction, fit_camera
from pliant.viewer.raster import corner_normals, fill, reached_by_light

KEY_LIGHT = direction(azimuth=-85, elevation=52)
KEY, SKY, UP, FRONT, SHINE = 0.54, 0.42, 0.10, 0.24, 0.07  # strengths of the lights
BACKGROUND = np.array([0.975, 0.98, 0.985])
GROUND = np.array([0.915, 0.92, 0.935])
SHADOW_DEPTH = 0.30  # how much darker the ground is in the shadow
SHADOW_ROWS = 600
SOFT_CELLS = 6  # half width of a shadow's edge, in cells of the shadow map


def render(
    camera: Camera, points: np.ndarray, triangles: np.ndarray, colours: np.ndarray, ground: float, middle: np.ndarray
) -> np.ndarray:
    """A picture (height, width, 3) with values 0 to 1.

    colours (m, 3) of the triangles; ground: its height z [m]; middle (3,): where the ground is brightest [m].
    """
    nearness, owner, weights = _look(camera, points, triangles)
    sun = fit_camera(points, KEY_LIGHT, SHADOW_ROWS)
    shadow = _look(sun, points, triangles)[0]
    picture = np.empty((camera.height, camera.width, 3))
    rows, columns = np.nonzero(owner < 0)
    picture[rows, columns] = _ground(camera, rows, columns, sun, shadow, ground, middle)
    rows, columns = np.nonzero(owner >= 0)
    places = camera.places(rows, columns, nearness[rows, columns])
    t, (wa, wb) = owner[rows, columns], weights[rows, columns].T
    corners = corner_normals(points, triangles)[t]
    normals = wa[:, None] * corners[:, 0] + wb[:, None] * corners[:, 1] + (1 - wa - wb)[:, None] * corners[:, 2]
    picture[rows, columns] = _body(camera, places, normals, colours[t], sun, shadow)
    return picture


def _look(camera: Camera, points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every pixel the nearness [m] of the nearest triangle, its index (or -1) and the weights of two corners."""
    shape = (camera.height, camera.width)
    nearness, owner, weights = np.full(shape, -np.inf), np.full(shape, -1, np.int64), np.zeros((*shape, 2))
    fill(camera.project(points), triangles, nearness, owner, weights)
    return nearness, owner, weights


def _light_at(places: np.ndarray, sun: Camera, shadow: np.ndarray, lift: float) -> np.ndarray:
    """Part (n,) of the key light at places lifted so far [m] towards it, lest a surface shades itself."""
    lit = np.empty(len(places))
    reached_by_light(sun.project(places + lift * sun.axes[2]), shadow, SOFT_CELLS, lit)
    return lit[:, None]


def _ground(
    camera: Camera,
    rows: np.ndarray,
    columns: np.ndarray,
    sun: Camera,
    shadow: np.ndarray,
    level: float,
    middle: np.ndarray,
) -> np.ndarray:
    flat = camera.places(rows, columns, np.zeros(len(rows)))
    places = flat + ((level - flat[:, 2]) / camera.axes[2, 2])[:, None] * camera.axes[2]
    # The ground pales with distance behind the bodies, but not sideways: pictures of a strip join without a seam.
    behind = (middle - places)[:, :2] @ camera.axes[2, :2] / np.linalg.norm(camera.axes[2, :2])
    fade = np.exp(-((np.maximum(behind, 0) / (camera.height * camera.metres_a_pixel)) ** 2))[:, None]
    # A shadow ends before the side of the picture, so that it is not cut off there.
    side = np.minimum(columns + 0.5, camera.width - columns - 0.5) / (0.25 * camera.width)
    depth = SHADOW_DEPTH * np.clip(side, 0, 1)[:, None]
    light = 1 - depth * (1 - _light_at(places, sun, shadow, 0.0))
    return BACKGROUND + fade * (light * GROUND - BACKGROUND)


def _body(
    camera: Camera, places: np.ndarray, normals: np.ndarray, colours: np.ndarray, sun: Camera, shadow: np.ndarray
) -> np.ndarray:
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    front = (normals @ camera.axes[2])[:, None]
    normals, front = normals * np.where(front < 0, -1.0, 1.0), np.abs(front)  # a sheet seen from behind
    lit = _light_at(places, sun, shadow, (SOFT_CELLS + 4) * sun.metres_a_pixel)
    key = lit * np.maximum(normals @ KEY_LIGHT, 0)[:, None]
    halfway = (KEY_LIGHT + camera.axes[2]) / np.linalg.norm(KEY_LIGHT + camera.axes[2])
    shine = SHINE * lit * np.maximum(normals @ halfway, 0)[:, None] ** 40
    return colours * (SKY + UP * normals[:, 2:] + FRONT * front + KEY * key) + shine
