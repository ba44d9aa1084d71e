"""Surfaces that must have an inside, as of rigid bodies and of fields of distances."""

from __future__ import annotations

import numpy as np

from pliant.errors import SceneError
from pliant.geometry.surface import enclosed_volume, unmatched_edge


def check_closed(points: np.ndarray, triangles: np.ndarray, name: str, otherwise: str) -> None:
    """Refuse a surface, points (n, 3) [m] and triangles (m, 3), that is open or inside out.

    otherwise: what takes an open one, for the message.
    """
    edge = unmatched_edge(triangles, len(points))
    if edge is not None:
        raise SceneError(
            f"{name}: its surface is not closed: the edge from vertex {edge[0]} to vertex {edge[1]} has no triangle on "
            f"its other side, or one that is turned the other way. Close the mesh, or use {otherwise}."
        )
    volume = enclosed_volume(points, triangles)
    if not volume > 0:
        a, b = triangles[0, :2].tolist()
        raise SceneError(
            f"{name}: its surface encloses {volume:g} m^3: its triangles, like that at the edge {a}, {b}, face "
            "inwards. Turn them round: pl.TriMesh(mesh.points, mesh.triangles[:, ::-1])."
        )
