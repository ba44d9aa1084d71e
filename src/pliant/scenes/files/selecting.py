"""Which vertices of a body a scene file means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.errors import SceneError
from pliant.model import Body, checks
from pliant.scenes.files import holds

FACE_TOLERANCE = 1e-6  # of the body's extent: what still counts as its end


def select(body: Body, where: Any) -> np.ndarray:
    """The vertices of a body, at its start, that a selection means; at least one."""
    x = body.initial_positions
    vertices = _SELECTIONS[where.kind](x, where)
    if len(vertices) == 0:
        low, high = (f"[{', '.join(f'{v:g}' for v in corner)}]" for corner in (x.min(axis=0), x.max(axis=0)))
        raise SceneError(f"it selects no vertex of {body.name}, which lies between {low} and {high} [m].")
    if vertices.max() >= len(x):
        raise SceneError(f"vertex {vertices.max()} does not exist; {body.name} has vertices 0 to {len(x) - 1}.")
    return vertices


def _in_box(x: np.ndarray, box: holds.InBox) -> np.ndarray:
    return np.flatnonzero(((x >= box.low) & (x <= box.high)).all(axis=1))


def _beyond_plane(x: np.ndarray, plane: holds.BeyondPlane) -> np.ndarray:
    normal = checks.unit_vector(plane.normal, "plane: normal")
    return np.flatnonzero((x - plane.point) @ normal >= -FACE_TOLERANCE * np.ptp(x, axis=0).max())


def _on_face(x: np.ndarray, face: holds.OnFace) -> np.ndarray:
    along = x[:, "xyz".index(face.side[1])] * (1 if face.side[0] == "+" else -1)
    return np.flatnonzero(along >= along.max() - FACE_TOLERANCE * np.ptp(x, axis=0).max())


def _nearest(x: np.ndarray, near: holds.Nearest) -> np.ndarray:
    if near.count > len(x):
        raise SceneError(f"count is {near.count}, but the body has {len(x)} vertices.")
    distance = np.linalg.norm(x - near.point, axis=1)
    return np.sort(np.argsort(distance, kind="stable")[: near.count])


_SELECTIONS: dict[str, Callable[[np.ndarray, Any], np.ndarray]] = {
    "all": lambda x, where: np.arange(len(x)),
    "box": _in_box,
    "plane": _beyond_plane,
    "face": _on_face,
    "nearest": _nearest,
    "indices": lambda x, where: np.array(where.indices, dtype=np.int64),
}
