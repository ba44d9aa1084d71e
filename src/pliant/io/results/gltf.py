"""`.glb`: plays in any browser viewer and in Blender (glTF 2.0).

A body is a node of its name with one mesh. Its first frame is the mesh, each later one a morph target, and the weights
of the targets pass from one to the next in straight lines, so that points move evenly between frames. Bodies that stay
where they are have no targets. Spheres and rigid bodies are nodes that move (`gltf_spheres.py`, `gltf_rigid.py`). The
format ends at 4 GB: 24 bytes per point and frame, 12 per sphere, 28 per rigid body.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError
from pliant.io.results.gltf_rigid import RigidNodes
from pliant.io.results.gltf_spheres import SphereNodes
from pliant.io.results.places import replacing
from pliant.io.results.result import Layout, Result
from pliant.io.results.rigid_surfaces import RigidSurface, rigid_surfaces
from pliant.io.results.surfaces import extent, vertex_normals

LIMIT = 2**32 - 1  # [bytes]
FLOAT, UINT = 5126, 5125
LINES, TRIANGLES = 1, 4
ARRAY_BUFFER, ELEMENT_BUFFER = 34962, 34963
Z_UP_TO_Y_UP = [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]  # quaternion: -90 degrees about x


def export(result: Result, path: Path) -> None:
    """Write all frames of a result; reads it twice, and holds two frames at a time."""
    layout, kept = result.layout.surface()
    count = len(result)
    rigid = rigid_surfaces(result, layout, kept)
    still = sum(len(surface.points) for surface in rigid)
    vectors = 2 * (layout.n_points - still) - len(layout.spheres)  # a sphere has no normal
    size = count * vectors * 12 + count**2 * 4 + (layout.triangles.size + layout.edges.size) * 4
    if size > 0.98 * LIMIT:  # the rest is for the description
        raise FileError(
            f"{path}: {count} frames of {layout.n_points} points are {size / 1e9:.1f} GB, and a .glb ends at "
            "4 GB. Record fewer frames (every=...), or use .usdc."
        )
    document = _Document(layout, (result.times - result.times[0]).tolist() if count else [], rigid)
    if len(layout.spheres):
        document.add_spheres(result, kept)
    for values in _values(result, layout, kept):
        document.add_frame(*values)
    with replacing(path) as beside, beside.open("wb") as file:
        text = json.dumps(document.json(), separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        file.write(struct.pack("<4s2L", b"glTF", 2, 12 + 8 + len(text) + 8 + document.size))
        file.write(struct.pack("<L4s", len(text), b"JSON") + text)
        file.write(struct.pack("<L4s", document.size, b"BIN\0") + document.head)
        for points, normals in _values(result, layout, kept):
            for rows in document.bodies_rows():
                file.write(points[rows].tobytes() + normals[rows].tobytes())


def _values(result: Result, layout: Layout, kept: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Points and normals (n, 3) in single precision: of the first frame, then of the others the difference from it."""
    first: tuple[np.ndarray, np.ndarray] | None = None
    for k in range(len(result)):
        points = result.positions(k)[kept]
        values = points.astype(np.float32), vertex_normals(points, layout.triangles).astype(np.float32)
        if first is None:
            first = values
            yield values
        else:
            yield values[0] - first[0], values[1] - first[1]


@dataclass
class _Body:
    """A body that has triangles or springs."""

    number: int
    rows: slice  # of the points
    primitives: list[tuple[int, int]]  # accessor of the corners, mode
    extents: list[list[list[float]]] = field(default_factory=list)  # of its points, or of how far they moved
    moves: bool = False


class _Document:
    """The JSON description. The binary part holds corners, times and weights, then points and normals of each frame."""

    def __init__(self, layout: Layout, times: list[float], rigid: list[RigidSurface]):
        self._layout, self._times = layout, times
        self._accessors: list[dict[str, Any]] = []
        self._views: list[dict[str, Any]] = []
        self.head = bytearray()  # what comes before the frames
        deforming = set(range(len(layout.body_names))) - {surface.number for surface in rigid}
        self._bodies = [body for b in sorted(deforming) if (body := self._body(b)).primitives]
        targets = np.eye(len(times), dtype=np.float32)[:, 1:].ravel()  # weights of all targets at each time
        self._spheres: SphereNodes | None = None
        self._rigid = RigidNodes(rigid, layout.body_names, self._add_array)
        self._sampler = [self._add_array(np.array(times, np.float32)), self._add_array(targets)] if times[1:] else []

    def add_spheres(self, result: Result, kept: np.ndarray) -> None:
        """Take the spheres of all frames."""
        self._spheres = SphereNodes(result, self._layout, kept, self._times, self._add_array)

    def _body(self, b: int) -> _Body:
        layout = self._layout
        first, last = (int(place) for place in layout.body_start[b : b + 2])
        parts = (
            (layout.triangles[layout.triangle_bodies == b], TRIANGLES),
            (layout.edges[layout.edge_bodies == b], LINES),
        )
        own = [((cells - first).astype(np.uint32).ravel(), mode) for cells, mode in parts if len(cells)]
        return _Body(b, slice(first, last), [(self._add_array(cells, ELEMENT_BUFFER), mode) for cells, mode in own])

    def add_frame(self, points: np.ndarray, normals: np.ndarray) -> None:
        """Take note of a frame as `_values` gives it."""
        for body in self._bodies:
            bounds = extent(points[body.rows])
            body.moves = body.moves or (len(body.extents) > 0 and bool(bounds.any()))
            body.extents.append(bounds.tolist())

    def bodies_rows(self) -> list[slice]:
        """Points of each body, in the order of the binary part."""
        return [body.rows for body in self._bodies]

    @property
    def size(self) -> int:
        """Bytes of the binary part."""
        points = sum(body.rows.stop - body.rows.start for body in self._bodies)
        return len(self.head) + 24 * points * len(self._times)

    def json(self) -> dict[str, Any]:
        """All that the binary part holds, and how it is shown."""
        vectors = self._add_vectors()
        meshes = [self._mesh(body, own) for body, own in zip(self._bodies, vectors, strict=True)]
        names = [self._layout.body_names[body.number] for body in self._bodies]
        nodes = [{"name": name, "mesh": k} for k, name in enumerate(names)]
        root = {"name": "result", "rotation": Z_UP_TO_Y_UP, "children": list(range(1, len(nodes) + 1))}
        moving = [k + 1 for k, body in enumerate(self._bodies) if body.moves]
        about: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "Pliant"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [root, *nodes],
            "meshes": meshes,
            "materials": [self._material(body.number) for body in self._bodies],
            "accessors": self._accessors,
            "bufferViews": self._views,
            "buffers": [{"byteLength": self.size}],
        }
        if moving:
            times, weights = self._sampler
            sampler = {"input": times, "output": weights, "interpolation": "LINEAR"}
            channels = [{"sampler": 0, "target": {"node": node, "path": "weights"}} for node in moving]
            about["animations"] = [{"name": "simulation", "samplers": [sampler], "channels": channels}]
        self._rigid.add_to(about, self._material, self._sampler[0] if self._sampler else None)
        if self._spheres is not None:
            self._spheres.add_to(about, self._material, self._sampler[0] if self._sampler else None)
        return about

    def _add_vectors(self) -> list[list[dict[str, int]]]:
        """Accessors of points and normals, by body and frame, in the order in which they are written."""
        found: list[list[dict[str, int]]] = [[] for _ in self._bodies]
        offset = len(self.head)
        for k in range(len(self._times)):
            for body, own in zip(self._bodies, found, strict=True):
                count = body.rows.stop - body.rows.start
                low, high = body.extents[k]
                own.append({})
                for name, bounds in (("POSITION", {"min": low, "max": high}), ("NORMAL", {})):
                    view = {"buffer": 0, "byteOffset": offset, "byteLength": 12 * count, "target": ARRAY_BUFFER}
                    self._views.append(view)
                    about = {"bufferView": len(self._views) - 1, "componentType": FLOAT, "count": count, "type": "VEC3"}
                    self._accessors.append({**about, **bounds})
                    own[-1][name] = len(self._accessors) - 1
                    offset += 12 * count
        return found

    def _mesh(self, body: _Body, frames: list[dict[str, int]]) -> dict[str, Any]:
        place = self._bodies.index(body)
        morphs = {"targets": frames[1:]} if body.moves else {}
        primitives = [
            {"attributes": frames[0], "indices": corners, "material": place, "mode": mode, **morphs}
            for corners, mode in body.primitives
        ]
        mesh: dict[str, Any] = {"name": self._layout.body_names[body.number], "primitives": primitives}
        if body.moves:
            mesh["weights"] = [0.0] * len(frames[1:])
            mesh["extras"] = {"targetNames": [f"{time:.4f} s" for time in self._times[1:]]}
        return mesh

    def _material(self, body: int) -> dict[str, Any]:
        linear = np.asarray(self._layout.colours[body], float) ** 2.2
        surface = {"baseColorFactor": [*linear.tolist(), 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.6}
        return {"name": self._layout.body_names[body], "pbrMetallicRoughness": surface, "doubleSided": True}

    def _add_array(self, values: np.ndarray, target: int | None = None) -> int:
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self.head), "byteLength": values.nbytes}
        if target:
            view["target"] = target
        self._views.append(view)
        self.head += values.tobytes()
        about: dict[str, Any] = {"bufferView": len(self._views) - 1, "count": len(values)}
        about["type"] = "SCALAR" if values.ndim == 1 else f"VEC{values.shape[1]}"
        about["componentType"] = FLOAT if values.dtype == np.float32 else UINT
        about |= {"min": np.atleast_1d(values.min(axis=0)).tolist(), "max": np.atleast_1d(values.max(axis=0)).tolist()}
        self._accessors.append(about)
        return len(self._accessors) - 1
