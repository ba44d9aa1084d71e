"""Teams of threads, and bodies put together into one scene."""

from collections.abc import Callable

import numpy as np
import pytest
from numba import njit

from contact_arrays import open_rules
from pliant.contact.search.colliders import Colliders, make_colliders
from pliant.contact.search.motion import motion_of
from pliant.contact.search.normals import vertex_normal
from pliant.contact.search.solid import Solid
from pliant.kernels.threads import Team


@pytest.fixture(scope="session")
def team() -> Team:
    """Two threads."""
    return Team(2)


@pytest.fixture(scope="session")
def assemble() -> Callable[..., tuple[np.ndarray, Colliders, np.ndarray]]:
    """A function: positions, colliders and body of each vertex, from solids (x, tets) and sheets (x, triangles)."""

    def put_together(solids=(), sheets=(), radius: float = 0.0):
        parts = [(x, tets, True) for x, tets in solids] + [(x, triangles, False) for x, triangles in sheets]
        start = np.concatenate([[0], np.cumsum([len(x) for x, _, _ in parts])])
        tets = [e + s for (_, e, is_solid), s in zip(parts, start, strict=False) if is_solid]
        triangles = [e + s for (_, e, is_solid), s in zip(parts, start, strict=False) if not is_solid]
        body = np.repeat(np.arange(len(parts)), np.diff(start)).astype(np.int32)
        is_sheet = np.array([not is_solid for _, _, is_solid in parts])[body]
        colliders = make_colliders(
            np.concatenate([np.zeros((0, 3), int), *triangles]),
            np.concatenate([np.zeros((0, 4), int), *tets]),
            open_rules(len(body), body),
            np.where(is_sheet, radius, 0.0),
        )
        return np.concatenate([x for x, _, _ in parts]), colliders, body

    return put_together


@njit
def _write_normals(solid, vertices, rows, normals):
    for k in range(len(vertices)):
        normals[k, 0], normals[k, 1], normals[k, 2] = vertex_normal(vertices[k], solid, rows)


@pytest.fixture(scope="session")
def outward_normals() -> Callable[[Solid, np.ndarray, np.ndarray], np.ndarray]:
    """A function: normals (k, 3) of a solid at vertices (k,), at positions x (n, 3)."""

    def normals_at(solid, vertices, x):
        normals = np.empty((len(vertices), 3))
        _write_normals(solid, vertices, motion_of(Team(1), x, x, 0.0).start, normals)
        return normals

    return normals_at
