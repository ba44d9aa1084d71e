"""Light on what the raster found: a key light with soft shadows, a sky, and a ground that fades into the background."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from pliant.viewer.camera import Camera, direction, fit_camera
from pliant.viewer.raster import corner_normals, fill

KEY_LIGHT = direction(azimuth=-20, elevation=55)
BACKGROUND = np.array([0.97, 0.975, 0.985])
GROUND = np.array([0.90, 0.91, 0.93])
SHADOW_ROWS = 700
TAPS = 3  # a shadow's edge is softened over (2 TAPS + 1)^2 cells of the shadow map


@dataclass
class Layer:
    """What is nearest in each pixel of one view."""

    nearness: np.ndarray  # (height, width) [m], -inf where nothing is
    owner: np.ndarray  # (height, width) triangle, -1 where nothing is
    weights: np.ndarray  # (height, width, 3) of its corners


def look(camera: Camera, points: np.ndarray, triangles: np.ndarray) -> Layer:
    """Find the nearest triangle of every pixel."""
    shape = (camera.height, camera.width)
    layer = Layer(np.full(shape, -np.inf), np.full(shape, -1, np.int64), np.zeros((*shape, 3)))
    fill(camera.project(points), triangles, layer.nearness, layer.owner, layer.weights)
    return layer


def render(
    camera: Camera, points: np.ndarray, triangles: np.ndarray, colours: np.ndarray, ground: float, middle: np.ndarray
) -> np.ndarray:
    """A picture (height, width, 3) with values 0 to 1.

    colours (m, 3) of the triangles; ground: its height z [m]; middle (3,): where the ground is brightest [m].
    """
    layer = look(camera, points, triangles)
    sun = fit_camera(points, KEY_LIGHT, SHADOW_ROWS)
    shadow = look(sun, points, triangles)
    reach = 0.75 * camera.height * camera.metres_a_pixel
    return _shade(
        layer.nearness,
        layer.owner,
        layer.weights,
        corner_normals(points, triangles),
        colours,
        camera.axes,
        camera.corner,
        camera.metres_a_pixel,
        shadow.nearness,
        sun.axes,
        sun.corner,
        sun.metres_a_pixel,
        ground,
        middle,
        reach,
        (KEY_LIGHT, GROUND, BACKGROUND),
    )


@njit(cache=True)
def _lit(place, shadow, axes, corner, size, bias):
    """How much of the key light reaches a place: 0 in full shadow, 1 in full light."""
    height, width = shadow.shape
    column = (np.sum(place * axes[0]) - corner[0]) / size
    row = height - (np.sum(place * axes[1]) - corner[1]) / size
    nearness = np.sum(place * axes[2]) + bias
    total, count = 0.0, 0
    for i in range(-TAPS, TAPS + 1):
        for j in range(-TAPS, TAPS + 1):
            r, c = int(row) + 2 * i, int(column) + 2 * j
            count += 1
            if 0 <= r < height and 0 <= c < width and shadow[r, c] > nearness:
                continue
            total += 1
    return total / count


@njit(cache=True)
def _shade(
    nearness,
    owner,
    weights,
    normals,
    colours,
    axes,
    corner,
    size,
    shadow,
    sun_axes,
    sun_corner,
    sun_size,
    ground,
    middle,
    reach,
    palette,
):
    key, ground_colour, background = palette
    height, width = nearness.shape
    picture = np.empty((height, width, 3))
    halfway = (key + axes[2]) / np.sqrt(np.sum((key + axes[2]) ** 2))
    for row in range(height):
        for column in range(width):
            u = corner[0] + (column + 0.5) * size
            v = corner[1] + (height - row - 0.5) * size
            t = owner[row, column]
            if t < 0:
                # where the line of sight meets the ground
                level = (ground - u * axes[0, 2] - v * axes[1, 2]) / axes[2, 2]
                place = u * axes[0] + v * axes[1] + level * axes[2]
                fade = np.exp(-(((place[0] - middle[0]) ** 2 + (place[1] - middle[1]) ** 2) / reach**2))
                light = 0.68 + 0.32 * _lit(place, shadow, sun_axes, sun_corner, sun_size, 0.0)
                picture[row, column] = background + fade * (light * ground_colour - background)
                continue
            place = u * axes[0] + v * axes[1] + nearness[row, column] * axes[2]
            normal = np.zeros(3)
            for k in range(3):
                normal += weights[row, column, k] * normals[t, k]
            normal /= max(np.sqrt(np.sum(normal**2)), 1e-30)
            if np.sum(normal * axes[2]) < 0:  # a sheet seen from behind
                normal = -normal
            facing = max(np.sum(normal * key), 0.0)
            lit = _lit(place, shadow, sun_axes, sun_corner, sun_size, 12 * sun_size) if facing > 0 else 0.0
            sky = 0.36 + 0.16 * normal[2]
            fill_in = 0.16 * max(np.sum(normal * axes[2]), 0.0)
            shine = 0.14 * lit * max(np.sum(normal * halfway), 0.0) ** 40
            for k in range(3):
                value = colours[t, k] * (sky + fill_in + 0.72 * lit * facing) + shine
                picture[row, column, k] = min(value, 1.0)
    return picture
