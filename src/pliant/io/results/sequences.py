"""`.ply` and `.obj`: one file per frame, `run_00000.ply`, `run_00001.ply` ..., surfaces and springs.

Each is written beside its place and moved there, so that every file found is whole.  The time is a comment in it.
"""

from __future__ import annotations

import io
import re
from abc import abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError
from pliant.io.reading import UntilEnd, read_by_meshio, reading
from pliant.io.results.digits import rows_of_text
from pliant.io.results.places import replacing
from pliant.io.results.result import Frame, FrameWriter, Layout, Result
from pliant.io.results.surfaces import Part, frame_rate_of, layout_of_parts

EDGE_HEADER = "element edge {}\nproperty int vertex1\nproperty int vertex2"


class SequenceWriter(FrameWriter):
    """A new recording takes the place of an old one of the same name: its frames are deleted first."""

    def __init__(self, path: Path, layout: Layout):
        self._path, self._layout, self._count = path, layout, 0
        for old in numbered(path):
            old.unlink()

    def write(self, frame: Frame) -> None:
        path = self._path.with_stem(f"{self._path.stem}_{self._count:05d}")
        with replacing(path) as beside:
            beside.write_bytes(self._encode(frame))
        self._count += 1

    @abstractmethod
    def _encode(self, frame: Frame) -> bytes: ...


class PlyWriter(SequenceWriter):
    """Binary, single precision, with the velocity of every point and the colour of its body."""

    def __init__(self, path: Path, layout: Layout):
        super().__init__(path, layout)
        face = np.empty(len(layout.triangles), [("count", "u1"), ("corners", "<i4", 3)])
        face["count"], face["corners"] = 3, layout.triangles
        self._cells = face.tobytes() + np.asarray(layout.edges, "<i4").tobytes()
        bytes_of_bodies = np.round(255 * layout.colours).astype(np.uint8)
        self._colours = np.repeat(bytes_of_bodies, np.diff(layout.body_start), axis=0)
        self._vertex: Any = np.empty(0)  # a table with named columns, used for every frame

    def _encode(self, frame: Frame) -> bytes:
        columns = {"points": frame.points, **frame.point_fields}
        kind = [(name, "<f4", values.shape[1:]) for name, values in columns.items()]
        dtype = np.dtype([*kind, ("colour", "u1", 3)])
        if self._vertex.dtype != dtype:
            self._vertex = np.empty(self._layout.n_points, dtype)
            self._vertex["colour"] = self._colours
        for name, values in columns.items():
            self._vertex[name] = values
        names = [f"{name}_{axis}" if wide else name for name, _, wide in kind[1:] for axis in ("xyz" if wide else "_")]
        return b"".join([self._head(frame.time, ["x", "y", "z", *names]), self._vertex.tobytes(), self._cells])

    def _head(self, time: float, names: list[str]) -> bytes:
        edges = len(self._layout.edges)
        lines = [
            "ply",
            "format binary_little_endian 1.0",
            f"comment time {time!r} s",
            f"element vertex {len(self._vertex)}",
            *(f"property float {name}" for name in names),
            *(f"property uchar {name}" for name in ("red", "green", "blue")),
            f"element face {len(self._layout.triangles)}",
            "property list uchar int vertex_indices",
            *([EDGE_HEADER.format(edges)] if edges else []),
            "end_header\n",
        ]
        return "\n".join(lines).encode()


class ObjWriter(SequenceWriter):
    """Text with nine digits; an object a body."""

    def __init__(self, path: Path, layout: Layout):
        super().__init__(path, layout)
        chunks = []
        for body, name in enumerate(layout.body_names):
            own = layout.triangles[layout.triangle_bodies == body] + 1
            edges = layout.edges[layout.edge_bodies == body] + 1
            chunks += [f"o {name.replace(' ', '_')}\n", "f %d %d %d\n" * len(own) % tuple(own.ravel().tolist())]
            chunks.append("l %d %d\n" * len(edges) % tuple(edges.ravel().tolist()))
        self._faces = "".join(chunks).encode()

    def _encode(self, frame: Frame) -> bytes:
        return b"".join(
            [f"# time {frame.time!r} s\n".encode(), rows_of_text(frame.points, "v ", " ", "\n"), self._faces]
        )


class SequenceResult(Result):
    """Reads numbered files of one surface in any format that meshio reads; asked for by the name without numbers."""

    def __init__(self, path: Path):
        self.path = path
        self._files = numbered(path)
        if not self._files:
            raise FileError(f"{path}: there is no file {path.stem}_00000{path.suffix} beside it.")
        self.times = np.array([_time(file, k) for k, file in enumerate(self._files)])
        first = _read(self._files[0])
        if not len(first.points):
            raise FileError(f"{self._files[0]}: it holds no points; a result needs some.")
        cells = first.cells_dict.get("triangle", np.empty((0, 3)))
        part = Part(len(first.points), cells, np.empty((0, 4)), _edges(self._files[0]))
        self.layout = layout_of_parts([part], ["body"], frame_rate_of(self.times))

    def _frame(self, k: int) -> Frame:
        return Frame(float(self.times[k]), np.asarray(_read(self._files[k]).points, float))


def numbered(path: Path) -> list[Path]:
    """The files of a sequence in their order."""
    pattern = re.compile(re.escape(path.stem) + r"_(\d{5,})" + re.escape(path.suffix))
    found = [(int(match[1]), file) for file in path.parent.iterdir() if (match := pattern.fullmatch(file.name))]
    return [file for _, file in sorted(found)]


def _time(path: Path, number: int) -> float:
    """From the comment; thirty frames per second if another program left none."""
    with path.open("rb") as file:
        match = re.search(rb"^(?:#|comment) time (\S+) s$", file.read(256), re.MULTILINE)
    return float(match[1]) if match else number / 30


def _edges(path: Path) -> np.ndarray:
    """(e, 2) points of the springs of a file; meshio does not read them."""
    data = path.read_bytes()
    if path.suffix.lower() == ".obj":
        return np.array(re.findall(rb"^l (\d+) (\d+)$", data, re.MULTILINE), np.int64).reshape(-1, 2) - 1
    count = _edge_count(data)
    return np.frombuffer(data[len(data) - 8 * count :], "<i4").reshape(-1, 2).astype(np.int64)


def _edge_count(ply: bytes) -> int:
    match = re.search(rb"^element edge (\d+)$", ply[: ply.find(b"end_header")], re.MULTILINE)
    return int(match[1]) if match else 0


def _read(path: Path) -> Any:
    if path.suffix.lower() != ".ply":
        return read_by_meshio(path)
    import meshio

    data = path.read_bytes()
    header = f"{EDGE_HEADER.format(_edge_count(data))}\n".encode()  # meshio knows vertices and faces only
    with reading(path):
        return meshio.ply.read(UntilEnd(io.BytesIO(data.replace(header, b"", 1))))  # type: ignore[arg-type]
