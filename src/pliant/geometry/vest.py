"""A vest cut to the walking mannequin: a front and a back panel, sewn at the sides and the shoulders.

Each panel's outline is drawn as it is worn: u [m] around the body from the middle, z [m] above the ground.  Up to the
armholes it lies on a cylinder about the trunk; above them it leans in until front and back meet over the shoulders.
The flat panel has u for its width and, for its height, the length along the worn one, so that only the shoulders start
with some strain.
"""

from __future__ import annotations

import numpy as np

from pliant.geometry.mesh import TriMesh

Array = np.ndarray

BODY = 1.7  # height of the figure that the lengths below are for [m]
RADIUS = 0.165  # of the cylinder; the trunk's is 0.1445
HEM, ARM, STRAP = 0.95, 1.20, 1.32  # heights of the hem, of the lower and the narrow end of the armhole
OUTER, INNER, SHOULDER, NECK = 0.16, 0.105, 1.468, 1.485  # ends of the shoulder seam: across and up
FRONT, BACK = 1.37, 1.42  # the lowest points of the necklines
LEAN = 8  # how late above the armholes the panels lean in
CURVE = 40  # points of an outline's curve


def vest_panels(height: float, spacing: float) -> tuple[TriMesh, Array]:
    """The vest as it is put on, one mesh, and UV coordinates [m] of its corners (m, 3, 2), two panels."""
    scale = height / BODY
    points: list[Array] = []
    triangles: list[Array] = []
    uv: list[Array] = []
    for side, neck in ((1.0, FRONT), (-1.0, BACK)):
        flat, own = _panel(neck, spacing / scale)
        own = own if side > 0 else own[:, ::-1]
        triangles.append(own + sum(len(other) for other in points))
        points.append(scale * _worn(np.column_stack([flat[:, 0], _heights(flat)]), side))
        across = side * flat[:, 0] + (side < 0) * 1.2 * np.pi * RADIUS  # the back beside the front, seen from outside
        uv.append(scale * np.column_stack([across, flat[:, 1]]))
    corners = np.concatenate(uv)[np.concatenate(triangles)]
    return _merged(np.concatenate(points), np.concatenate(triangles)), corners


def _panel(neck: float, spacing: float) -> tuple[Array, Array]:
    """Vertices (n, 2) of the flat panel and triangles (m, 3), counter-clockwise."""
    from scipy.spatial import Delaunay  # takes a fifth of a second to import

    outline = _outline(neck, spacing)
    low, high = outline.min(axis=0), outline.max(axis=0)
    rows = np.arange(low[1], high[1], spacing * np.sqrt(0.75))
    columns = np.arange(0.0, high[0] + spacing, spacing)
    half = [np.column_stack([columns + 0.5 * (k % 2) * spacing, np.full(len(columns), z)]) for k, z in enumerate(rows)]
    inner = np.concatenate(half)
    inner = np.concatenate([inner[inner[:, 0] > 0] * [-1, 1], inner])
    ends = np.roll(outline, -1, axis=0)
    inner = inner[_inside(inner, outline) & (_distances(inner, outline, ends) > 0.55 * spacing)]
    vertices = np.concatenate([outline, inner])
    found = Delaunay(vertices).simplices
    a, b, c = (vertices[found[:, k]] for k in range(3))
    areas = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    found = np.where((areas < 0)[:, None], found[:, ::-1], found)
    kept = _inside((a + b + c) / 3, outline) & (np.abs(areas) > 1e-3 * spacing**2)
    return vertices, found[kept]


def _outline(neck: float, spacing: float) -> Array:
    """Points (k, 2) around a panel, counter-clockwise, about `spacing` apart, with a point at every corner."""
    width, s = 0.5 * np.pi * RADIUS, np.linspace(0, 1, CURVE)
    rise = np.minimum(s * (SHOULDER - ARM) / (STRAP - ARM), 1.0)
    armhole = np.column_stack([OUTER + (width - OUTER) * (1 - rise) ** 2, ARM + s * (SHOULDER - ARM)])
    neckline = np.column_stack([INNER * np.cos(0.5 * np.pi * s), NECK - (NECK - neck) * np.sin(0.5 * np.pi * s)])
    sides = [
        np.array([[0.0, HEM], [width, HEM]]),
        np.array([[width, HEM], [width, ARM]]),
        armhole,
        np.array([[OUTER, SHOULDER], [INNER, NECK]]),
        neckline,
    ]
    worn = np.concatenate([_resampled(side, spacing)[:-1] for side in sides] + [sides[-1][-1:]])
    right = _flat(worn)
    return np.concatenate([right, right[-2:0:-1] * [-1, 1]])


def _resampled(curve: Array, spacing: float) -> Array:
    """Points of a curve (k, 2) that are at equal distances along it on the flat panel, its ends among them."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(_flat(curve), axis=0), axis=1))])
    at = np.linspace(0, along[-1], max(round(along[-1] / spacing), 1) + 1)
    return np.column_stack([np.interp(at, along, curve[:, axis]) for axis in range(2)])


def _inside(points: Array, outline: Array) -> Array:
    """Which points (n, 2) are within a polygon (k, 2): the number of its edges to their right is odd."""
    a, b = outline, np.roll(outline, -1, axis=0)
    x, y = points[:, :1], points[:, 1:]
    crosses = (a[:, 1] > y) != (b[:, 1] > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = a[:, 0] + (y - a[:, 1]) / (b[:, 1] - a[:, 1]) * (b[:, 0] - a[:, 0])
    return (crosses & (x < at)).sum(axis=1) % 2 == 1


def _distances(points: Array, starts: Array, ends: Array) -> Array:
    """Of points (n, 2) from the nearest of some segments."""
    way = ends - starts
    away = points[:, None] - starts
    t = np.clip(np.einsum("nka,ka->nk", away, way) / np.einsum("ka,ka->k", way, way), 0, 1)
    return np.linalg.norm(away - t[:, :, None] * way, axis=2).min(axis=1)


def _worn(flat: Array, side: float) -> Array:
    """Where (u, z) is put on (n, 3) [m]: x to the front."""
    u, z = flat.T
    top = NECK + (SHOULDER - NECK) * (np.abs(u) - INNER) / (OUTER - INNER)
    lean = np.clip((z - ARM) / (top - ARM), 0, 1) ** LEAN
    x = (1 - lean) * RADIUS * np.cos(u / RADIUS)
    return np.column_stack([side * x, (1 - lean) * RADIUS * np.sin(u / RADIUS) + lean * u, z])


def _flat(worn: Array) -> Array:
    """Points (n, 2) of the flat panel, of those that are worn at (u, z): u, and the length up from the hem."""
    return np.column_stack([worn[:, 0], [np.interp(z, *_line(u)) for u, z in worn]])


def _heights(flat: Array) -> Array:
    """The z (n,) [m] of points of the flat panel."""
    return np.array([np.interp(length, *_line(u)[::-1]) for u, length in flat])


def _line(u: float, steps: int = 200) -> tuple[Array, Array]:
    """Heights z (steps,) of a line up the panel, and its length up to them."""
    z = np.linspace(HEM, NECK, steps)
    places = _worn(np.column_stack([np.full(steps, u), z]), 1.0)
    return z, np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])


def _merged(points: Array, triangles: Array) -> TriMesh:
    """Vertices at one place are one: the seams."""
    _, first, number = np.unique(np.round(points, 9), axis=0, return_index=True, return_inverse=True)
    return TriMesh(points[first], number.ravel()[triangles])
