"""Ball, cylinder and torus with well-shaped tets: every dihedral angle lies between 10 and 170 degrees.

A disc is six triangles around its centre, a ball twenty tets (an icosahedron's faces) around its centre. Each
is cut into layers, n^2 or n^3 smaller simplices, and every layer is pushed out to a circle or sphere.
Cylinder and torus sweep the disc. Nothing is clipped or snapped, so boundary vertices lie on the exact
surface.
"""

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from pliant.errors import MeshError
from pliant.geometry.mesh import TetMesh
from pliant.geometry.shapes.arguments import check_fits, positive_length, whole_number

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST_LAYERS = 100_000  # of a cylinder that nobody has asked for


def ball(radius: float = 0.5, cells: int = 8) -> TetMesh:
    """A ball centred at the origin. radius [m]; cells: layers from centre to surface, so 20 cells^3 tets."""
    r = positive_length("ball", "radius", radius)
    n = whole_number("ball", "cells", cells)
    check_fits("ball", 20 * n**3, "tets")
    points, tets = _fan(*_icosahedron(), n)
    return TetMesh(r * points, tets, orient=True)


def cylinder(radius: float = 0.5, height: float = 1.0, cells: int = 6, layers: int | None = None) -> TetMesh:
    """A cylinder around the z axis, centred at the origin. radius and height in metres.

    cells: rings from the axis to the side; layers: slices along the height, by default as many as make them
    about as high as a ring is wide. Half to twice as many keep dihedral angles in [10, 170] degrees;
    a plate thinner than a fifth of a ring's width needs more rings for that.
    """
    r = positive_length("cylinder", "radius", radius)
    h = positive_length("cylinder", "height", height)
    n = whole_number("cylinder", "cells", cells)
    check_fits("cylinder", 18 * n**2, "tets")
    wanted = h * n / r
    if layers is None and wanted > MOST_LAYERS:
        raise MeshError(
            f"cylinder: height={h:g} m and radius={r:g} m would take {wanted:.0g} layers; give layers= yourself."
        )
    count = max(1, round(wanted)) if layers is None else whole_number("cylinder", "layers", layers)
    check_fits("cylinder", 18 * n**2 * count, "tets")
    disc, triangles = _fan(*_hexagon(), n)
    z = np.linspace(-0.5 * h, 0.5 * h, count + 1)
    points = np.empty((count + 1, len(disc), 3))
    points[:, :, :2] = r * disc
    points[:, :, 2] = z[:, None]
    return TetMesh(points.reshape(-1, 3), _swept(triangles, len(disc), count, closed=False), orient=True)


def torus(major: float = 0.5, minor: float = 0.2, cells: int = 4, segments: int | None = None) -> TetMesh:
    """A torus around the z axis, centred at the origin. cells: rings of the tube's cross-section.

    major: distance from the axis to the middle of the tube [m]; minor: the tube's radius [m], at most 0.8
    major. segments: slices around the axis, at least 6; by default as many as make slices about as long as a
    ring is wide.
    """
    big = positive_length("torus", "major", major)
    small = positive_length("torus", "minor", minor)
    n = whole_number("torus", "cells", cells)
    check_fits("torus", 18 * n**2, "tets")
    if small > 0.8 * big:
        raise MeshError(
            f"torus got major={major!r} and minor={minor!r}: tets would be squeezed flat around the hole. "
            "Pass minor at most 0.8 major."
        )
    # Slices are shorter inside than outside; the geometric mean of the two is what should equal a ring.
    around = 2.0 * np.pi * np.sqrt(big**2 - small**2)
    fitting = max(6, round(around * n / small))
    count = fitting if segments is None else whole_number("torus", "segments", segments, 6)
    check_fits("torus", 18 * n**2 * count, "tets")
    disc, triangles = _fan(*_hexagon(), n)
    angle = 2.0 * np.pi * np.arange(count)[:, None] / count
    distance = big + small * disc[:, 0]
    z = np.broadcast_to(small * disc[:, 1], (count, len(disc)))
    points = np.stack((np.cos(angle) * distance, np.sin(angle) * distance, z), axis=-1)
    return TetMesh(points.reshape(-1, 3), _swept(triangles, len(disc), count, closed=True), orient=True)


def _hexagon() -> tuple[FloatArray, IntArray]:
    """Corners (6, 2) on the unit circle and the sectors (6, 2) between them."""
    angle = np.pi / 3.0 * np.arange(6)
    i = np.arange(6)
    return np.stack((np.cos(angle), np.sin(angle)), axis=1), np.stack((i, (i + 1) % 6), axis=1)


def _icosahedron() -> tuple[FloatArray, IntArray]:
    """Corners (12, 3) on the unit sphere and the faces (20, 3): all triples of mutually nearest corners."""
    golden = 0.5 * (1.0 + np.sqrt(5.0))
    signs = ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))
    corners = np.array([np.roll((0.0, a, b * golden), shift) for shift in range(3) for a, b in signs])
    near = np.linalg.norm(corners[:, None] - corners, axis=2) < 2.1
    i, j, k = np.indices((12, 12, 12))
    faces = np.argwhere((i < j) & (j < k) & near[:, :, None] & near[None] & near[:, None])
    return corners / np.sqrt(1.0 + golden**2), faces


def _fan(corners: FloatArray, sectors: IntArray, n: int) -> tuple[FloatArray, IntArray]:
    """Simplices that fill the unit disc or ball, n layers from centre to rim.

    corners (c, d) on the unit sphere; sectors (s, d): which corners each cone from the centre spans.
    Returns points (p, d) and simplices (s n^d, d + 1) of either orientation.
    """
    weights, local = _subdivided_cone(corners.shape[1], n)
    # A point shared by sectors has the same non-zero (corner, weight) pairs in each: these identify it.
    pairs = np.where(weights > 0, (sectors[:, None, :] + 1) * (n + 1) + weights, 0)
    pairs = np.sort(pairs.reshape(-1, pairs.shape[2]), axis=1)
    identity = np.zeros(len(pairs), dtype=np.int64)
    for column in pairs.T:
        identity = identity * ((len(corners) + 1) * (n + 1)) + column
    _, first, vertex = np.unique(identity, return_index=True, return_inverse=True)
    raw = np.einsum("pk,skd->spd", weights, corners[sectors]).reshape(-1, corners.shape[1])[first]
    layer = np.tile(weights.sum(axis=1), len(sectors))[first]
    length = np.linalg.norm(raw, axis=1)
    points = raw * (layer / (n * np.maximum(length, 0.5)))[:, None]
    vertex = vertex.reshape(len(sectors), len(weights))
    return points, vertex[:, local].reshape(-1, local.shape[1])


def _subdivided_cone(d: int, n: int) -> tuple[IntArray, IntArray]:
    """A cone of dimension d cut into n^d simplices: weights (p, d) of rim corners, simplices (n^d, d + 1).

    In coordinates n >= x_1 >= ... >= x_d >= 0 these are the simplices of the Kuhn grid; x_1 is the layer and
    the weights are x_1 - x_2, ..., x_d. Before layers are rounded, simplices
    come in at most d!/2 shapes, whatever n is: so refining does not spoil them.
    """
    grid = np.stack(np.meshgrid(*[np.arange(n + 1)] * d, indexing="ij"), axis=-1).reshape(-1, d)
    inside = np.all(grid[:, :-1] >= grid[:, 1:], axis=1)
    number = np.cumsum(inside) - 1
    stride = (n + 1) ** np.arange(d - 1, -1, -1)
    base = grid[inside & np.all(grid < n, axis=1)]
    simplices = []
    for path in permutations(range(d)):
        steps = np.zeros((d + 1, d), dtype=np.int64)
        for k, axis in enumerate(path):
            steps[k + 1 :, axis] = 1
        places = (base[:, None] + steps) @ stride
        simplices.append(number[places[inside[places].all(axis=1)]])
    x = grid[inside]
    weights = x - np.pad(x[:, 1:], ((0, 0), (0, 1)))
    return weights, np.concatenate(simplices)


def _swept(triangles: IntArray, n_disc: int, count: int, closed: bool) -> IntArray:
    """Tets (3 count m, 4) of a disc of triangles (m, 3) swept through count slices, in a ring if closed.

    Each prism is cut by its vertices' order in the disc, which neighbours share, so the cuts match.
    """
    a, b, c = np.sort(triangles, axis=1).T
    A, B, C = a + n_disc, b + n_disc, c + n_disc
    prism = np.stack((a, b, c, C, a, b, B, C, a, A, B, C), axis=1).reshape(-1, 4)
    tets = (prism + n_disc * np.arange(count)[:, None, None]).reshape(-1, 4)
    return tets % (n_disc * count) if closed else tets
