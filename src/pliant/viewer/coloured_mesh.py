"""A mesh with a colour of its own at every point, in viser's page.

viser's simple meshes have one colour; those of glTF have one for each point, but vanish while a browser loads another.
So two take turns: one is seen while the other loads.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

FLOAT, UINT = 5126, 5125
MATERIAL = {"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 1.0}, "doubleSided": True}


class ColouredMesh:
    """Call `show` with every change, and `turn` before the next and when no more comes for a while."""

    def __init__(self, scene: Any, name: str):
        self._scene, self._name = scene, name
        self._handles: list[Any] = []
        self._seen = 0  # which of the two is in front
        self._is_loading = False  # the other

    def show(self, points: np.ndarray, triangles: np.ndarray, colours: np.ndarray) -> None:
        """Load points (n, 3) [m], triangles (k, 3) and colours (n, 3) from 0 to 1; the first is seen at once."""
        data = glb(points, triangles, colours)
        if len(self._handles) < 2:
            k = len(self._handles)
            options = {"visible": k == 0, "cast_shadow": False, "receive_shadow": False}
            self._handles.append(self._scene.add_glb(f"{self._name}/{k}", data, **options))
            self._is_loading = k == 1
            return
        self._handles[1 - self._seen].glb_data = data
        self._is_loading = True

    def turn(self) -> None:
        """Show what was loaded last."""
        if self._is_loading:
            self._handles[1 - self._seen].visible, self._handles[self._seen].visible = True, False
            self._seen, self._is_loading = 1 - self._seen, False

    def hide(self) -> None:
        """Take it away until it is shown again."""
        for handle in self._handles:
            handle.remove()
        self._handles, self._seen, self._is_loading = [], 0, False


def glb(points: np.ndarray, triangles: np.ndarray, colours: np.ndarray) -> bytes:
    """A glTF 2.0 file of one mesh. Colours (n, 3) are those of screens, sRGB; glTF wants them linear."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    arrays = [points.astype("<f4"), linear.astype("<f4"), triangles.astype("<u4").ravel()]
    starts = np.cumsum([0, *(array.nbytes for array in arrays)])
    places = np.asarray(arrays[0], float)
    extent = {"min": places.min(axis=0).tolist(), "max": places.max(axis=0).tolist()}
    n = len(points)
    document = {
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": int(starts[-1])}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": int(start), "byteLength": array.nbytes}
            for start, array in zip(starts[:-1], arrays, strict=True)
        ],
        "accessors": [
            {"bufferView": 0, "componentType": FLOAT, "count": n, "type": "VEC3", **extent},
            {"bufferView": 1, "componentType": FLOAT, "count": n, "type": "VEC3"},
            {"bufferView": 2, "componentType": UINT, "count": triangles.size, "type": "SCALAR"},
        ],
        "materials": [MATERIAL],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "COLOR_0": 1}, "indices": 2, "material": 0}]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
        "scene": 0,
    }
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    data = b"".join(array.tobytes() for array in arrays)
    head = struct.pack("<4s2L", b"glTF", 2, 12 + 8 + len(text) + 8 + len(data))
    return head + struct.pack("<L4s", len(text), b"JSON") + text + struct.pack("<L4s", len(data), b"BIN\0") + data
