"""Light in compiled loops: shadows, and the colour of every pixel that shows a body."""

from __future__ import annotations

import math

from numba import njit


@njit(inline="always")
def _light(column, row, nearness, shadow, reach):
    """How much light gets to a place on the shadow map: 0 in full shadow, 1 in full light."""
    height, width = shadow.shape
    dark = taps = 0
    for r in range(row - reach, row + reach + 1, 2):
        for c in range(column - reach, column + reach + 1, 2):
            taps += 1
            if 0 <= r < height and 0 <= c < width and shadow[r, c] > nearness:
                dark += 1
    return 1 - dark / taps


@njit(cache=True)
def reached_by_light(projected, shadow, reach, lit):
    """How much light gets to places (n, 3), projected on a shadow map.

    shadow (rows, columns): nearness to the light of what is nearest to it [m]; the edge of a shadow is softened over
    `reach` cells to each side.
    """
    for n in range(len(projected)):
        lit[n] = _light(int(projected[n, 0]), int(projected[n, 1]), projected[n, 2], shadow, reach)


@njit(inline="always")
def _dot(a, x, y, z):
    return a[0] * x + a[1] * y + a[2] * z


@njit(inline="always")
def _mixed(corners, t, c, wa, wb):
    return wa * corners[t, 0, c] + wb * corners[t, 1, c] + (1 - wa - wb) * corners[t, 2, c]


@njit(cache=True)
def shade_bodies(camera, sun, seen, normals, colours, shadow, reach, lift, lights, picture):
    """Write the colours of all pixels that show a triangle into `picture` (rows, columns, 3).

    camera, sun: (axes (3, 3), corner (2,), metres a pixel); seen: nearness, owner and weights of every pixel;
    normals, colours (m, 3, 3) of the triangles' corners; lift [m]: how far places are moved towards the light, lest a
    surface shades itself; lights: direction of the key light (3,), direction halfway between it and the viewer (3,),
    strengths of key, sky, up, front and shine.
    """
    (axes, corner, pixel), (sun_axes, sun_corner, cell) = camera, sun
    nearness, owner, weights = seen
    key_light, halfway, (key, sky, up, front, shine) = lights
    height, width = owner.shape
    for row in range(height):
        for column in range(width):
            t = owner[row, column]
            if t < 0:
                continue
            wa, wb = weights[row, column, 0], weights[row, column, 1]
            nx, ny, nz = _mixed(normals, t, 0, wa, wb), _mixed(normals, t, 1, wa, wb), _mixed(normals, t, 2, wa, wb)
            length = math.sqrt(nx * nx + ny * ny + nz * nz)
            facing = _dot(axes[2], nx, ny, nz)
            scale = (-1.0 if facing < 0 else 1.0) / max(length, 1e-30)  # a sheet may be seen from behind
            nx, ny, nz, facing = scale * nx, scale * ny, scale * nz, scale * facing
            u, v = corner[0] + (column + 0.5) * pixel, corner[1] + (height - row - 0.5) * pixel
            w = nearness[row, column]
            x = u * axes[0, 0] + v * axes[1, 0] + w * axes[2, 0]
            y = u * axes[0, 1] + v * axes[1, 1] + w * axes[2, 1]
            z = u * axes[0, 2] + v * axes[1, 2] + w * axes[2, 2]
            sun_column = int((_dot(sun_axes[0], x, y, z) - sun_corner[0]) / cell)
            sun_row = int(shadow.shape[0] - (_dot(sun_axes[1], x, y, z) - sun_corner[1]) / cell)
            lit = _light(sun_column, sun_row, _dot(sun_axes[2], x, y, z) + lift, shadow, reach)
            bright = sky + up * nz + front * facing + key * lit * max(_dot(key_light, nx, ny, nz), 0.0)
            gloss = shine * lit * max(_dot(halfway, nx, ny, nz), 0.0) ** 40
            for c in range(3):
                picture[row, column, c] = bright * _mixed(colours, t, c, wa, wb) + gloss
