"""Directions of warp and weft from UV coordinates: where u and v grow in a sheet."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.arguments import as_numbers
from pliant.errors import MeshError
from pliant.geometry.mesh import TriMesh

FLAT = 1e-10  # of the longest edge squared: a triangle of less area in the uv plane has no directions


def warp_from_uv(mesh: TriMesh, uv: ArrayLike) -> np.ndarray:
    """(m, 3) unit vectors in the triangles along which u grows and v does not: the warp of panels laid out along u.

    mesh: m triangles; uv: (m, 3, 2) without unit, of the corners of each, as `load_uv` reads them, or (n, 2) of the
    vertices. With F the (3, 2) matrix that maps the uv plane to the triangle, the warp is F (1, 0).
    """
    corners = corner_uv(mesh, uv)
    sides = mesh.points[mesh.triangles[:, 1:]] - mesh.points[mesh.triangles[:, :1]]  # (m, 2, 3)
    plane = corners[:, 1:] - corners[:, :1]  # (m, 2, 2): rows are the same sides in the uv plane
    determinants = plane[:, 0, 0] * plane[:, 1, 1] - plane[:, 0, 1] * plane[:, 1, 0]
    longest = (plane**2).sum(axis=2).max(axis=1)
    flat = np.flatnonzero(np.abs(determinants) <= FLAT * longest)
    if flat.size:
        k = int(flat[0])
        raise MeshError(
            f"warp_from_uv: triangle {k} has no area in the uv plane, its corners are at {corners[k].tolist()}: unwrap "
            "the mesh again, or give the warp as a vector."
        )
    along = (plane[:, 1, 1, None] * sides[:, 0] - plane[:, 0, 1, None] * sides[:, 1]) / determinants[:, None]
    return along / np.linalg.norm(along, axis=1)[:, None]


def corner_uv(mesh: TriMesh, uv: ArrayLike) -> np.ndarray:
    """(m, 3, 2) of the corners of triangles, from those or from (n, 2) of vertices, checked."""
    if not isinstance(mesh, TriMesh):
        raise MeshError(f"warp_from_uv: the mesh is {mesh!r}; give a pl.TriMesh.")
    given = as_numbers(uv)
    if given is None:
        raise MeshError(f"warp_from_uv: uv is {type(uv).__name__}; give an array of numbers.")
    if given.shape == (mesh.n_vertices, 2):
        given = given[mesh.triangles]
    if given.shape != (mesh.n_triangles, 3, 2):
        raise MeshError(
            f"warp_from_uv: uv has shape {np.shape(uv)}; give ({mesh.n_triangles}, 3, 2) for the corners of triangles "
            f"or ({mesh.n_vertices}, 2) for vertices."
        )
    bad = np.flatnonzero(~np.isfinite(given).all(axis=(1, 2)))
    if bad.size:
        raise MeshError(f"warp_from_uv: uv of triangle {bad[0]} are not finite; repair them.")
    return given
