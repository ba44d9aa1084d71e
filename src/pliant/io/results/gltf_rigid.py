"""Rigid bodies in `.glb`: a node for each, with a mesh in the body's axes, moved and turned by the animation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.io.results.gltf_spheres import ARRAY_BUFFER, ELEMENT_BUFFER, AddArray, add_channels
from pliant.io.results.rigid_surfaces import RigidSurface


class RigidNodes:
    """Meshes and ways of all rigid bodies, in single precision, and what describes them."""

    def __init__(self, surfaces: Sequence[RigidSurface], names: Sequence[str], add: AddArray):
        self._surfaces, self._names = surfaces, names
        self._meshes = [_primitive(surface, add) for surface in surfaces]
        self._tracks: dict[int, dict[str, int]] = {}  # accessors of the ways of bodies that move
        for k, surface in enumerate(surfaces):
            ways = {"translation": surface.positions, "rotation": np.roll(surface.orientations, -1, axis=1)}
            moving = {path: way for path, way in ways.items() if np.ptp(way, axis=0).any()}
            self._tracks[k] = {path: add(np.ascontiguousarray(way, np.float32)) for path, way in moving.items()}

    def add_to(self, about: dict[str, Any], material: Callable[[int], dict[str, Any]], clock: int | None) -> None:
        """Add meshes, materials, nodes and channels to a description; clock: the accessor of the times."""
        samplers: list[dict[str, Any]] = []
        channels: list[dict[str, Any]] = []
        for k, (surface, mesh) in enumerate(zip(self._surfaces, self._meshes, strict=True)):
            name = self._names[surface.number]
            about["materials"].append(material(surface.number))
            primitive = {**mesh, "material": len(about["materials"]) - 1, "mode": 4}
            about["meshes"].append({"name": name, "primitives": [primitive]})
            turned = np.roll(surface.orientations[0], -1).tolist()
            place = {"translation": surface.positions[0].tolist(), "rotation": turned}
            about["nodes"].append({"name": name, "mesh": len(about["meshes"]) - 1, **place})
            about["nodes"][0]["children"].append(len(about["nodes"]) - 1)
            for path, track in self._tracks[k].items():
                samplers.append({"input": clock, "output": track, "interpolation": "LINEAR"})
                target = {"node": len(about["nodes"]) - 1, "path": path}
                channels.append({"sampler": len(samplers) - 1, "target": target})
        add_channels(about, samplers, channels)


def _primitive(surface: RigidSurface, add: AddArray) -> dict[str, Any]:
    vectors = {
        "POSITION": add(surface.points.astype(np.float32), ARRAY_BUFFER),
        "NORMAL": add(surface.normals.astype(np.float32), ARRAY_BUFFER),
    }
    return {"attributes": vectors, "indices": add(surface.triangles.astype(np.uint32).ravel(), ELEMENT_BUFFER)}
