"""Sizes and shapes of elements: volumes, areas, dihedral angles, radius ratios.

All functions take points (n, 3) in metres and element indices, and return one row per element.
They do not validate: TetMesh and TriMesh do.
"""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: The six edges of a tet, in the order in which `dihedral_angles` reports them.
TET_EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))


def corner_coordinates(points: FloatArray, elements: IntArray) -> FloatArray:
    """Coordinates of each element's corners, (3, corners, m): one long contiguous row a number.

    Long rows keep NumPy at memory speed; (m, corners, 3) is several times slower to work on.
    """
    return np.ascontiguousarray(points.T)[:, elements.T]


def determinants(q: FloatArray) -> FloatArray:
    """Six times the signed volume [m^3] of tets with corner coordinates q (3, 4, m)."""
    (ax, bx, cx), (ay, by, cy), (az, bz, cz) = q[:, 1:] - q[:, :1]
    return ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)


def longest_squared_edges(q: FloatArray) -> FloatArray:
    """Squared length [m^2] of the longest edge of elements with corner coordinates q (3, corners, m)."""
    corners = q.shape[1]
    longest = np.zeros(q.shape[2])
    for i in range(corners):
        for j in range(i + 1, corners):
            x, y, z = q[:, i] - q[:, j]
            np.maximum(longest, x * x + y * y + z * z, out=longest)
    return longest


def tet_volumes(points: FloatArray, tets: IntArray) -> FloatArray:
    """Signed volumes (m,) [m^3]: positive when vertex 3 sees vertices 0, 1, 2 run counter-clockwise."""
    return determinants(corner_coordinates(points, tets)) / 6.0


def triangle_areas(points: FloatArray, triangles: IntArray) -> FloatArray:
    """Areas (m,) [m^2], never negative."""
    return 0.5 * np.sqrt(_squared_normals(corner_coordinates(points, triangles)))


def _squared_normals(q: FloatArray) -> FloatArray:
    """|(b - a) x (c - a)|^2 = 4 area^2 [m^4] of triangles with corner coordinates q (3, 3, m)."""
    (ax, bx), (ay, by), (az, bz) = q[:, 1:] - q[:, :1]
    return (ay * bz - az * by) ** 2 + (az * bx - ax * bz) ** 2 + (ax * by - ay * bx) ** 2


def _face_normals(points: FloatArray, tets: IntArray) -> FloatArray:
    """Inward normals (m, 4, 3) of length twice the area [m^2]; face i lies opposite vertex i."""
    p = points[tets]
    normals = np.empty_like(p)
    for i, (a, b, c) in enumerate(((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))):
        normals[:, i] = np.cross(p[:, c] - p[:, a], p[:, b] - p[:, a])
    return normals


def dihedral_angles(points: FloatArray, tets: IntArray) -> FloatArray:
    """Angles (m, 6) in degrees between the two faces that meet at each edge of `TET_EDGES`.

    A regular tet has arccos(1/3) = 70.5 six times. A flat tet has undefined (not a number) or 0 and 180.
    """
    normals = _face_normals(points, tets)
    angles = np.empty((len(tets), 6))
    for column, (i, j) in enumerate(TET_EDGES):
        # The faces at edge ij lie opposite the two other vertices k and l.
        k, l = (v for v in range(4) if v not in (i, j))
        sine = np.linalg.norm(np.cross(normals[:, k], normals[:, l]), axis=1)
        cosine = -np.einsum("ij,ij->i", normals[:, k], normals[:, l])
        angles[:, column] = np.degrees(np.arctan2(sine, cosine))
    return angles


def radius_ratios(points: FloatArray, tets: IntArray) -> FloatArray:
    """Quality (m,) in (0, 1]: three inscribed radii over the circumscribed radius, 1 for a regular tet.

    With V the volume, S the surface and p, q, r the products of opposite edge lengths,
    the inscribed radius is 3 V / S and the circumscribed one sqrt((p+q+r)(-p+q+r)(p-q+r)(p+q-r)) / (24 V).
    """
    volume = tet_volumes(points, tets)
    surface = 0.5 * np.linalg.norm(_face_normals(points, tets), axis=2).sum(axis=1)
    corners = points[tets]
    length = [np.linalg.norm(corners[:, i] - corners[:, j], axis=1) for i, j in TET_EDGES]
    p, q, r = (length[i] * length[5 - i] for i in range(3))
    # Rounding can make this product of a flat tet slightly negative.
    product = np.maximum((p + q + r) * (-p + q + r) * (p - q + r) * (p + q - r), np.finfo(float).tiny)
    return np.minimum(216.0 * volume**2 / (surface * np.sqrt(product)), 1.0)
