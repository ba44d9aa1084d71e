"""Spheres in `.glb`: a node for each, all of a body with one mesh, moved and scaled by the animation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.io.results.result import Layout, Result
from pliant.io.results.spheres import MANY, unit_sphere

#: Puts an array (k, 3) or (k,) into the binary part; the number of its accessor.
AddArray = Callable[..., int]
ARRAY_BUFFER, ELEMENT_BUFFER = 34962, 34963


class SphereNodes:
    """Ways of all spheres, in single precision, and what describes them."""

    def __init__(self, result: Result, layout: Layout, kept: np.ndarray, times: list[float], add: AddArray):
        self._layout, self._times = layout, times
        self._own = [layout.spheres[self._body_of(layout.spheres) == b] for b in range(len(layout.body_names))]
        ways = [result.positions(k)[kept][layout.spheres] for k in range(len(result))]
        self._ways = np.array(ways, np.float32).reshape(-1, len(layout.spheres), 3)
        points, faces = unit_sphere(len(layout.spheres) <= MANY)
        corners = add(faces.astype(np.uint32).ravel(), ELEMENT_BUFFER)
        vectors = add(points.astype(np.float32), ARRAY_BUFFER)
        self._mesh = {"attributes": {"POSITION": vectors, "NORMAL": vectors}, "indices": corners}
        begins = float(result.times[0]) if len(result) else 0.0
        self._late = layout.births[layout.spheres] > begins + 1e-9
        moves = (self._ways != self._ways[:1]).any(axis=(0, 2)) if len(self._ways) > 1 else np.zeros(0, bool)
        self._tracks = {
            int(s): add(np.ascontiguousarray(self._ways[:, s])) for s in np.flatnonzero(moves) if len(times) > 1
        }
        self._sizes: dict[int, int] = {}
        for s in np.flatnonzero(self._late) if len(times) > 1 else ():
            there = np.array(times) + begins + 1e-9 >= layout.births[layout.spheres[s]]
            sizes = np.where(there, layout.radii[layout.spheres[s]], 0.0).astype(np.float32)
            self._sizes[int(s)] = add(np.repeat(sizes[:, None], 3, axis=1))

    def _body_of(self, points: np.ndarray) -> np.ndarray:
        return np.searchsorted(self._layout.body_start, points, side="right") - 1

    def add_to(self, about: dict[str, Any], material: Callable[[int], dict[str, Any]], clock: int | None) -> None:
        """Add meshes, materials, nodes and channels to a description; clock: the accessor of the times."""
        place = {int(point): s for s, point in enumerate(self._layout.spheres)}
        samplers: list[dict[str, Any]] = []
        channels: list[dict[str, Any]] = []
        for body, points in enumerate(self._own):
            if not len(points):
                continue
            about["materials"].append(material(body))
            primitive = {**self._mesh, "material": len(about["materials"]) - 1, "mode": 4}
            about["meshes"].append({"name": self._layout.body_names[body], "primitives": [primitive]})
            parent: dict[str, Any] = {"name": self._layout.body_names[body], "children": []}
            about["nodes"].append(parent)
            about["nodes"][0]["children"].append(len(about["nodes"]) - 1)
            for point in points.tolist():
                s, mesh = place[point], len(about["meshes"]) - 1
                radius = 0.0 if self._late[s] else float(self._layout.radii[point])
                node = {"mesh": mesh, "translation": self._ways[0, s].tolist(), "scale": [radius] * 3}
                about["nodes"].append(node)
                parent["children"].append(len(about["nodes"]) - 1)
                for tracks, path, kind in ((self._tracks, "translation", "LINEAR"), (self._sizes, "scale", "STEP")):
                    if s in tracks:
                        samplers.append({"input": clock, "output": tracks[s], "interpolation": kind})
                        target = {"node": len(about["nodes"]) - 1, "path": path}
                        channels.append({"sampler": len(samplers) - 1, "target": target})
        add_channels(about, samplers, channels)


def add_channels(about: dict[str, Any], samplers: list[dict[str, Any]], channels: list[dict[str, Any]]) -> None:
    """Add channels, whose samplers are numbered from 0, to the animation of a description."""
    if channels:
        animation = about.setdefault("animations", [{"name": "simulation", "samplers": [], "channels": []}])[0]
        first = len(animation["samplers"])
        animation["samplers"] += samplers
        animation["channels"] += [{**channel, "sampler": channel["sampler"] + first} for channel in channels]
