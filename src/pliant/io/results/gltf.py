"""`.glb`: plays in any browser viewer (glTF 2.0).

A frame is a node with a mesh of its own that has the size 1 while it is shown and 0 otherwise.  Morph targets, the
other way, make a viewer blend all frames at every moment, and viewers limit their number.  The format ends at 4 GB:
24 bytes per point and frame.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pliant.errors import FileError
from pliant.io.results.places import replacing
from pliant.io.results.result import Layout, Result
from pliant.io.results.surfaces import extent, vertex_normals

LIMIT = 2**32 - 1  # [bytes]
FLOAT, UINT = 5126, 5125
LINES, TRIANGLES = 1, 4
ARRAY_BUFFER, ELEMENT_BUFFER = 34962, 34963
Z_UP_TO_Y_UP = [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]  # quaternion: -90 degrees about x


def export(result: Result, path: Path) -> None:
    """Write all frames of a result; reads it twice, and holds one frame at a time."""
    layout, kept = result.layout.surface()
    size = len(result) * layout.n_points * 24 + (layout.triangles.size + layout.edges.size) * 4
    if size > 0.98 * LIMIT:  # the rest is for the description
        raise FileError(
            f"{path}: {len(result)} frames of {layout.n_points} points are {size / 1e9:.1f} GB, and a .glb ends at "
            "4 GB. Record fewer frames (every=...), or use .usdc."
        )
    document = _Document(layout)
    for k, time in enumerate(result.times.tolist()):
        document.add_frame(result.positions(k)[kept], time - result.times[0])
    document.add_animation(1 / layout.frame_rate)
    with replacing(path) as beside, beside.open("wb") as file:
        _write(file, document, result, layout, kept)


class _Document:
    """The JSON description. The binary part holds times, scales, triangles, then points and normals of each frame."""

    def __init__(self, layout: Layout):
        self._layout = layout
        self._times: list[float] = []
        self._accessors: list[dict[str, Any]] = []
        self._views: list[dict[str, Any]] = []
        self.head = bytearray()  # what comes before the frames
        bodies = [layout.triangles[layout.triangle_bodies == b] for b in range(len(layout.body_names))]
        springs = [layout.edges[layout.edge_bodies == b] for b in range(len(layout.body_names))]
        parts = [(b, own, mode) for kind, mode in ((bodies, TRIANGLES), (springs, LINES)) for b, own in enumerate(kind)]
        self._shown = [(b, mode) for b, own, mode in parts if len(own)]
        arrays = [own.astype(np.uint32).ravel() for _, own, _ in parts if len(own)]
        self._indices = [self._add_array(indices, ELEMENT_BUFFER) for indices in arrays]
        self._extents: list[list[list[float]]] = []
        self._animation: dict[str, Any] = {}

    def add_frame(self, points: np.ndarray, time: float) -> None:
        self._extents.append(extent(points.astype(np.float32)).tolist())
        self._times.append(float(time))

    def add_animation(self, last_seconds: float) -> None:
        """Show frame k from its time to the next one's; the last for so many seconds."""
        ends = [*self._times[1:], self._times[-1] + last_seconds] if self._times else []
        samplers, channels = [], []
        rise = self._add_array(_scales(0, 1, 0))
        first = self._add_array(_scales(1, 0))
        for k, (begin, end) in enumerate(zip(self._times, ends, strict=True)):
            last = k == len(ends) - 1
            keys, scales = ([begin, end], first) if k == 0 else ([0.0, begin, end], rise)
            if last:  # stays until the animation starts again
                scales = self._add_array(_scales(0, 1, 1) if k else _scales(1, 1))
            times = self._add_array(np.array(keys, np.float32))
            samplers.append({"input": times, "output": scales, "interpolation": "STEP"})
            channels.append({"sampler": k, "target": {"node": k + 1, "path": "scale"}})
        self._animation = {"name": "simulation", "samplers": samplers, "channels": channels}

    def json(self) -> dict[str, Any]:
        layout, meshes = self._layout, []
        offset, stride = len(self.head), 12 * layout.n_points
        for low, high in self._extents:
            attributes = {}
            for name, bounds in (("POSITION", {"min": low, "max": high}), ("NORMAL", {})):
                self._views.append({"buffer": 0, "byteOffset": offset, "byteLength": stride, "target": ARRAY_BUFFER})
                view = len(self._views) - 1
                vectors = {"bufferView": view, "componentType": FLOAT, "count": layout.n_points, "type": "VEC3"}
                self._accessors.append({**vectors, **bounds})
                attributes[name] = len(self._accessors) - 1
                offset += stride
            about = {"attributes": attributes}
            parts = enumerate(zip(self._indices, self._shown, strict=True))
            meshes.append(
                {"primitives": [{**about, "indices": i, "material": m, "mode": mode} for m, (i, (_, mode)) in parts]}
            )
        count = len(meshes)
        root = {"name": "result", "rotation": Z_UP_TO_Y_UP, "children": list(range(1, count + 1))}
        frames = [{"name": f"frame {k}", "mesh": k, "scale": [float(k == 0)] * 3} for k in range(count)]
        return {
            "asset": {"version": "2.0", "generator": "Pliant"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [root, *frames],
            "meshes": meshes,
            "materials": [self._material(body) for body, _ in self._shown],
            "animations": [self._animation],
            "accessors": self._accessors,
            "bufferViews": self._views,
            "buffers": [{"byteLength": offset}],
        }

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
        about["componentType"] = FLOAT if values.dtype == np.float32 else UINT
        about["type"] = "VEC3" if values.ndim == 2 else "SCALAR"
        if values.ndim == 1:
            about |= {"min": [values.min().item()], "max": [values.max().item()]}
        self._accessors.append(about)
        return len(self._accessors) - 1


def _scales(*sizes: float) -> np.ndarray:
    return np.repeat(np.array(sizes, np.float32)[:, None], 3, axis=1)


def _write(file: BinaryIO, document: _Document, result: Result, layout: Layout, kept: np.ndarray) -> None:
    about = document.json()
    text = json.dumps(about, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    binary = about["buffers"][0]["byteLength"]
    file.write(struct.pack("<4s2L", b"glTF", 2, 12 + 8 + len(text) + 8 + binary))
    file.write(struct.pack("<L4s", len(text), b"JSON") + text)
    file.write(struct.pack("<L4s", binary, b"BIN\0") + document.head)
    for k in range(len(result)):
        points = result.positions(k)[kept]
        file.write(points.astype(np.float32).tobytes())
        file.write(vertex_normals(points, layout.triangles).astype(np.float32).tobytes())
