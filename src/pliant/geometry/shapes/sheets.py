"""Things without volume: a rectangular cloth, a skirt, a funnel and a straight chain."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pliant.errors import MeshError
from pliant.geometry.mesh import TriMesh
from pliant.geometry.shapes.arguments import check_fits, positive_length, positive_lengths, whole_number, whole_numbers


def cloth(size: Sequence[float] = (1.0, 1.0), cells: int | Sequence[int] = (32, 32)) -> TriMesh:
    """A rectangle in the xy plane, centred at the origin, its triangles facing up (+z).

    size: two lengths [m]; cells: number of squares along x and y. Diagonals alternate like a chess board, so
    that the cloth has no preferred direction of shear. Vertex (i, j) has index i * (cells[1] + 1) + j.
    """
    lengths = positive_lengths("cloth", "size", size, 2)
    nx, ny = whole_numbers("cloth", "cells", cells, 2)
    check_fits("cloth", 2 * nx * ny, "triangles")
    x = np.linspace(-0.5 * lengths[0], 0.5 * lengths[0], nx + 1)
    y = np.linspace(-0.5 * lengths[1], 0.5 * lengths[1], ny + 1)
    points = np.zeros((nx + 1, ny + 1, 3))
    points[:, :, 0] = x[:, None]
    points[:, :, 1] = y
    vertex = np.arange((nx + 1) * (ny + 1)).reshape(nx + 1, ny + 1)
    # a b c d: corners counter-clockwise from the lowest.
    a, b, c, d = (v.ravel() for v in (vertex[:-1, :-1], vertex[1:, :-1], vertex[1:, 1:], vertex[:-1, 1:]))
    even = (np.add.outer(np.arange(nx), np.arange(ny)) % 2 == 0).ravel()[:, None, None]
    rising = np.stack((a, b, c, a, c, d), axis=1).reshape(-1, 2, 3)
    falling = np.stack((a, b, d, b, c, d), axis=1).reshape(-1, 2, 3)
    return TriMesh(points.reshape(-1, 3), np.where(even, rising, falling).reshape(-1, 3))


def skirt(waist: float = 0.15, hem: float = 0.25, length: float = 0.4, cells: Sequence[int] = (48, 16)) -> TriMesh:
    """The wall of a cone about z that widens downwards, its waist at z = 0, its triangles facing outwards.

    waist, hem: radii of the upper and the lower end [m]; length: height between them [m]; cells: squares around and
    down. Vertex (i, j) has index i * cells[0] + j, i from the waist down.
    """
    top, bottom = positive_length("skirt", "waist", waist), positive_length("skirt", "hem", hem)
    height = positive_length("skirt", "length", length)
    around, down = whole_numbers("skirt", "cells", cells, 2)
    if around < 3:
        raise MeshError(f"skirt got cells={cells!r}; pass at least 3 squares around.")
    check_fits("skirt", 2 * around * down, "triangles")
    share = np.linspace(0.0, 1.0, down + 1)[:, None]
    angles = 2 * np.pi * np.arange(around) / around
    radius, z = top + share * (bottom - top), np.broadcast_to(-height * share, (down + 1, around))
    points = np.stack((radius * np.cos(angles), radius * np.sin(angles), z), axis=2).reshape(-1, 3)
    vertex = np.arange((down + 1) * around).reshape(down + 1, around)
    upper, lower = vertex[:-1], vertex[1:]
    a, b, c, d = (v.ravel() for v in (lower, np.roll(lower, -1, axis=1), np.roll(upper, -1, axis=1), upper))
    even = (np.add.outer(np.arange(down), np.arange(around)) % 2 == 0).ravel()[:, None, None]
    rising = np.stack((a, b, c, a, c, d), axis=1).reshape(-1, 2, 3)
    falling = np.stack((a, b, d, b, c, d), axis=1).reshape(-1, 2, 3)
    return TriMesh(points, np.where(even, rising, falling).reshape(-1, 3))


def funnel(opening: float = 0.05, radius: float = 0.2, height: float = 0.2, segments: int = 32) -> TriMesh:
    """The wall of a cone about z without its tip, centred at the origin, its triangles facing the axis.

    opening: diameter of the hole at the lower end, and radius of the upper end [m]; segments: around the axis. The wall
    is a prism with corners outside the circles, so that nothing narrows the hole.
    """
    hole = 0.5 * positive_length("funnel", "opening", opening)
    rim = positive_length("funnel", "radius", radius)
    half = 0.5 * positive_length("funnel", "height", height)
    count = whole_number("funnel", "segments", segments)
    if count < 3 or rim <= hole:
        raise MeshError(
            f"funnel got segments={segments!r}, opening={opening!r} and radius={radius!r}; pass at least 3 "
            "segments and a radius above half the opening."
        )
    check_fits("funnel", 2 * count, "triangles")
    angles = 2 * np.pi * np.arange(count) / count
    circle = np.stack((np.cos(angles), np.sin(angles), np.zeros(count)), axis=1) / np.cos(np.pi / count)
    points = np.concatenate([hole * circle - (0, 0, half), rim * circle + (0, 0, half)])
    low = np.arange(count)
    following = (low + 1) % count
    first = np.stack((low, following + count, following), axis=1)
    second = np.stack((low, low + count, following + count), axis=1)
    return TriMesh(points, np.concatenate([first, second]))


def chain(length: float = 1.0, segments: int = 20) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A straight chain from the origin along +x: points (segments + 1, 3) [m] and edges (segments, 2)."""
    total = positive_length("chain", "length", length)
    count = whole_number("chain", "segments", segments)
    check_fits("chain", count, "edges")
    points = np.zeros((count + 1, 3))
    points[:, 0] = np.linspace(0.0, total, count + 1)
    first = np.arange(count)
    return points, np.stack((first, first + 1), axis=1)
