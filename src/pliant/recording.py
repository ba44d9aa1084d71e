"""Recorders: they watch a simulation and write what they see, without slowing it more than they must."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from pliant.energies.stress import densities_and_von_mises
from pliant.errors import FileError, PliantError
from pliant.geometry import TetMesh
from pliant.io.results import formats
from pliant.io.results.places import check_place
from pliant.io.results.result import Frame, Layout
from pliant.io.results.surfaces import Part, layout_of_parts
from pliant.model import Model, Scene
from pliant.state import State

QUEUE_FRAMES = 4  # the simulation waits when so many are not yet written

#: A field of vertices: (n,) or (n, 3) values from the state and the report of a step.
Field = Callable[[State, Any], np.ndarray]


class Recorder:
    """Writes every so many-th frame of a simulation, in a thread of its own. Made by Simulation.record.

    Use it as a context manager or call `close`: formats that are finished at the end (movies, .usdc, .glb) are made then,
    from `<path>.frames.npz`, which a killed run leaves behind and `pliant convert` finishes.
    """

    def __init__(
        self,
        path: str | Path,
        scene: Scene,
        model: Model,
        h: float,
        steps: int,
        volume: bool = False,
        fields: Mapping[str, Field] | None = None,
    ):
        self.path = Path(path)
        self._h, self._steps = h, steps
        self._fields = dict(fields or {})
        _check_fields(self._fields)
        self._export = formats.exporter(self.path)
        if volume:
            formats.check_tets(self.path)
        check_place(self.path)
        self._measure = _Measure(model, scene, 1 / (h * steps), volume)
        self.layout = self._measure.layout
        self._stream_path = formats.journal_of(self.path) if self._export else self.path
        self._writer = formats.stream(self._stream_path, self.layout)
        self.frames = 0  # written so far
        self.on_close: Callable[[], None] = lambda: None
        self._error: Exception | None = None
        self._queue: queue.Queue[tuple[float, np.ndarray, dict[str, np.ndarray]] | None] = queue.Queue(QUEUE_FRAMES)
        self._thread = threading.Thread(target=self._write_frames, name=f"recorder of {self.path.name}", daemon=True)
        self._thread.start()
        self._closed = False

    def observe(self, state: State, report: Any = None) -> None:
        """Take the state if its step ends a frame that is to be recorded."""
        if state.step % self._steps:
            return
        self._raise_if_failed()
        fields = {"velocity": state.v.copy()}
        fields |= {name: np.array(field(state, report)) for name, field in self._fields.items()}
        _check_shapes(fields, len(state.x))
        self._queue.put((state.step * self._h, state.x.copy(), fields))

    def close(self) -> None:
        """Write what is waiting and finish the file. Raises if anything could not be written."""
        if self._closed:
            return
        self._closed = True
        self.on_close()
        self._queue.put(None)
        self._thread.join()
        self._raise_if_failed()
        if self._export:
            self._finish(self._export)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write_frames(self) -> None:
        """The thread. After an error it goes on emptying the queue, so that the simulation never waits for it."""
        while (item := self._queue.get()) is not None:
            if self._error is None:
                self._attempt(lambda item=item: self._write(*item))
        self._attempt(self._writer.close)

    def _attempt(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:  # it belongs to the simulation's thread, which raises it
            self._error = self._error or error

    def _write(self, time: float, x: np.ndarray, fields: dict[str, np.ndarray]) -> None:
        self._writer.write(self._measure.frame(time, x, fields))
        self.frames += 1

    def _raise_if_failed(self) -> None:
        if self._error is None:
            return
        error = self._error
        if not self._closed:  # the simulation can go on without this recorder
            self._closed = True
            self.on_close()
            self._queue.put(None)
        if not isinstance(error, OSError):
            raise error
        raise FileError(
            f"{self._stream_path}: frame {self.frames} could not be written ({error.strerror or error}). The "
            f"{self.frames} frames before it are kept, the recording has ended and the simulation can go on: "
            "free some disk, then sim.save(...) or record into another folder."
        ) from None

    def _finish(self, export: Callable[[Any, Path], None]) -> None:
        try:
            with formats.open_result(self._stream_path) as result:
                export(result, self.path)
        except OSError as error:
            reason = error if isinstance(error, PliantError) else error.strerror or error
            raise FileError(
                f"{self.path}: could not be finished ({reason}). All {self.frames} frames are in {self._stream_path}: "
                f"pliant convert {self._stream_path} {self.path}"
            ) from None
        self._stream_path.unlink()


class _Measure:
    """Makes frames of positions: chooses the points that are kept and computes the fields of the cells."""

    def __init__(self, model: Model, scene: Scene, frame_rate: float, volume: bool):
        no_triangles, no_tets = np.empty((0, 3)), np.empty((0, 4))
        parts = [
            Part(body.n_vertices, no_triangles, body.mesh.tets)
            if isinstance(body.mesh, TetMesh)
            else Part(body.n_vertices, body.mesh.triangles, no_tets)
            for body in scene.bodies
        ]
        whole = layout_of_parts(parts, model.body_names, frame_rate)
        self._whole, self._solids = whole, model.solids
        self._kept: np.ndarray | None = None
        self.layout: Layout = whole
        if not volume:
            self.layout, self._kept = whole.surface()
        # the model keeps tets by law, the layout by body
        bodies = [np.searchsorted(model.body_start, solids.tets[:, 0], side="right") for solids in model.solids]
        self._order = np.argsort(np.concatenate(bodies), kind="stable")

    def frame(self, time: float, x: np.ndarray, fields: dict[str, np.ndarray]) -> Frame:
        measured = [densities_and_von_mises(solids, x) for solids in self._solids]
        psi, equivalent = (np.concatenate(values)[self._order] for values in zip(*measured, strict=True))
        frame = Frame(time, x, fields, {"energy_density": psi, "von_mises": equivalent})
        return frame if self._kept is None else frame.on_surface(self._whole, self._kept)


def _check_fields(fields: dict[str, Field]) -> None:
    for name, field in fields.items():
        if not name.isidentifier() or name in ("points", "time", "velocity", "body"):
            raise FileError(
                f"record: a field cannot be called {name!r}; use letters, and not points, time or velocity."
            )
        if not callable(field):
            raise FileError(f"record: the field {name!r} is {field!r}; give a function of state and report.")


def _check_shapes(fields: dict[str, np.ndarray], n: int) -> None:
    for name, values in fields.items():
        if values.shape not in ((n,), (n, 3)):
            raise FileError(f"record: the field {name!r} has the shape {values.shape}; give ({n},) or ({n}, 3) values.")
