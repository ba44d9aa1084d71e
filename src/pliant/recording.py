"""Recorders: they watch a simulation and write what they see, without slowing it more than they must."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

import numpy as np

from pliant.arguments import is_flag
from pliant.contact.response.step_contacts import StepContacts
from pliant.errors import FileError, PliantError
from pliant.frame_maker import CELL_FIELDS, TENSORS, FrameMaker, Rows, body_fields, contact_fields
from pliant.io.results import formats
from pliant.io.results.places import check_place
from pliant.model import Model, Scene
from pliant.model.obstacles import ROW_LENGTH
from pliant.state import State

DERIVED = ("displacement", "reaction_force")  # of vertices, on request
POINT_FIELDS = ("velocity", "spin", "radius", "contact_force", "penetration")
OWN_FIELDS = ("points", "time", "poses", "body", *POINT_FIELDS, *CELL_FIELDS, *TENSORS)
QUEUE_FRAMES = 4  # the simulation waits when so many are not yet written

#: A field of vertices: (n,) or (n, 3) values from the state and the report of a step.
Field = Callable[[State, Any], np.ndarray]


#: Time [s], positions and fields of vertices, fields of bodies, which vertices are drawn if not simply all, obstacles.
_Seen = tuple[float, np.ndarray, dict[str, np.ndarray], dict[str, np.ndarray], np.ndarray | None, Rows]


class Recorder:
    """Writes every n-th frame of a simulation, in a thread of its own. Made by Simulation.record.

    Use it as a context manager or call `close`: formats that are finished at the end (movies, .usdc, .glb) are made
    then, from `<path>.frames.npz`, which a killed run leaves behind and `pliant convert` finishes.
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
        tensors: bool = False,
    ):
        self.path = Path(path)
        self._h, self._steps = h, steps
        self._has_contact = model.contact is not None
        for flag, name in ((volume, "volume"), (tensors, "tensors")):
            if not is_flag(flag):
                raise FileError(f"record: {name} is {flag!r}: give True or False.")
        self._wanted = DERIVED if tensors else ()
        self.follow(None, lambda: (np.empty((0, ROW_LENGTH)), np.empty((0, ROW_LENGTH))))
        self._fields = _checked_fields({} if fields is None else fields)
        self._export = formats.exporter(self.path)
        if volume:
            formats.check_tets(self.path)
        check_place(self.path)
        # what is finished from a stream shows shapes only: its stream needs no fields
        with_fields = self._export is None
        self._measure = FrameMaker(model, scene, h, 1 / (h * steps), volume, with_fields, tensors)
        self.layout = self._measure.layout
        self._stream_path = formats.journal_of(self.path) if self._export else self.path
        self._writer = formats.stream(self._stream_path, self.layout)
        self.frames = 0  # written so far
        self._first_step: int | None = None
        self.on_close: Callable[[], None] = lambda: None
        self._error: Exception | None = None
        self._queue: queue.Queue[_Seen | None] = queue.Queue(QUEUE_FRAMES)
        self._thread = threading.Thread(target=self._write_frames, name=f"recorder of {self.path.name}", daemon=True)
        self._thread.start()
        self._closed = False

    def follow(
        self,
        contacts: Callable[[], StepContacts] | None,
        obstacles: Callable[[], Rows],
        derived: Mapping[str, Callable[[], np.ndarray]] = MappingProxyType({}),
    ) -> None:
        """Take contacts, where obstacles are, and fields of vertices by the names of DERIVED from these functions: of
        the simulation whose states come next.
        """
        self._derived = derived
        self._contacts = contacts if self._has_contact else None  # of the step that is observed
        self._obstacles = obstacles

    def observe(self, state: State, report: Any = None) -> None:
        """Take the state if it is the first, or so many steps after the last that was taken."""
        if self._first_step is None:
            self._first_step = state.step
        if (state.step - self._first_step) % self._steps:
            return
        self._raise_if_failed()
        fields, of_bodies = {}, {}
        if self._measure.with_fields:
            fields = self._fields_at(state, report)
            of_bodies = {} if self._contacts is None else body_fields(self._contacts())
        self._queue.put((state.step * self._h, state.x.copy(), fields, of_bodies, state.drawn, self._obstacles()))

    def _fields_at(self, state: State, report: Any) -> dict[str, np.ndarray]:
        """Of vertices, as copies."""
        fields = {"velocity": state.v.copy()}
        if len(state.spins):
            fields["spin"] = state.spins.copy()
        if self._contacts is not None:
            fields |= contact_fields(self._contacts(), len(state.x))
        fields |= {name: self._derived[name]() for name in self._wanted if name in self._derived}
        fields |= {name: np.array(field(state, report)) for name, field in self._fields.items()}
        _check_shapes(fields, len(state.x))
        return fields

    def wait(self) -> None:
        """Until all frames seen so far are written."""
        self._queue.join()
        self._raise_if_failed()

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
                self._attempt(partial(self._write, *item))
            self._queue.task_done()
        self._queue.task_done()
        self._attempt(self._writer.close)

    def _attempt(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:  # it belongs to the simulation's thread, which raises it
            self._error = self._error or error

    def _write(self, *seen: Any) -> None:
        self._writer.write(self._measure.frame(*seen))
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


def _checked_fields(fields: Mapping[str, Field]) -> dict[str, Field]:
    if not isinstance(fields, Mapping):
        raise FileError(f"record: fields is a {type(fields).__name__}: give a dict of names and functions.")
    for name, field in fields.items():
        if not isinstance(name, str) or not name.isidentifier() or name in OWN_FIELDS:
            raise FileError(
                f"record: a field cannot be called {name!r}; use letters, and none of {', '.join(OWN_FIELDS)}."
            )
        if not callable(field):
            raise FileError(f"record: the field {name!r} is {field!r}; give a function of state and report.")
    return dict(fields)


def _check_shapes(fields: dict[str, np.ndarray], n: int) -> None:
    for name, values in fields.items():
        if values.shape not in ((n,), (n, 3)):
            raise FileError(f"record: the field {name!r} has the shape {values.shape}; give ({n},) or ({n}, 3) values.")


def check_not_recorded(path: Path, observers: Iterable[Any]) -> None:
    """Two recorders that write one file would spoil it."""
    for observe in observers:
        recorder = getattr(observe, "__self__", None)
        if isinstance(recorder, Recorder) and recorder.path.resolve() == path.resolve():
            raise FileError(
                f"record: {path} is being recorded already; close its recorder first, or take another name."
            )
