"""glTF 2.0 files, .glb and .gltf: the description, and its accessors as arrays."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError

COMPONENTS = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
SIZES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
JSON, BINARY = b"JSON", b"BIN\0"


class GltfFile:
    """A file that is open for reading."""

    def __init__(self, path: Path):
        self.path = path
        try:
            self.json, self._binary = _read(path)
        except (OSError, ValueError, struct.error, KeyError) as error:
            raise FileError(f"{path}: this is not a glTF file ({error}).") from None
        needed = self.json.get("extensionsRequired", [])
        if needed:
            raise FileError(f"{path}: it needs the glTF extension {needed[0]}; export it without compression.")
        self._buffers: dict[int, bytes] = {}
        self._arrays: dict[int, np.ndarray] = {}

    def part(self, kind: str) -> list[dict[str, Any]]:
        """The list of this name in the description."""
        return self.json.get(kind, [])

    def array(self, number: int) -> np.ndarray:
        """(count,) or (count, size) of an accessor; normalised integers as floats."""
        if number not in self._arrays:
            try:
                self._arrays[number] = self._accessor(number)
            except (IndexError, KeyError, ValueError, TypeError) as error:
                raise FileError(f"{self.path}: accessor {number} is damaged ({error!r}).") from None
        return self._arrays[number]

    def _accessor(self, number: int) -> np.ndarray:
        about = self.json["accessors"][number]
        count, size, kind = about["count"], SIZES[about["type"]], np.dtype(COMPONENTS[about["componentType"]])
        if "bufferView" in about:
            values = self._view(about["bufferView"], about.get("byteOffset", 0), kind, count, size)
        else:
            values = np.zeros((count, size), kind)
        if "sparse" in about:
            values = self._with_sparse(values.copy(), about["sparse"], kind, size)
        if about.get("normalized", False) and kind.kind != "f":
            values = np.maximum(values / (2 ** (8 * kind.itemsize - (kind.kind == "i")) - 1), -1.0)
        return values[:, 0] if size == 1 else values

    def _with_sparse(self, values: np.ndarray, sparse: dict[str, Any], kind: np.dtype, size: int) -> np.ndarray:
        count, places, own = sparse["count"], sparse["indices"], sparse["values"]
        rows = np.dtype(COMPONENTS[places["componentType"]])
        chosen = self._view(places["bufferView"], places.get("byteOffset", 0), rows, count, 1)[:, 0]
        values[chosen] = self._view(own["bufferView"], own.get("byteOffset", 0), kind, count, size)
        return values

    def _view(self, number: int, offset: int, kind: np.dtype, count: int, size: int) -> np.ndarray:
        view = self.json["bufferViews"][number]
        start, width = view.get("byteOffset", 0) + offset, kind.itemsize * size
        stride = view.get("byteStride", width)
        data = np.frombuffer(self._buffer(view["buffer"]), np.uint8)
        if count and start + stride * (count - 1) + width > len(data):
            raise ValueError("it ends beyond its buffer")
        rows = np.lib.stride_tricks.as_strided(data[start:], (count, width), (stride, 1), writeable=False)
        return np.ascontiguousarray(rows).view(kind.newbyteorder("<"))

    def _buffer(self, number: int) -> bytes:
        if number not in self._buffers:
            place = self.json["buffers"][number].get("uri")
            if place is None:
                self._buffers[number] = self._binary
            elif place.startswith("data:"):
                self._buffers[number] = base64.b64decode(place.partition(",")[2])
            else:
                self._buffers[number] = self._beside(place)
        return self._buffers[number]

    def _beside(self, place: str) -> bytes:
        other = self.path.parent / place
        try:
            return other.read_bytes()
        except OSError as error:
            raise FileError(f"{self.path}: its data {other} cannot be read ({error.strerror or error}).") from None


def _read(path: Path) -> tuple[dict[str, Any], bytes]:
    """The description and the binary part."""
    data = path.read_bytes()
    if data[:4] != b"glTF":
        return _checked(json.loads(data.decode("utf-8"))), b""
    place = 12
    chunks: dict[bytes, bytes] = {}
    while place + 8 <= len(data):
        size, kind = struct.unpack_from("<L4s", data, place)
        chunks.setdefault(kind, data[place + 8 : place + 8 + size])
        place += 8 + size
    return _checked(json.loads(chunks[JSON].decode("utf-8"))), chunks.get(BINARY, b"")


def _checked(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict) or str(document.get("asset", {}).get("version", "")).split(".")[0] != "2":
        raise ValueError("no glTF 2.0 description")
    return document
