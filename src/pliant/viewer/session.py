"""A simulation that runs in a thread of its own while people watch it, pull at it and turn its knobs.

Knows nothing of browsers. All changes are made between frames, by the thread, in the order they came; of two values of
one knob only the last is taken.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError, PliantError, SceneError
from pliant.io.paths import as_path
from pliant.io.results.places import existing
from pliant.model.topology import topology_arrays
from pliant.model.wind import Wind
from pliant.recording import Recorder
from pliant.simulate import Simulation
from pliant.solvers import Solver
from pliant.viewer.hand import Hold, hold_rigid, hold_vertices
from pliant.viewer.knobs import Stiffness, constant_wind, usual_solver
from pliant.viewer.live_field import FieldPicture, LiveField

MEASURE_SECONDS = 0.1  # energies and residuals are not measured more often,
MEASURE_SHARE = 0.1  # nor for a larger part of the time: in large scenes they take as long as many steps
HISTORY = 200  # measurements that plots show


@dataclass(frozen=True)
class Snapshot:
    """What there is to see. Made by the session's thread, never changed."""

    number: int  # rises with every new one
    time: float  # simulated [s]
    positions: np.ndarray  # (n, 3) [m]
    milliseconds: float  # a step takes
    message: str = ""  # what went wrong
    drawn: np.ndarray | None = None  # vertices that pictures show, where that is not simply all
    forces: np.ndarray | None = None  # (k, 2, 3) points [m] and forces [N] of contacts, if they are asked for
    field: FieldPicture | None = None  # the newest of the field that is asked for

    @property
    def points(self) -> np.ndarray:
        """(k, 3) [m] points that pictures show, body by body."""
        return self.positions if self.drawn is None else self.positions[self.drawn]


@dataclass
class History:
    """The last measurements: simulated time [s], total energy [J], residual [m/s^2], milliseconds per step."""

    rows: list[tuple[float, float, float, float]] = field(default_factory=list)

    def add(self, row: tuple[float, float, float, float]) -> None:
        self.rows = [*self.rows[-HISTORY + 1 :], row]

    def columns(self) -> tuple[np.ndarray, ...]:
        return tuple(np.array(self.rows, float).reshape(-1, 4).T.copy())


class Session:
    """Runs a simulation for viewers. `latest` is what to show; `wait` waits for the next."""

    def __init__(self, simulation: Simulation):
        self.simulation = simulation
        self.playing, self.speed, self.measures_forces = False, 1.0, False
        self.history = History()
        self.stiffness = Stiffness(simulation.scene)
        self._first_wind, self._wind = simulation.scene.wind, constant_wind(simulation.scene)
        self._held: Hold | None = None
        self._recorder: Recorder | None = None
        self._changes: dict[str, Callable[[], None]] = {}
        self._news = threading.Condition()
        self._is_closing = False
        self._measure_at = 0.0
        self._field: LiveField | None = None
        self.latest = Snapshot(0, simulation.time, simulation.positions, 0.0, drawn=simulation.model.drawn_points)
        self._thread = threading.Thread(target=self._run, name="simulation", daemon=True)
        self._thread.start()

    # --- what viewers ask for (any thread) ----------------------------------------------------------------------------

    def play(self) -> None:
        """Run until paused."""
        self._post("playing", lambda: self._set_playing(True))

    def pause(self) -> None:
        """Stop after the frame."""
        self._post("playing", lambda: self._set_playing(False))

    def step(self) -> None:
        """Advance by one frame."""
        self._post("step", self._advance)

    def reset(self) -> None:
        """Back to the start; knobs stay as they are."""
        self._post("reset", self._reset)

    def set_speed(self, speed: float) -> None:
        """Seconds of simulation a second at most; 0: as fast as it goes."""
        self._post("speed", lambda: setattr(self, "speed", speed))

    def set_solver(self, name: str) -> None:
        """Another solver, with its usual options."""
        self._post("solver", lambda: self._set_solver(name))

    def set_iterations(self, n: int) -> None:
        self._post("iterations", lambda: self._set_iterations(n))

    def set_substeps(self, n: int) -> None:
        self._post("substeps", lambda: self._set_substeps(n))

    def set_stiffness(self, factor: float) -> None:
        """All bodies so many times as stiff as the scene says."""
        self._post("stiffness", lambda: self._set_stiffness(factor))

    def set_gravity(self, acceleration: float) -> None:
        """Downwards [m/s^2]."""
        self._post("gravity", lambda: self._set_gravity(acceleration))

    def set_friction(self, coefficient: float) -> None:
        """Of all contacts whose bodies say nothing else, and of all obstacles."""
        self._post("friction", lambda: self._set_friction(coefficient))

    def set_wind(self, speed: float) -> None:
        """Speed [m/s] of a wind whose direction the scene gives; along x if it has none."""
        self._post("wind", lambda: self._set_wind(speed))

    def measure_forces(self, wanted: bool) -> None:
        """Whether snapshots have the forces of contacts, which takes time."""
        self._post("forces", lambda: self._measure_forces(wanted))

    def show_field(self, name: str | None) -> None:
        """Which field snapshots have, one of `live_field.offered`; None: none."""
        self._post("field", lambda: self._show_field(name))

    def grab(self, vertex: int, radius: float = 0.0) -> None:
        """Take hold of a vertex of the scene, and of those of its body within a radius [m]."""
        self._post("grab", lambda: self._grab(lambda: hold_vertices(self.simulation, vertex, radius)))

    def grab_rigid(self, k: int, point: np.ndarray) -> None:
        """Take hold of body number k, a rigid one, at a point (3,) [m] of it."""
        self._post("grab", lambda: self._grab(lambda: hold_rigid(self.simulation, k, point)))

    def drag(self, offset: np.ndarray) -> None:
        """Pull what is grabbed so far (3,) [m] from where it was grabbed."""
        self._post("drag", lambda: self._drag(np.array(offset, float)))

    def release(self) -> None:
        """Let go."""
        self._post("grab", self._release)

    def record(self, path: str | Path, folder: Path | None = None, overwrite: bool = False) -> None:
        """Write every frame from now on. folder: refuse what is not directly in it; overwrite: whatever is there."""
        self._post("record", lambda: self._record(as_path(path, "record"), folder, overwrite))

    def stop_recording(self) -> None:
        self._post("record", self._stop_recording)

    def close(self) -> None:
        """End the thread and finish what is recorded."""
        with self._news:
            self._is_closing = True
            self._news.notify_all()
        self._thread.join()
        self._stop_recording()

    def wait(self, number: int, timeout: float) -> Snapshot:
        """The latest snapshot, as soon as it is newer than `number`; after the timeout [s] in any case."""
        with self._news:
            self._news.wait_for(lambda: self.latest.number > number or self._is_closing, timeout)
            return self.latest

    def settled(self) -> Snapshot:
        """Wait until all that was asked for is done."""
        done = threading.Event()
        self._post(f"settled {id(done)}", done.set)
        done.wait()
        return self.latest

    @property
    def is_grabbing(self) -> bool:
        return self._held is not None

    @property
    def is_recording(self) -> bool:
        return self._recorder is not None

    def _post(self, knob: str, change: Callable[[], Any]) -> None:
        """Hand a change to the thread; a later one of the same knob takes its place, at the end of the row."""
        with self._news:
            self._changes.pop(knob, None)
            self._changes[knob] = change
            self._news.notify_all()

    # --- the thread ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        due = 0.0
        while True:
            with self._news:
                late = 0.0 if not self.playing else max(due - time.monotonic(), 0.0)
                self._news.wait_for(lambda: self._changes or self._is_closing, late if self.playing else None)
                if self._is_closing:
                    return
                changes, self._changes = self._changes, {}
            for change in changes.values():
                self._attempt(change)
            if self.playing and time.monotonic() >= due:
                pause = 1 / (self.simulation.frame_rate * self.speed) if self.speed > 0 else 0.0
                due = max(due + pause, time.monotonic() - pause) if due else time.monotonic() + pause
                self._attempt(self._advance)

    def _attempt(self, action: Callable[[], Any]) -> None:
        """Whatever goes wrong is shown, and pauses."""
        try:
            action()
        except Exception as error:  # whatever it is, the thread lives on
            self.playing = False
            words = str(error) if isinstance(error, PliantError) else f"{type(error).__name__}: {error}"
            self._show(self.latest.milliseconds, words)

    def _advance(self) -> None:
        began = time.perf_counter()
        report = self.simulation.advance()
        milliseconds = 1e3 * (time.perf_counter() - began) / self.simulation.substeps
        if (now := time.monotonic()) >= self._measure_at:
            energy = self.simulation.energies()["total"]
            self.history.add((self.simulation.time, energy, report.residual, milliseconds))
            self._measure_at = now + max(MEASURE_SECONDS, (time.monotonic() - now) / MEASURE_SHARE)
        self._show(milliseconds)

    def _show(self, milliseconds: float, message: str = "") -> None:
        simulation = self.simulation
        with self._news:
            number = self.latest.number + 1
            field = None if self._field is None else self._field.newest(simulation, is_last=not self.playing)
            shown = (simulation.model.drawn_points, self._forces(), field)
            self.latest = Snapshot(number, simulation.time, simulation.positions, milliseconds, message, *shown)
            self._news.notify_all()

    def _forces(self) -> np.ndarray | None:
        if not self.measures_forces or self.simulation.model.contact is None:
            return None
        contacts = self.simulation.contacts
        return np.stack([contacts.points, contacts.forces], axis=1)

    def _measure_forces(self, wanted: bool) -> None:
        self.measures_forces = wanted
        self._show(self.latest.milliseconds)

    def _show_field(self, name: str | None) -> None:
        self._field = None if name is None else LiveField(name)
        self._show(self.latest.milliseconds)

    def _rebuild(self, solver: Solver[Any] | None = None, substeps: int | None = None, again: bool = False) -> None:
        """The same state under a changed scene, solver or step, or its first one again. Between frames the time is a
        whole number of steps.
        """
        old = self.simulation
        new = Simulation(
            old.scene,
            solver or old.solver,
            old.frame_rate,
            substeps or old.substeps,
            old.execution.precision,
            old.execution.threads or None,
            old.integrator,
            old.execution.device or "cpu",
        )
        if not again:
            state = replace(old.state, step=old.state.step // old.substeps * new.substeps)
            if new.substeps != old.substeps:
                state.forget_history()
            new.continue_from(state, topology_arrays(old.model))
            new.copy_contact_state(old)
        new.observers = old.observers  # the same list: recorders take themselves out of it
        if self._recorder is not None:
            new.be_followed(self._recorder)
        self.simulation = new

    def _reset(self) -> None:
        if self.is_grabbing:
            self._release()
        self._rebuild(again=True)
        self.history = History()
        self._show(0.0)

    def _set_playing(self, playing: bool) -> None:
        self.playing = playing
        self._show(self.latest.milliseconds)  # viewers show what their buttons do next

    def _set_solver(self, name: str) -> None:
        self._rebuild(solver=usual_solver(name))
        self._show(self.latest.milliseconds)  # viewers show its iterations

    def _set_iterations(self, n: int) -> None:
        if n != self.simulation.solver.iterations:  # a viewer that shows them sets them too
            self._rebuild(solver=self.simulation.solver.with_iterations(n))

    def _set_gravity(self, acceleration: float) -> None:
        self.simulation.scene.gravity = (0.0, 0.0, -acceleration)
        self._rebuild()

    def _set_stiffness(self, factor: float) -> None:
        self.stiffness.set(factor)
        self._rebuild()

    def _set_friction(self, coefficient: float) -> None:
        scene = self.simulation.scene
        if scene.contact is not None:
            scene.shapes = [replace(shape, friction=coefficient) for shape in scene.shapes]
            scene.contact = replace(scene.contact, friction=coefficient)
            self._rebuild()

    def _set_wind(self, speed: float) -> None:
        if self._wind is None:
            return
        velocity, first = speed * self._wind[0], self._first_wind
        if first is not None:
            self.simulation.scene.wind = Wind(velocity, first.drag, first.lift, first.air_density)
        else:  # a scene without wind is one without air
            self.simulation.scene.wind = Wind(velocity) if speed > 0 else None
        self._rebuild()

    def _set_substeps(self, n: int) -> None:
        if self.is_recording:
            raise SceneError("substeps cannot change while a result is recorded; stop recording first.")
        self._rebuild(substeps=n)

    # --- pulling ------------------------------------------------------------------------------------------------------

    def _grab(self, hold: Callable[[], Hold]) -> None:
        if self.is_grabbing:
            self._release()
        self._held = hold()
        self._rebuild()

    def _drag(self, offset: np.ndarray) -> None:
        if self._held is not None:
            self._held.pull.target = offset

    def _release(self) -> None:
        if self._held is not None:
            self._held.release()
            self._held = None
            self._rebuild()

    # --- keeping ------------------------------------------------------------------------------------------------------

    def _record(self, path: Path, folder: Path | None, overwrite: bool) -> None:
        if folder is not None and path.resolve().parent != folder.resolve():
            raise FileError(f"{path}: this leads out of the folder {folder.resolve()}; give the name of a file in it.")
        if not overwrite and (there := existing(path)) is not None:
            raise FileError(f"{there} already exists; choose another name, or tick Overwrite.")
        self._stop_recording()
        self._recorder = self.simulation.record(path)
        self._show(self.latest.milliseconds)

    def _stop_recording(self) -> None:
        if self._recorder is not None:
            recorder, self._recorder = self._recorder, None
            recorder.close()
            self._show(self.latest.milliseconds)
