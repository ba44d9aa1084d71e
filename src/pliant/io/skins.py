"""Surfaces embedded in solids, in a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError, MeshError, SceneError
from pliant.geometry import TriMesh
from pliant.io.saved_arrays import check_mesh
from pliant.model import Scene, Solid


def pack_skins(scene: Scene, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Which bodies have them, for the header; their meshes are added to `arrays`."""
    owners = [(n, skin) for n, body in enumerate(scene.bodies) if isinstance(body, Solid) for skin in body.skins]
    for k, (_, skin) in enumerate(owners):
        arrays[f"skin{k}.points"], arrays[f"skin{k}.elements"] = skin.mesh.points, skin.mesh.triangles
    return {"skins": [n for n, _ in owners]}


def unpack_skins(path: Path, scene: Scene, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Embed them again; their arrays are taken out. Checkpoints of before have none."""
    for k, n in enumerate(about.get("skins", ())):
        body, name = scene.bodies[n], f"skin{k}"
        if not isinstance(body, Solid):
            raise FileError(f"{path}: {name} is embedded in {body.name}, which is not a solid.")
        check_mesh(path, name, "TriMesh", arrays)
        points, elements = arrays.pop(f"{name}.points"), arrays.pop(f"{name}.elements")
        try:
            body.embed(TriMesh(points, elements))
        except (MeshError, SceneError) as error:
            raise FileError(f"{path}: arrays {name}.points and {name}.elements: {error}") from None
