"""`.npz`: Pliant's own result, an archive of arrays that grows by a frame at a time. NumPy reads it as it is:

    file = np.load("run.npz");  file["time_00012"], file["points_00012"], file["velocity_00012"], file["triangles"] ...

A file whose run was killed has no directory, which NumPy asks for; `open_result` reads it to the last whole frame, and
`pliant convert broken.npz whole.npz` makes it whole.
"""

from __future__ import annotations

import io
import json
import math
from functools import cache
from pathlib import Path

import numpy as np

from pliant.errors import FileError
from pliant.io.reading import reading
from pliant.io.results.result import Frame, FrameWriter, Layout, Result
from pliant.io.results.zip_stream import Entry, ZipStream, entries

FORMAT = 2
PREAMBLE = 10  # bytes of a NumPy array's description up to its length
_ARRAYS = ("triangles", "tets", "triangle_tets", "body_start", "colours", "edges")


class ArchiveWriter(FrameWriter):
    """Positions in double precision, fields in single."""

    def __init__(self, path: Path, layout: Layout):
        self._zip = ZipStream(path)
        self._count = 0
        header = {
            "format": FORMAT,
            "n_points": layout.n_points,
            "body_names": layout.body_names,
            "frame_rate": layout.frame_rate,
            "scenery": layout.scenery,
            "rigid": layout.rigid,
        }
        arrays = {name: np.asarray(getattr(layout, name)) for name in _ARRAYS}
        if len(layout.spheres):
            arrays |= {"radii": layout.radii, "births": layout.births}
        self._append({"result": np.array(json.dumps(header)), **arrays})

    def write(self, frame: Frame) -> None:
        arrays = {"points": np.asarray(frame.points, np.float64)}
        arrays |= {name: np.asarray(values, np.float32) for name, values in frame.point_fields.items()}
        arrays |= {f"cells.{name}": np.asarray(values, np.float32) for name, values in frame.cell_fields.items()}
        arrays |= {f"bodies.{name}": np.asarray(values, np.float32) for name, values in frame.body_fields.items()}
        if len(frame.poses):
            arrays["poses"] = np.asarray(frame.poses, np.float64)
        arrays["time"] = np.array(frame.time)  # comes last: a frame that has it is whole
        self._append({f"{name}_{self._count:05d}": values for name, values in arrays.items()})
        self._count += 1

    def close(self) -> None:
        self._zip.close()

    def _append(self, arrays: dict[str, np.ndarray]) -> None:
        self._zip.append({f"{name}.npy": _pieces(values) for name, values in arrays.items()})


class ArchiveResult(Result):
    """Reads a file that was closed or cut off."""

    def __init__(self, path: Path):
        self.path = path
        self._entries = {entry.name.removesuffix(".npy"): entry for entry in entries(path)}
        self._file = path.open("rb")
        try:
            self.layout = self._read_layout()
        except Exception:
            self._file.close()
            raise
        self._frames: list[dict[str, Entry]] = []
        while f"time_{len(self._frames):05d}" in self._entries:
            self._frames.append({})
        for name, entry in self._entries.items():
            key, _, number = name.rpartition("_")
            if key and number.isdigit() and int(number) < len(self._frames):
                self._frames[int(number)][key] = entry
        self.times = np.array([float(self._load(parts["time"])) for parts in self._frames])

    def _frame(self, k: int) -> Frame:
        arrays = {name: self._load(entry) for name, entry in self._frames[k].items()}
        points, time = arrays.pop("points"), float(arrays.pop("time"))
        poses = arrays.pop("poses", np.zeros((0, 7)))
        cells, of_bodies = _taken("cells.", arrays), _taken("bodies.", arrays)
        return Frame(time, points, arrays, cells, of_bodies, poses)

    def positions(self, k: int) -> np.ndarray:
        with reading(self.path):
            return self._load(self._frames[k]["points"])

    def poses(self, k: int) -> np.ndarray:
        entry = self._frames[k].get("poses")
        with reading(self.path):
            return np.zeros((0, 7)) if entry is None else self._load(entry)

    def close(self) -> None:
        self._file.close()

    def _read_layout(self) -> Layout:
        if "result" not in self._entries:
            raise FileError(
                f"{self.path}: this is not a result of sim.record (no 'result' in it). A checkpoint is continued "
                "with pliant.Simulation.resume."
            )
        header = json.loads(str(self._load(self._entries["result"])))
        if header["format"] != FORMAT:
            raise FileError(f"{self.path}: result format {header['format']}, this Pliant reads {FORMAT}.")
        missing = [name for name in _ARRAYS if name not in self._entries]
        if missing:
            raise FileError(f"{self.path}: this result was cut off before its first frame (no {missing[0]!r} in it).")
        own = [*_ARRAYS, *(name for name in ("radii", "births") if name in self._entries)]
        arrays = {name: self._load(self._entries[name]) for name in own}
        names, scenery, rigid = (tuple(header.get(key, ())) for key in ("body_names", "scenery", "rigid"))
        n, rate = header["n_points"], header["frame_rate"]
        return Layout(n_points=n, frame_rate=rate, body_names=names, scenery=scenery, rigid=rigid, **arrays)  # type: ignore[arg-type]

    def _load(self, entry: Entry) -> np.ndarray:
        self._file.seek(entry.data_offset)
        preamble = self._file.read(PREAMBLE)
        shape, dtype = _described(preamble + self._file.read(int.from_bytes(preamble[-2:], "little")))
        return np.fromfile(self._file, dtype, math.prod(shape)).reshape(shape)


def _taken(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays whose names begin with a prefix, without it; they are taken out of the others."""
    return {name.removeprefix(prefix): arrays.pop(name) for name in list(arrays) if name.startswith(prefix)}


def _pieces(values: np.ndarray) -> tuple[bytes, memoryview]:
    """An array as NumPy's format 1.0 has it: what it is, and its bytes."""
    values = np.asarray(values, order="C")
    return _description(values.dtype.str, values.shape), values.reshape(-1).view(np.uint8).data


@cache  # the same few in all frames
def _description(dtype: str, shape: tuple[int, ...]) -> bytes:
    buffer = io.BytesIO()
    about = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, about)
    return buffer.getvalue()


@cache
def _described(description: bytes) -> tuple[tuple[int, ...], np.dtype]:
    buffer = io.BytesIO(description)
    np.lib.format.read_magic(buffer)
    shape, _, dtype = np.lib.format.read_array_header_1_0(buffer)
    return shape, dtype
