"""`.pvd` and `.vtu`: ParaView. `run.pvd` lists times and files; the frames are in the folder `run/`.

A frame enters the list when its file is whole: its line and the end of the list are one write over the old end, so that
the list is right at any moment.
Data follow the XML as raw bytes (VTK file formats, "appended"): nothing to encode, fast to write and to read.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from pliant.errors import FileError
from pliant.io.results.places import cannot_write, write_all
from pliant.io.results.result import Frame, FrameWriter, Layout, Result
from pliant.io.results.surfaces import Part, frame_rate_of, layout_of_parts

LIST_HEAD = (
    b'<?xml version="1.0"?>\n<VTKFile type="Collection" version="1.0" byte_order="LittleEndian">\n  <Collection>\n'
)
LIST_END = b"  </Collection>\n</VTKFile>\n"
VTK_LINE, VTK_TRIANGLE, VTK_TETRA = 3, 5, 10
_TYPES = {"float32": "Float32", "float64": "Float64", "int32": "Int32", "uint8": "UInt8"}


class ParaViewWriter(FrameWriter):
    """Positions in double precision, fields in single; springs and sheets beside tets have no cell fields (NaN)."""

    def __init__(self, path: Path, layout: Layout):
        self._path, self._folder = path, path.with_suffix("")
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError as error:
            raise cannot_write(self._folder, error) from None
        self._cells, self._n_cells, self._bodies = _cells(layout)
        self._padding = np.full(self._n_cells - layout.n_cells, np.nan, np.float32)
        self._count, self._list = 0, path.open("wb", buffering=0)
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
        points = {name: np.asarray(values, np.float32) for name, values in frame.point_fields.items()}
        cells: dict[str, np.ndarray] = {"body": self._bodies}
        for name, values in frame.cell_fields.items():
            cells[name] = np.concatenate([np.asarray(values, np.float32), self._padding])
        data = _Appended()
        body = "".join(
            [
                _section("FieldData", data, {"TimeValue": np.array([frame.time])}),
                f'<Piece NumberOfPoints="{len(frame.points)}" NumberOfCells="{self._n_cells}">\n',
                _section("PointData", data, points),
                _section("CellData", data, cells),
                _section("Points", data, {"Points": np.asarray(frame.points, np.float64)}),
                _section("Cells", data, self._cells),
                "</Piece>\n",
            ]
        )
        head = (
            '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" '
            f'header_type="UInt64">\n<UnstructuredGrid>\n{body}</UnstructuredGrid>\n<AppendedData encoding="raw">\n_'
        )
        return [head.encode(), *data.chunks, b"\n</AppendedData>\n</VTKFile>\n"]


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

    def frame(self, k: int) -> Frame:
        grid = self._read(k)
        kind = "tetra" if len(self.layout.tets) else "triangle"
        cells = {name: own.get(kind, np.empty(0)) for name, own in grid.cell_data_dict.items() if name != "body"}
        return Frame(float(self.times[k]), grid.points, dict(grid.point_data), cells)

    def _read(self, k: int) -> Any:
        import meshio

        try:
            return meshio.read(self._files[k])
        except (Exception, SystemExit) as error:  # meshio raises many kinds
            raise FileError(f"{self._files[k]}: cannot be read ({type(error).__name__}: {error}).") from None


class _Appended:
    """Raw data after the XML: each array follows its size in bytes."""

    def __init__(self) -> None:
        self.chunks: list[bytes | memoryview] = []
        self.offset = 0

    def add(self, values: np.ndarray) -> int:
        offset = self.offset
        self.chunks += [values.nbytes.to_bytes(8, "little"), np.ascontiguousarray(values).data.cast("B")]
        self.offset += 8 + values.nbytes
        return offset


def _section(tag: str, data: _Appended, arrays: dict[str, np.ndarray]) -> str:
    lines = []
    for name, values in arrays.items():
        shape = f'NumberOfComponents="{values.shape[1]}"' if values.ndim == 2 else ""
        if tag == "FieldData":
            shape = f'NumberOfTuples="{len(values)}"'
        kind, offset = _TYPES[values.dtype.name], data.add(values)
        lines.append(f'<DataArray type="{kind}" Name={quoteattr(name)} {shape} format="appended" offset="{offset}"/>\n')
    return f"<{tag}>\n{''.join(lines)}</{tag}>\n"


def _cells(layout: Layout) -> tuple[dict[str, np.ndarray], int, np.ndarray]:
    """Tets, then the triangles that bound none, then springs: connectivity, how many, and the body of each."""
    sheets, edges = layout.triangles[layout.triangle_tets < 0], layout.edges
    counts = np.repeat([4, 3, 2], [len(layout.tets), len(sheets), len(edges)])
    first = np.concatenate([layout.tets[:, 0], sheets[:, 0], edges[:, 0]])
    cells: dict[str, np.ndarray] = {
        "connectivity": np.concatenate([layout.tets.ravel(), sheets.ravel(), edges.ravel()]).astype(np.int32),
        "offsets": np.cumsum(counts).astype(np.int32),
        "types": np.array([0, 0, VTK_LINE, VTK_TRIANGLE, VTK_TETRA], np.uint8)[counts],
    }
    bodies = np.searchsorted(layout.body_start, first, side="right") - 1
    return cells, len(counts), bodies.astype(np.uint8 if len(layout.body_names) < 256 else np.int32)


def _parts(grid: Any) -> list[Part]:
    """The bodies of a grid, told apart by the field "body" if it has one; their points follow each other."""
    kinds = (("triangle", 3), ("tetra", 4), ("line", 2))
    cells = [grid.cells_dict.get(kind, np.empty((0, n), np.int64)) for kind, n in kinds]
    field = grid.cell_data_dict.get("body", {})
    bodies = [field.get(kind, np.zeros(len(own), int)) for (kind, _), own in zip(kinds, cells, strict=True)]
    first = np.full(1 + max(int(own.max(initial=0)) for own in bodies), len(grid.points))
    for own, body in zip(cells, bodies, strict=True):
        np.minimum.at(first, body, own.min(axis=1, initial=len(grid.points)))
    first[0] = 0
    counts = np.diff([*first, len(grid.points)])
    chosen = [[own[body == k] - first[k] for own, body in zip(cells, bodies, strict=True)] for k in range(len(first))]
    return [Part(int(count), *own) for count, own in zip(counts, chosen, strict=True)]
