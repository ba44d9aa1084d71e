"""The time loop. One step, the same for every solver:

1. predict   the inertial target y and where the iterations start
2. detect    contacts: what penetrates, and what would hit on the way to the start
3. pose      the step as a minimisation problem
4. solve     it
5. finish    velocities, make the new state the current one, and tear what is stretched too far
6. observe   recorders and viewers get the state and the report
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.breakdown import what_broke
from pliant.contact.detector import Detector
from pliant.contact.potential import ContactPotential
from pliant.energies import IncrementalPotential
from pliant.energies.totals import energies_of
from pliant.errors import SceneError, SimulationError
from pliant.io import checkpoint
from pliant.kernels.predict import STARTS, predict, velocities
from pliant.kernels.threads import Team
from pliant.lanes.host import core_count
from pliant.model import Body, Force, Motion, Scene, Solid, build_model, checks
from pliant.model.tearing import Change, deleted, torn
from pliant.model.topology import topology_arrays, with_topology_arrays
from pliant.progress import frame_loop
from pliant.recording import Field, Recorder
from pliant.solvers import SOLVERS, VBD, Execution, Solver, SolveReport
from pliant.solvers.feasible import keep_volumes_positive
from pliant.solvers.optimised_start import optimised_reach
from pliant.solvers.options import check_fits, check_solver
from pliant.state import State

Observer = Callable[[State, SolveReport], None]


class Simulation:
    """A scene that moves.

    frame_rate: frames a second; substeps: steps a frame, so that a step is h = 1 / (frame_rate * substeps) seconds
    long. precision: "single" or "double", of the solver; states are kept in double.
    threads: None for as many as pay off. Any number gives the same bits.
    """

    def __init__(
        self,
        scene: Scene,
        solver: Solver | None = None,
        frame_rate: float = 60,
        substeps: int = 5,
        precision: str = "single",
        threads: int | None = None,
    ):
        self.frame_rate = checks.number(frame_rate, "Simulation: frame_rate", "1/s", positive=True)
        self.substeps = checks.count(substeps, "Simulation: substeps")
        if threads is not None:
            checks.count(threads, "Simulation: threads")
        self.scene, self.solver = scene, solver or VBD()
        check_solver(self.solver, "Simulation: solver")
        self.execution = Execution(precision, threads or 0)
        self.h = 1 / (self.frame_rate * self.substeps)
        self.model = build_model(scene)
        self.observers: list[Observer] = []
        self.notes: dict[str, Any] = {}  # plain words and numbers that checkpoints keep for whoever resumes
        start = (self.model.positions.copy(), self.model.velocities.copy(), self.model.velocities.copy())
        self.state = State(*start, memory=self.model.memory)
        self._solved: IncrementalPotential | None = None  # the last step, as it was posed
        self._work: Any = None
        self._make_room()
        self._prepare()
        for k, body in enumerate(scene.bodies):
            body._simulated = lambda k=k: self.state.x[self.model.vertices_of(k)]
            body._elements = lambda k=k: self.model.elements_of(k)

    def _make_room(self) -> None:
        """Make what depends on the number of vertices."""
        # all arrays a step needs beside the state's
        self._y, self._start = np.array(self.state.x), np.array(self.state.x)
        self._x_new, self._v_new = np.empty_like(self.state.x), np.empty_like(self.state.x)
        self._memory_new = np.empty_like(self.state.memory)
        contact = self.model.contact
        self._detector = (
            None if contact is None else Detector(contact, self.h, Team(self.execution.threads or core_count()))
        )
        self._detect_every = None if contact is None else contact.settings.detect_every

    def _prepare(self) -> None:
        """Make ready for a model that is new, or of which vertices were let go or elements deleted."""
        self._has_constraints = bool(((self.model.subspace > 0) & (self.model.subspace < 3)).any())
        contacts = None if self._detector is None else self._detector.detect(self.state.x, self.state.x, self.time)
        check_fits(self.solver, self.model)
        carried = self._work.carried() if hasattr(self._work, "carried") else None
        self._work = self.solver.init(self._pose(self._y, self._start, contacts), self.execution)
        if carried:
            self._work.restore(carried)

    # --- one step ---------------------------------------------------------------------------------------------------

    def step(self) -> SolveReport:
        """Advance by one substep of h seconds."""
        self._predict(self._y, self._start)
        contacts = self._detect(self._start)
        problem = self._pose(self._y, self._start, contacts)
        report, self._solved = self._solve(problem)
        self._finish()
        self._tear()
        if self.observers:
            seen = self._seen()
            for observe in self.observers:
                observe(seen, report)
        return report

    def _seen(self) -> State:
        """The state as observers see it."""
        return self.state.read_only(self.model.drawn_points)

    def _predict(self, y: np.ndarray, start: np.ndarray) -> None:
        """Fill in the inertial target and the start; held vertices are where they are to be in both."""
        self._let_go()
        state, fixed = self.state, ~self.model.is_free
        policy = STARTS.index(self.solver.start)
        acceleration = self.model.acceleration(state.x, state.v, self.time)
        drag = self.model.air_damping
        predict(state.x, state.v, state.v_previous, acceleration, drag, self.h, policy, y, start)
        if self.solver.start == "optimised":
            start += optimised_reach(self._pose(y, start, None), state.v) * state.v
        if self._has_constraints:
            start[:] = state.x + self.model.project(start - state.x)
        start[fixed] = self.model.positions[fixed]
        for led in self.model.led:
            start[led.vertices] = led.positions((state.step + 1) * self.h)
        y[fixed] = start[fixed]
        if not getattr(self.solver, "repairs_inversion", False):
            keep_volumes_positive(self.model, state.x, start)

    def _let_go(self) -> None:
        """Free the vertices whose time has come, to the nearest step."""
        now = self.time + 0.5 * self.h
        if self.model.next_release <= now:
            self.model = self.model.released(now)
            self._prepare()

    def _detect(self, start: np.ndarray) -> ContactPotential | None:
        """What touches at the beginning of the step, or on the way to `start`."""
        if self._detector is None:
            return None
        self._detector.begin(self.state.x)
        return self._detector.detect(self.state.x, start, self.time)

    def _pose(self, y: np.ndarray, start: np.ndarray, contacts: ContactPotential | None) -> IncrementalPotential:
        self._memory_new[:] = self.state.memory
        model = self.model.at((self.state.step + 1) * self.h)
        return IncrementalPotential.pose(model, self._memory_new, self.h, self.state.x, y, start, contacts)

    def _detect_again(self, problem: IncrementalPotential) -> IncrementalPotential:
        """The same step with what touches on the way to the current iterate (Algorithm 1, lines 5 and 6)."""
        if self._detector is None:
            return problem
        contacts = self._detector.detect(self.state.x, self._x_new, self.time)
        problem = replace(problem, contacts=contacts)
        self.solver.take_contacts(problem, self._work)
        return problem

    def _solve(self, problem: IncrementalPotential) -> tuple[SolveReport, IncrementalPotential]:
        """Iterate; the report, and the problem with the contacts that were detected last."""
        began = time.perf_counter()
        n = self.solver.iterations
        self._x_new[:] = self._start
        self.solver.begin(problem, self._work)
        done = 0
        while done < n:
            part = min(self._detect_every or n, n - done)
            self.solver.sweep(problem, self._x_new, self._work, part)
            done += part
            if done < n:
                problem = self._detect_again(problem)
        seconds = time.perf_counter() - began
        report = SolveReport(f"did all {n} iterations", n, seconds)
        report.singular_blocks = getattr(self._work, "singular_blocks", 0)
        step = self.state.step + 1
        report.measure = lambda: self._residual_of(step, problem)
        report.contacts = problem.contacts
        return report, problem

    def _finish(self) -> None:
        state = self.state
        if not velocities(self._x_new, state.x, self.h, self._v_new):
            self._solved = None
            raise SimulationError(what_broke(self.model, self._x_new, self._v_new, self.time))
        new = State(self._x_new, self._v_new, state.v, state.step + 1, self._memory_new)
        # the old arrays are the next step's
        self.state, self._x_new, self._v_new, self._memory_new = new, state.x, state.v_previous, state.memory

    def _tear(self) -> None:
        """Split and break what is stretched too far (VBD 3.9)."""
        change = torn(self.model, self.state.x, self.state.v)
        if change is None:
            return
        self._take(change)
        adapt = getattr(self.solver, "adapt", None)
        if adapt is None or not adapt(self._pose(self._y, self._start, None), self._work, change):
            self._prepare()

    def _take(self, change: Change) -> None:
        """Go on with a model that tearing or deleting has changed."""
        old = self.state
        grown = np.concatenate([np.arange(len(old.x)), change.parents])
        memory = change.model.memory if len(old.memory) else old.memory
        self.model = change.model
        self.state = State(old.x[grown], old.v[grown], old.v_previous[grown], old.step, memory)
        self._make_room()

    def delete(self, body: Body, elements: ArrayLike) -> None:
        """Delete triangles, springs or tets of a body, by their numbers in its mesh or a mask, between two steps.

        Their mass goes with them; springs have none. A vertex that has no element left is held where it is.
        """
        if not any(body is own for own in self.scene.bodies):
            raise SceneError(f"delete: {getattr(body, 'name', body)!r} is no body of this simulation's scene.")
        chosen = checks.selection(elements, body.n_elements, f"{body.name}: delete", *body.element_names)
        if self.observers and (self.model.topology is None or isinstance(body, Solid)):
            raise SceneError(f"{body.name}: delete before you record: a result keeps the surface it begins with.")
        number = [body is own for own in self.scene.bodies].index(True)
        model = self.model.with_memory(self.state.memory.copy())
        self._take(deleted(model, self.scene.bodies, number, chosen, self.state.x))
        self._solved = None
        self._prepare()

    # --- running ----------------------------------------------------------------------------------------------------

    def advance(self) -> SolveReport:
        """Advance by one frame; the report of its last step."""
        for _ in range(self.substeps):
            report = self.step()
        return report

    def frames(
        self, n: int, progress: bool = False, on_interrupt: str | Path = "pliant-interrupted.npz"
    ) -> Iterator[int]:
        """Advance n frames, yielding the number of each when it is done.

        Ctrl-C ends the loop after the current frame, with a checkpoint in `on_interrupt` that Simulation.resume
        continues.
        """
        checks.count(n, "frames: n")
        return frame_loop(
            self.advance, n, self._save_interrupted(Path(on_interrupt)), "simulating" if progress else None
        )

    def _save_interrupted(self, path: Path) -> Callable[[], str]:
        def save() -> str:
            self.save(path)
            return f"Stopped at t = {self.time:.3f} s. {checkpoint.how_to_resume(path, self.scene)}"

        return save

    # --- looking ----------------------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.state.step * self.h

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) [m], bodies one after another, each in its mesh's vertex order."""
        return self.state.x.copy()

    @property
    def velocities(self) -> np.ndarray:
        """(n, 3) [m/s]."""
        return self.state.v.copy()

    @property
    def n_contacts(self) -> int:
        """Contacts of the last step; 0 before the first."""
        contacts = None if self._solved is None else self._solved.contacts
        return 0 if contacts is None else contacts.count

    def problem(self) -> IncrementalPotential:
        """The next step as an optimisation problem, with arrays of its own."""
        y, start = np.empty_like(self.state.x), np.empty_like(self.state.x)
        self._predict(y, start)
        memory, x = self.state.memory.copy(), self.state.x.copy()
        model = self.model.at((self.state.step + 1) * self.h)
        return IncrementalPotential.pose(model, memory, self.h, x, y, start, self._detect(start))

    def energies(self) -> dict[str, float]:
        """Energies of the current state [J].

        "kinetic" 1/2 m v^2, "elastic", "gravity" -m g.x (zero at the origin), if there are any "attachment", "bounds"
        and "pressure" -p V, their sum "total", and of the last step's potential "inertia" 1/(2 h^2) |x - y|_M^2,
        "damping" and "viscosity" (zero before the first step, after resuming and after a step that broke down).
        """
        return energies_of(self.model.with_memory(self.state.memory).at(self.time), self.state, self._solved)

    @property
    def solver_bytes(self) -> int:
        """Memory of the solver's own arrays."""
        return getattr(self._work, "nbytes", 0)

    def plot(self, field: str | None = None, **options: Any) -> Any:
        """A picture of the current state: a Pillow image, which a notebook shows.

        field: colour by "von_mises", "energy_density" or "speed", with a legend, rather than by body; options: as of
        pliant.viewer.movies.View, such as height [pixels], azimuth and elevation [degrees].
        """
        return import_module("pliant.viewer.notebook").plot(self, field=field, **options)

    def animate(self, frames: int, every: int = 1, field: str | None = None, **options: Any) -> Any:
        """Advance by so many frames and return a movie of them that a notebook plays; `save(path)` keeps it.

        every: show each so many-th frame; field and options: as of `plot`.
        """
        return import_module("pliant.viewer.notebook").animate(self, frames, every, field=field, **options)

    # --- keeping ----------------------------------------------------------------------------------------------------

    def record(
        self, path: str | Path, every: int = 1, volume: bool = False, fields: Mapping[str, Field] | None = None
    ) -> Recorder:
        """Write every so many-th frame from now on, the current state first, in the format that the ending names:

            with sim.record("run.npz"):
                for frame in sim.frames(120): ...

        .npz (Pliant, NumPy), .pvd (ParaView), .usdc .usda (Blender, Houdini), .glb (browsers), .ply .obj (numbered
        files), .mp4 .gif (movies), .png (a strip of moments). Frames carry velocity, energy density, von Mises
        stress and, if the scene has contact, contact_force (n, 3) [N] and penetration (n,) [m] where the format has
        room; obstacles are in them as surfaces.
        volume: keep tets and inner vertices too (.npz, .pvd), not only surfaces. fields: further values (n,) or (n, 3)
        of vertices by name, each a function of (state, report); the report is None for the first frame.
        """
        steps = self.substeps * checks.count(every, "record: every")
        recorder = Recorder(path, self.scene, self.model, self.h, steps, volume, fields)
        recorder.observe(self._seen(), None)
        self.observers.append(recorder.observe)
        recorder.on_close = lambda: self.observers.remove(recorder.observe)
        return recorder

    def save(self, path: str | Path) -> None:
        """Write a checkpoint that `resume` continues with the same bits: scene, settings and state, whole or not at
        all.
        """
        settings = {"frame_rate": self.frame_rate, "substeps": self.substeps, "precision": self.execution.precision}
        if hasattr(self._work, "carried"):
            settings["carried"] = self._work.carried()
        topology = topology_arrays(self.model)
        checkpoint.write(Path(path), self.scene, self.solver, settings, self.state, self.notes, topology, SOLVERS)

    @classmethod
    def resume(
        cls,
        path: str | Path,
        motions: dict[str, list[Motion]] | None = None,
        threads: int | None = None,
        forces: dict[str, list[Force]] | None = None,
        functions: dict[str, Callable[[float], Any]] | None = None,
    ) -> Simulation:
        """Continue from a checkpoint. Python functions are not in the file, pass them again: motions (other than those
        of `pliant.motions`) and forces by name of the body and in the order they were added; other functions of time by
        what they give, such as {"balloon.pressure": p, "wind.velocity": w}."""
        kept = checkpoint.read(Path(path), motions or {}, forces or {}, functions or {}, SOLVERS)
        carried = kept.settings.pop("carried", None)
        simulation = cls(kept.scene, kept.solver, threads=threads, **kept.settings)
        simulation.notes = kept.notes
        simulation.continue_from(kept.state, kept.topology)
        if carried:
            simulation._work.restore(carried)
        return simulation

    def continue_from(self, state: State, topology: dict[str, np.ndarray]) -> None:
        """Take over the state of another simulation of the same scene, and what topology_arrays says of its model."""
        self.state = state
        if topology:
            self.model = with_topology_arrays(self.model, self.scene.bodies, topology)
            self._make_room()
            self._prepare()

    # --- inside -----------------------------------------------------------------------------------------------------

    def _residual_of(self, step: int, problem: IncrementalPotential) -> float:
        if self.state.step != step:
            raise SimulationError(
                f"the residual of step {step} can no longer be measured: ask for it before the next step."
            )
        x = self.state.x[: problem.model.n_vertices]  # without what has torn since
        if problem.contacts is not None:
            problem.contacts.refresh(x)
        return problem.residual(x)
