"""`.pvd` and `.vtu`: ParaView. `run.pvd` lists times and files; the frames are in the folder `run/`.

A frame enters the list when its file is whole: its line and the end of the list are one write over the old end, so that
the list is right at any moment.
Data follow the XML as raw bytes (VTK file formats, "appended"): nothing to encode, fast to write and to read. They are
in the reverse order of the XML: meshio looks arrays up by their offsets while it changes these from front to back, and
takes the first that fits, which so is the right one.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from pliant.errors import FileError
from pliant.io.reading import read_by_meshio
from pliant.io.results.places import cannot_write, write_all
from pliant.io.results.result import Frame, FrameWriter, Layout, Result
from pliant.io.results.sequences import numbered
from pliant.io.results.surfaces import Part, frame_rate_of, layout_of_parts

LIST_HEAD = (
    b'<?xml version="1.0"?>\n<VTKFile type="Collection" version="1.0" byte_order="LittleEndian">\n  <Collection>\n'
)
LIST_END = b"  </Collection>\n</VTKFile>\n"
END = b"\n</AppendedData>\n</VTKFile>\n"
VTK_VERTEX, VTK_LINE, VTK_TRIANGLE, VTK_TETRA = 1, 3, 5, 10
FIELD_DATA = ("TimeValue", "rigid", "poses")
_TYPES = {"float32": "Float32", "float64": "Float64", "int32": "Int32", "uint8": "UInt8"}


class ParaViewWriter(FrameWriter):
    """Positions in double precision, fields in single; springs and sheets beside tets have no cell fields (NaN).
    Spheres are vertices with the field `radius`, for ParaView's "Point Gaussian" or the filter "Glyph". Poses of rigid
    bodies are the field data `poses`, and `rigid` their numbers.
    """

    def __init__(self, path: Path, layout: Layout):
        self._path, self._folder, self._layout = path, path.with_suffix(""), layout
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError as error:
            raise cannot_write(self._folder, error) from None
        self._bodies, self._cells = _cells(layout)
        self._n_cells = len(self._bodies)
        self._cell_bytes = b"".join(piece for values in reversed(self._cells.values()) for piece in _appended(values))
        self._n_padding = self._n_cells - layout.n_cells
        self._described: list[tuple[str, tuple[int, ...]]] = []  # names and shapes of what self._head describes
        self._head = b""
        self._count, self._list = 0, path.open("wb", buffering=0)
        for old in numbered(self._folder / f"{path.stem}.vtu"):
            old.unlink()
        write_all(self._list, [LIST_HEAD])
        self._end = self._list.tell()
        write_all(self._list, [LIST_END])

    def write(self, frame: Frame) -> None:
        name = f"{self._path.stem}_{self._count:05d}.vtu"
        with (self._folder / name).open("wb", buffering=0) as file:
            write_all(file, self._grid(frame))
        place = quoteattr(f"{self._folder.name}/{name}")
        line = f'    <DataSet timestep="{frame.time!r}" part="0" file={place}/>\n'.encode()
        self._list.seek(self._end)
        try:
            write_all(self._list, [line + LIST_END])
        except OSError:  # a full disk: the old end has its place
            self._list.seek(self._end)
            write_all(self._list, [LIST_END])
            self._list.truncate()
            raise
        self._end += len(line)
        self._count += 1

    def close(self) -> None:
        self._list.close()

    def _grid(self, frame: Frame) -> list[bytes | memoryview]:
        """The XML, which is the same as long as the fields are, what changes, and the cells, which stay."""
        cells = {name: np.asarray(values, np.float32) for name, values in frame.cell_fields.items()}
        cells = {name: self._padded(values) for name, values in cells.items()}
        fields = dict(frame.point_fields)
        if len(self._layout.spheres):
            fields["radius"] = self._layout.radii_at(frame.time)
        whole = {"TimeValue": np.array([frame.time])}
        if len(frame.poses):
            whole |= {"rigid": np.array(self._layout.rigid, np.int32), "poses": np.asarray(frame.poses, np.float64)}
        sections = {
            "FieldData": whole,
            "PointData": {name: np.asarray(values, np.float32) for name, values in fields.items()},
            "CellData": {"body": self._bodies, **cells},
            "Points": {"Points": np.asarray(frame.points, np.float64)},
        }
        moving = [(name, values) for arrays in sections.values() for name, values in arrays.items()]
        about = [(name, values.shape) for name, values in moving]
        if about != self._described:
            self._described, self._head = about, self._describe(sections)
        pieces = (piece for _, values in reversed(moving) for piece in _appended(values))
        return [self._head, self._cell_bytes, *pieces, END]

    def _padded(self, values: np.ndarray) -> np.ndarray:
        """Values of all cells: not a number where a cell is neither a tet nor, without tets, a triangle."""
        if not self._n_padding:
            return values
        return np.concatenate([values, np.full((self._n_padding, *values.shape[1:]), np.nan, np.float32)])

    def _describe(self, sections: dict[str, dict[str, np.ndarray]]) -> bytes:
        """The XML; it says where each array begins, the last at 0."""
        sections = {**sections, "Cells": self._cells}
        sizes = [8 + values.nbytes for arrays in sections.values() for values in arrays.values()]
        offsets = iter((np.cumsum(sizes[::-1])[::-1] - sizes).tolist())
        texts = {tag: f"<{tag}>\n{_data_lines(arrays, offsets)}</{tag}>\n" for tag, arrays in sections.items()}
        n_points = len(sections["Points"]["Points"])
        return (
            '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" '
            f'header_type="UInt64">\n<UnstructuredGrid>\n{texts.pop("FieldData")}'
            f'<Piece NumberOfPoints="{n_points}" NumberOfCells="{self._n_cells}">\n{"".join(texts.values())}'
            '</Piece>\n</UnstructuredGrid>\n<AppendedData encoding="raw">\n_'
        ).encode()


class ParaViewResult(Result):
    """Reads what the writer wrote, or any `.pvd` of grids that do not change their cells."""

    def __init__(self, path: Path):
        self.path = path
        try:
            sets = ET.parse(path).getroot().findall("./Collection/DataSet")
        except ET.ParseError as error:
            raise FileError(f"{path}: this is not a list of ParaView files ({error}).") from None
        if not sets:
            raise FileError(f"{path}: it lists no frame.")
        self.times = np.array([float(entry.attrib["timestep"]) for entry in sets])
        self._files = [path.parent / entry.attrib["file"] for entry in sets]
        first = self._read(0)
        parts = _parts(first)
        self.layout = layout_of_parts(parts, [f"body{k}" for k in range(len(parts))], frame_rate_of(self.times))
        self.layout = replace(self.layout, rigid=tuple(first.field_data.get("rigid", np.empty(0, int)).tolist()))
        last = self._read(len(sets) - 1).point_data.get("radius")
        if last is not None:  # of spheres that were not there at first, too
            radii = np.asarray(last, float)
            self.layout = replace(self.layout, radii=radii, births=self._births(radii))

    def _births(self, radii: np.ndarray) -> np.ndarray:
        """(n,) times [s] of the first frame in which a sphere is there."""
        births = np.zeros(len(radii))
        if self._is_there(0)[radii > 0].all():
            return births
        for k in range(len(self.times) - 1, -1, -1):
            births[self._is_there(k)] = self.times[k]
        return births

    def _is_there(self, k: int) -> np.ndarray:
        return np.asarray(self._read(k).point_data["radius"]) > 0

    def _frame(self, k: int) -> Frame:
        grid = self._read(k)
        kind = "tetra" if len(self.layout.tets) else "triangle"
        cells = {name: own.get(kind, np.empty(0)) for name, own in grid.cell_data_dict.items() if name != "body"}
        poses = np.reshape(grid.field_data.get("poses", ()), (-1, 7))
        return Frame(float(self.times[k]), grid.points, dict(grid.point_data), cells, poses=poses)

    def _read(self, k: int) -> Any:
        return read_by_meshio(self._files[k])


def _appended(values: np.ndarray) -> tuple[bytes, memoryview]:
    """Raw data: the size in bytes, and the bytes."""
    return values.nbytes.to_bytes(8, "little"), np.ascontiguousarray(values).reshape(-1).view(np.uint8).data


def _data_lines(arrays: dict[str, np.ndarray], offsets: Iterator[int]) -> str:
    lines = []
    for name, values in arrays.items():
        shape = f'NumberOfComponents="{values.shape[1]}" ' if values.ndim == 2 else ""
        if name in FIELD_DATA:
            shape += f'NumberOfTuples="{len(values)}" '
        kind = f'type="{_TYPES[values.dtype.name]}" Name={quoteattr(name)}'
        lines.append(f'<DataArray {kind} {shape}format="appended" offset="{next(offsets)}"/>\n')
    return "".join(lines)


def _cells(layout: Layout) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Tets, then the triangles that bound none, springs and spheres: the body of each, and their points."""
    sheets, edges, spheres = layout.triangles[layout.triangle_tets < 0], layout.edges, layout.spheres
    counts = np.repeat([4, 3, 2, 1], [len(layout.tets), len(sheets), len(edges), len(spheres)])
    first = np.concatenate([layout.tets[:, 0], sheets[:, 0], edges[:, 0], spheres])
    bodies = np.searchsorted(layout.body_start, first, side="right") - 1
    return bodies.astype(np.uint8 if len(layout.body_names) < 256 else np.int32), {
        "connectivity": np.concatenate([layout.tets.ravel(), sheets.ravel(), edges.ravel(), spheres]).astype(np.int32),
        "offsets": np.cumsum(counts).astype(np.int32),
        "types": np.array([0, VTK_VERTEX, VTK_LINE, VTK_TRIANGLE, VTK_TETRA], np.uint8)[counts],
    }


def _parts(grid: Any) -> list[Part]:
    """The bodies of a grid, told apart by the field "body" if it has one; their points follow each other."""
    kinds = (("triangle", 3), ("tetra", 4), ("line", 2), ("vertex", 1))
    cells = [grid.cells_dict.get(kind, np.empty((0, n), np.int64)) for kind, n in kinds]
    field = grid.cell_data_dict.get("body", {})
    bodies = [field.get(kind, np.zeros(len(own), int)) for (kind, _), own in zip(kinds, cells, strict=True)]
    first = np.full(1 + max(int(own.max(initial=0)) for own in bodies), len(grid.points))
    for own, body in zip(cells, bodies, strict=True):
        np.minimum.at(first, body, own.min(axis=1, initial=len(grid.points)))
    first[0] = 0
    counts = np.diff([*first, len(grid.points)])
    chosen = [[own[body == k] - first[k] for own, body in zip(cells, bodies, strict=True)] for k in range(len(first))]
    return [Part(int(count), *own[:3]) for count, own in zip(counts, chosen, strict=True)]
