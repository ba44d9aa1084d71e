"""Spheres that fill a space without touching each other more than they must: where grains begin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.arguments import is_finite_number, is_one_of
from pliant.errors import MeshError
from pliant.geometry.mesh import TetMesh, TriMesh
from pliant.geometry.shapes.arguments import positive_length, positive_lengths
from pliant.geometry.surface import is_closed_surface

MOST = 20_000_000  # spheres
ARRANGEMENTS = ("cubic", "hexagonal")
FILLS = ("box", "ball", "cylinder")


def packed_spheres(
    space: Sequence[float] | TriMesh | TetMesh = (1.0, 1.0, 1.0),
    radius: float = 0.01,
    fill: str = "box",
    spacing: float = 1.0,
    arrangement: str = "cubic",
    jitter: float = 0.0,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Centres (n, 3) [m] of equal spheres that lie wholly inside a space, without overlaps.

    space: lengths of the edges of a box [m]; with fill "ball" its radius (r,), with "cylinder" its radius and height
        (r, height) along z, all centred at the origin; or a closed TriMesh or a TetMesh.
    spacing: distance of neighbours in diameters, at least 1. arrangement: "cubic" or "hexagonal" (close packing).
    jitter: from 0 to 1, by how much of the room between them spheres are moved at random; `seed` chooses how. It needs
        a spacing above 1.
    """
    r = positive_length("packed_spheres", "radius", radius)
    spacing = positive_length("packed_spheres", "spacing", spacing)
    if spacing < 1:
        raise MeshError(f"packed_spheres got spacing={spacing!r}; pass at least 1, or spheres would overlap.")
    if not (is_finite_number(jitter) and 0 <= jitter <= 1):
        raise MeshError(f"packed_spheres got jitter={jitter!r}; pass a number from 0 to 1.")
    if not is_one_of(arrangement, ARRANGEMENTS):
        raise MeshError(f"packed_spheres got arrangement={arrangement!r}; choose {' or '.join(ARRANGEMENTS)}.")
    lower, upper, margin = _bounds(space, fill, r)
    points = _lattice(lower + r, upper - r, 2 * r * spacing, arrangement)
    room = 0.5 * (spacing - 1) * 2 * r * jitter  # two neighbours may both come nearer by it
    if room > 0:
        random = np.random.default_rng(seed)
        ways = random.normal(size=points.shape)
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        points = points + room * np.cbrt(random.random((len(points), 1))) * ways
    points = points[margin(points) >= r * (1 - 1e-9)]
    if not len(points):
        raise MeshError(f"packed_spheres: no sphere of radius {r:g} m fits into the space; pass a smaller radius.")
    return points


def _bounds(space: Any, fill: str, r: float) -> tuple[np.ndarray, np.ndarray, Any]:
    """Lower and upper corner of a space, and a function: distance of points inside it to its surface."""
    if isinstance(space, TriMesh | TetMesh):
        points, triangles = space.points, space.triangles if isinstance(space, TriMesh) else space.surface_triangles
        if not is_closed_surface(triangles, len(points)):
            raise MeshError("packed_spheres: the mesh is not closed, it has no inside; close its holes.")
        return points.min(axis=0), points.max(axis=0), lambda p: _depth_in_mesh(points, triangles, p, r)
    if not is_one_of(fill, FILLS):
        raise MeshError(f"packed_spheres got fill={fill!r}; choose box, ball or cylinder, or pass a closed mesh.")
    if fill == "box":
        half = 0.5 * np.array(positive_lengths("packed_spheres", "space", space, 3))
        return -half, half, lambda p: (half - np.abs(p)).min(axis=1)
    if fill == "ball":
        (R,) = positive_lengths("packed_spheres", "space", space, 1)
        return np.full(3, -R), np.full(3, R), lambda p: R - np.linalg.norm(p, axis=1)
    R, height = positive_lengths("packed_spheres", "space", space, 2)
    half = np.array([R, R, 0.5 * height])
    return -half, half, lambda p: np.minimum(R - np.hypot(p[:, 0], p[:, 1]), half[2] - np.abs(p[:, 2]))


def _lattice(lower: np.ndarray, upper: np.ndarray, pitch: float, arrangement: str) -> NDArray[np.float64]:
    """Points of a lattice between two corners, centred, with neighbours `pitch` apart."""
    extent = upper - lower
    if (extent < -1e-12 * pitch).any():
        return np.zeros((0, 3))
    steps = np.array([1.0, 1.0, 1.0] if arrangement == "cubic" else [1.0, np.sqrt(3) / 2, np.sqrt(2 / 3)]) * pitch
    counts = np.floor(np.maximum(extent, 0) / steps + 1e-9).astype(np.int64) + 1
    if counts.astype(float).prod() > MOST:
        raise MeshError(f"packed_spheres would have {counts.astype(float).prod():.3g} spheres; pass a larger radius.")
    i, j, k = (axis.ravel() for axis in np.meshgrid(*(np.arange(c) for c in counts), indexing="ij"))
    points = np.column_stack([i, j, k]) * steps
    if arrangement == "hexagonal":
        points[:, 0] += 0.5 * pitch * ((j + k) % 2)
        points[:, 1] += pitch * np.sqrt(3) / 6 * (k % 2)
        points = points[(points <= np.maximum(extent, 0) + 1e-9 * pitch).all(axis=1)]
    return points + lower + 0.5 * (np.maximum(extent, 0) - points.max(axis=0, initial=0.0))


def _depth_in_mesh(points: np.ndarray, triangles: np.ndarray, p: np.ndarray, r: float) -> np.ndarray:
    """Depth of points inside a closed mesh, at most a little above r: by the winding number, then by distance."""
    corners = points[triangles]
    depth = np.full(len(p), -1.0)
    for part in np.array_split(np.arange(len(p)), max(1, len(p) * len(triangles) // 2_000_000)):
        a, b, c = (corners[None, :, k] - p[part, None] for k in range(3))
        la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
        numerator = np.einsum("pta,pta->pt", a, np.cross(b, c))
        dots = [np.einsum("pta,pta->pt", u, v) * w for u, v, w in ((a, b, lc), (b, c, la), (c, a, lb))]
        angle = 2 * np.arctan2(numerator, la * lb * lc + dots[0] + dots[1] + dots[2])
        inside = np.abs(angle.sum(axis=1)) > 2 * np.pi
        depth[part[inside]] = _distance(a[inside], b[inside], c[inside])
    return depth


def _distance(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Distance (p,) of the origin to the nearest of triangles with corners a, b, c (p, t, 3)."""
    n = np.cross(b - a, c - a)
    n /= np.maximum(np.linalg.norm(n, axis=2, keepdims=True), 1e-300)
    height = np.einsum("pta,pta->pt", a, n)
    foot = height[..., None] * n
    sides = [np.einsum("pta,pta->pt", np.cross(v - u, foot - u), n) for u, v in ((a, b), (b, c), (c, a))]
    over = (sides[0] >= 0) & (sides[1] >= 0) & (sides[2] >= 0)
    edges = []
    for u, v in ((a, b), (b, c), (c, a)):
        along = v - u
        t = -np.einsum("pta,pta->pt", u, along) / np.maximum(np.einsum("pta,pta->pt", along, along), 1e-300)
        edges.append(np.linalg.norm(u + np.clip(t, 0, 1)[..., None] * along, axis=2))
    nearest = np.minimum(np.minimum(edges[0], edges[1]), edges[2])
    return np.where(over, np.abs(height), nearest).min(axis=1, initial=np.inf)
