"""Recorders: they watch a simulation and write what they see, without slowing it more than they must."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from pliant.contact.response.step_contacts import StepContacts
from pliant.energies.stress import TetFields, cauchy_stress, green_strain, in_rows
from pliant.errors import FileError, PliantError
from pliant.io.results import formats
from pliant.io.results.places import check_place
from pliant.io.results.result import OBSTACLE_COLOUR, Frame, Layout
from pliant.io.results.surfaces import Part, layout_of_parts
from pliant.model import Body, MeshObstacleBody, Model, Particles, RigidBody, Scene, Solid, Solids, SpringNet
from pliant.model.drawing import Drawing
from pliant.model.embedded import skin_of
from pliant.model.obstacles import ROW_LENGTH
from pliant.model.outlines import Outline, outlines
from pliant.state import State

CELL_FIELDS = ("energy_density", "von_mises")
TENSORS = ("stress", "strain")  # Cauchy [Pa] and Green-Lagrange, nine numbers per cell, on request
POINT_FIELDS = ("velocity", "spin", "radius", "contact_force", "penetration")
OWN_FIELDS = ("points", "time", "poses", "body", *POINT_FIELDS, *CELL_FIELDS, *TENSORS)
QUEUE_FRAMES = 4  # the simulation waits when so many are not yet written

#: A field of vertices: (n,) or (n, 3) values from the state and the report of a step.
Field = Callable[[State, Any], np.ndarray]


#: Rows of obstacles with formulas (Shape.row) one step earlier and now.
Rows = tuple[np.ndarray, np.ndarray]

#: Time [s], positions and fields of vertices, fields of bodies, which vertices are drawn if not simply all, obstacles.
_Seen = tuple[float, np.ndarray, dict[str, np.ndarray], dict[str, np.ndarray], np.ndarray | None, Rows]


class Recorder:
    """Writes every so many-th frame of a simulation, in a thread of its own. Made by Simulation.record.

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
        self.follow(None, lambda: (np.empty((0, ROW_LENGTH)), np.empty((0, ROW_LENGTH))))
        self._fields = dict(fields or {})
        _check_fields(self._fields)
        self._export = formats.exporter(self.path)
        if volume:
            formats.check_tets(self.path)
        check_place(self.path)
        # what is finished from a stream shows shapes only: its stream needs no fields
        with_fields = self._export is None
        self._measure = _Measure(model, scene, h, 1 / (h * steps), volume, with_fields, tensors)
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

    def follow(self, contacts: Callable[[], StepContacts] | None, obstacles: Callable[[], Rows]) -> None:
        """Take contacts, and where obstacles are, from these functions: of the simulation whose states come next."""
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
            of_bodies = {} if self._contacts is None else _body_fields(self._contacts())
        self._queue.put((state.step * self._h, state.x.copy(), fields, of_bodies, state.drawn, self._obstacles()))

    def _fields_at(self, state: State, report: Any) -> dict[str, np.ndarray]:
        """Of vertices, as copies."""
        fields = {"velocity": state.v.copy()}
        if len(state.spins):
            fields["spin"] = state.spins.copy()
        if self._contacts is not None:
            fields |= _contact_fields(self._contacts(), len(state.x))
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


class _Measure:
    """Makes frames of positions: chooses the points that are kept and computes the fields of the cells."""

    def __init__(
        self,
        model: Model,
        scene: Scene,
        h: float,
        frame_rate: float,
        volume: bool,
        with_fields: bool,
        tensors: bool = False,
    ):
        self._obstacles = outlines(scene.shapes, model.positions)
        self._h, self.with_fields = h, with_fields
        self._drawing = Drawing.of(scene.bodies, model, skins=not volume)
        whole = _layout(scene, model, self._obstacles, frame_rate, skins=not volume)
        # the model keeps tets by law, the layout by body: row[t] is the model's place of the layout's tet t
        bodies = [np.searchsorted(model.body_start, solids.tets[:, 0], side="right") for solids in model.solids]
        row = np.argsort(np.concatenate([np.empty(0, int), *bodies]), kind="stable")
        self._kept: np.ndarray | slice = slice(None)
        self.layout, wanted = whole, row
        if not volume:
            self.layout, self._kept = whole.surface()
            wanted = np.append(row, -1)[whole.triangle_tets]  # a sheet's triangle has no tet, -1
        needed = np.unique(wanted[wanted >= 0])  # only the tets behind surface triangles, unless all are kept
        self._place = np.where(wanted >= 0, np.searchsorted(needed, wanted), -1)
        chosen = [solids for solids in _some(model.solids, needed) if len(solids.tets)]
        self._measured = [TetFields(solids) for solids in chosen]
        self._tensors_of = chosen if tensors else []
        self._is_ordered = len(self._measured) == 1 and np.array_equal(wanted, needed)

    def frame(
        self,
        time: float,
        x: np.ndarray,
        fields: dict[str, np.ndarray],
        of_bodies: dict[str, np.ndarray],
        drawn: np.ndarray | None,
        rows: Rows,
    ) -> Frame:
        cells = self._cell_fields(x) if self.with_fields else {}
        if drawn is not None:
            x, fields = x[drawn], {name: values[drawn] for name, values in fields.items()}
        poses, matrix = self._drawing.poses(x), self._drawing.matrix
        if matrix is not None:
            x, fields = matrix @ x, {name: matrix @ own for name, own in fields.items()}
        if self._obstacles:
            x, fields = self._with_obstacles(rows, x, fields)
        kept = {name: values[self._kept] for name, values in fields.items()}
        return Frame(time, x[self._kept], kept, cells, of_bodies, poses)

    def _cell_fields(self, x: np.ndarray) -> dict[str, np.ndarray]:
        rows, tensors = in_rows(x), self._tensor_fields(x)
        if self._is_ordered:
            return dict(zip(CELL_FIELDS, self._measured[0].measure(rows), strict=True)) | tensors
        nothing = np.full(1, np.nan)  # at place -1, of sheets
        measured = [*(tets.measure(rows) for tets in self._measured), (nothing, nothing)]
        placed = (np.concatenate(values)[self._place] for values in zip(*measured, strict=True))
        return dict(zip(CELL_FIELDS, placed, strict=True)) | tensors

    def _tensor_fields(self, x: np.ndarray) -> dict[str, np.ndarray]:
        """Stress and strain (cells, 9), row by row; not a number where a cell is no tet."""
        if not self._tensors_of:
            return {}
        nothing = np.full((1, 3, 3), np.nan)
        stresses = [*(cauchy_stress(solids, x) for solids in self._tensors_of), nothing]
        strains = [*(green_strain(solids, x) for solids in self._tensors_of), nothing]
        return {
            name: np.concatenate(parts)[self._place].reshape(-1, 9)
            for name, parts in zip(TENSORS, (stresses, strains), strict=True)
        }

    def _with_obstacles(
        self, rows: Rows, x: np.ndarray, fields: dict[str, np.ndarray]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Points of obstacles after those of the bodies; of the fields they have a velocity, and zeros."""
        before, now = (
            np.concatenate([outline.placed(row) for outline, row in zip(self._obstacles, at, strict=True)])
            for at in rows
        )
        longer = {name: np.concatenate([own, np.zeros((len(now), *own.shape[1:]))]) for name, own in fields.items()}
        if "velocity" in longer:
            longer["velocity"][len(x) :] = (now - before) / self._h
        return np.concatenate([x, now]), longer


def _layout(scene: Scene, model: Model, obstacles: Sequence[Outline], frame_rate: float, skins: bool) -> Layout:
    """Bodies, then obstacles with formulas; their colours, and which are obstacles."""
    parts = [_part(k, body, model, skins) for k, body in enumerate(scene.bodies)]
    parts += [Part(len(obstacle.points), obstacle.triangles, np.empty((0, 4))) for obstacle in obstacles]
    names = [*model.body_names, *(obstacle.name for obstacle in obstacles)]
    whole = layout_of_parts(parts, names, frame_rate)
    n = len(scene.bodies)
    scenery = [k for k, body in enumerate(scene.bodies) if body.kind == MeshObstacleBody.kind] + [*range(n, len(parts))]
    whole.colours[scenery] = OBSTACLE_COLOUR
    for k, body in enumerate(scene.bodies):
        if body.colour is not None:
            whole.colours[k] = body.colour
    rigid = tuple(k for k, body in enumerate(scene.bodies) if isinstance(body, RigidBody))
    return replace(_with_spheres(whole, scene.bodies), scenery=tuple(scenery), rigid=rigid)


def _with_spheres(layout: Layout, bodies: Sequence[Body]) -> Layout:
    """The layout with the radii of particles, and the times at which they come."""
    radii, births = np.zeros(layout.n_points), np.zeros(layout.n_points)
    for k, body in enumerate(bodies):
        if isinstance(body, Particles):
            own = slice(*layout.body_start[k : k + 2])
            radii[own], births[own] = body.radius, body.births
    return replace(layout, radii=radii, births=births) if radii.any() else layout


def _part(number: int, body: Body, model: Model, skins: bool) -> Part:
    nothing = np.empty((0, 3), int), np.empty((0, 4), int)
    drawn = None if model.topology is None else model.topology.drawn(number)
    if drawn is not None:  # triangles and springs that may come apart have points of their own
        points = np.arange(len(drawn))
        if isinstance(body, SpringNet):
            return Part(len(points), *nothing, points.reshape(-1, 2))
        return Part(len(points), points.reshape(-1, 3), nothing[1])
    if isinstance(body, Solid):
        tets, skin = model.elements_of(number), skin_of(body) if skins else None
        if skin is None:
            return Part(body.n_vertices, nothing[0], tets)
        is_whole = len(tets) == len(body.mesh.tets)  # else tets were deleted, and have other numbers
        behind = skin.owners if is_whole else np.full(len(skin.triangles), -1)
        points = body.n_vertices + skin.matrix.shape[0]
        return Part(points, skin.triangles + body.n_vertices, tets, skin_tets=behind)
    if isinstance(body, RigidBody):
        points, triangles = body.shape.surface
        return Part(len(points), triangles, nothing[1])
    edges = body.edges if isinstance(body, SpringNet) else np.empty((0, 2))
    return Part(body.n_vertices, body.surface, nothing[1], edges)


def _contact_fields(contacts: StepContacts, n: int) -> dict[str, np.ndarray]:
    """contact_force (n, 3) [N], friction included, and penetration (n,) [m] of n vertices; zero before the first step,
    and of vertices that tearing has added since the contacts were found.
    """
    added = n - len(contacts.penetrations)
    return {
        "contact_force": np.concatenate([contacts.vertex_forces, np.zeros((added, 3))]),
        "penetration": np.concatenate([contacts.penetrations, np.zeros(added)]),
    }


def _body_fields(contacts: StepContacts) -> dict[str, np.ndarray]:
    """Net contact_force [N] and contact_torque [N m] (m, 3) of bodies, then of obstacles."""
    return {
        "contact_force": np.concatenate([contacts.body_forces, contacts.obstacle_forces]),
        "contact_torque": np.concatenate([contacts.body_torques, contacts.obstacle_torques]),
    }


def _some(groups: Sequence[Solids], rows: np.ndarray) -> list[Solids]:
    """Some tets, numbered through all groups in ascending order."""
    ends = np.cumsum([len(group.tets) for group in groups])
    parts = np.split(rows, np.searchsorted(rows, ends))
    firsts = np.concatenate([[0], ends])
    return [group.taken(part - first) for group, part, first in zip(groups, parts, firsts, strict=False)]


def _check_fields(fields: dict[str, Field]) -> None:
    for name, field in fields.items():
        if not name.isidentifier() or name in OWN_FIELDS:
            raise FileError(
                f"record: a field cannot be called {name!r}; use letters, and none of {', '.join(OWN_FIELDS)}."
            )
        if not callable(field):
            raise FileError(f"record: the field {name!r} is {field!r}; give a function of state and report.")


def _check_shapes(fields: dict[str, np.ndarray], n: int) -> None:
    for name, values in fields.items():
        if values.shape not in ((n,), (n, 3)):
            raise FileError(f"record: the field {name!r} has the shape {values.shape}; give ({n},) or ({n}, 3) values.")
