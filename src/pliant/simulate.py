"""The time loop. One step, the same for every solver:

1. predict   the inertial target y and where the iterations start
2. detect    contacts: what penetrates, and what would hit on the way to the start
3. pose      the step as a minimisation problem
4. solve     it
5. finish    velocities, and make the new state the current one
6. observe   recorders and viewers get the state and the report
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from pliant.contact.detector import Detector
from pliant.contact.potential import ContactPotential
from pliant.contact.report import ContactReport, words_of_softness
from pliant.energies import IncrementalPotential
from pliant.energies.elements import energy_of
from pliant.errors import SimulationError
from pliant.io import checkpoint
from pliant.kernels.predict import STARTS, predict, velocities
from pliant.kernels.threads import Team
from pliant.lanes.host import core_count
from pliant.model import Force, KeptMotion, Motion, Scene, build_model, checks
from pliant.progress import frame_loop
from pliant.recording import Field, Recorder
from pliant.solvers import SOLVERS, VBD, Execution, Solver, SolveReport
from pliant.solvers.feasible import keep_volumes_positive
from pliant.solvers.optimised_start import optimised_reach
from pliant.solvers.options import check_fits, check_solver
from pliant.state import State

Observer = Callable[[State, SolveReport], None]

logger = logging.getLogger("pliant")


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
        # all arrays a step needs beside the state's
        self._y, self._start = np.array(self.state.x), np.array(self.state.x)
        self._x_new, self._v_new = np.empty_like(self.state.x), np.empty_like(self.state.x)
        self._memory_new = np.empty_like(self.state.memory)
        self._solved: IncrementalPotential | None = None  # the last step, as it was posed
        contact = self.model.contact
        self._detector = (
            None if contact is None else Detector(contact, self.h, Team(self.execution.threads or core_count()))
        )
        self._stiffness_told = 0.0  # [N/m] that the last warning asked for
        self._detect_every = None if contact is None else contact.settings.detect_every
        self._prepare()
        for body, first, last in zip(scene.bodies, self.model.body_start[:-1], self.model.body_start[1:], strict=True):
            body._simulated = lambda first=first, last=last: self.state.x[first:last].copy()

    def _prepare(self) -> None:
        """Make ready for a model that is new, or of which vertices were let go."""
        self._has_constraints = bool(((self.model.subspace > 0) & (self.model.subspace < 3)).any())
        contacts = None if self._detector is None else self._detector.detect(self.state.x, self.state.x, self.time)
        check_fits(self.solver, self.model)
        self._work: Any = self.solver.init(self._pose(self._y, self._start, contacts), self.execution)

    # --- one step ---------------------------------------------------------------------------------------------------

    def step(self) -> SolveReport:
        """Advance by one substep of h seconds."""
        if self.state.step == 0 and self._detector is not None and (said := self._detector.intersections(self.state.x)):
            logger.warning(said)
        self._predict(self._y, self._start)
        contacts = self._detect(self._start)
        problem = self._pose(self._y, self._start, contacts)
        report, self._solved = self._solve(problem)
        self._finish(report)
        for observe in self.observers:
            observe(self.state.read_only(), report)
        return report

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
        return report, problem

    def _finish(self, report: SolveReport) -> None:
        state = self.state
        if not velocities(self._x_new, state.x, self.h, self._v_new):
            self._solved = None
            raise SimulationError(self._what_broke())
        if self._detector is not None:
            report.contact = self._detector.end(state.x, self._x_new)
            self._warn_of_soft_contact(report.contact, self._detector.model.settings.stiffness)
        new = State(self._x_new, self._v_new, state.v, state.step + 1, self._memory_new)
        # the old arrays are the next step's
        self.state, self._x_new, self._v_new, self._memory_new = new, state.x, state.v_previous, state.memory

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
            stopped = f"Stopped at t = {self.time:.3f} s. Continue with pliant.Simulation.resume({str(path)!r}"
            wind = self.scene.wind
            functions = {
                "motions": self._has_functions(),
                "forces": any(body.forces for body in self.scene.bodies),
                "functions": bool(self.model.pressure_courses) or (wind is not None and callable(wind.velocity)),
            }
            again = "".join(f", {name}={{...}}" for name, needed in functions.items() if needed)
            return f"{stopped}{again})." if again else f"{stopped}), or in a shell: pliant resume {path}"

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

    def remember_contact(self, other: Simulation) -> None:
        """Take over the sides of sheets from a simulation of the same bodies in the same state."""
        if self._detector is not None and other._detector is not None:
            self._detector.restore(other._detector.carried(), self.state.x)

    def problem(self) -> IncrementalPotential:
        """The next step as an optimisation problem, with arrays of its own."""
        y, start = np.empty_like(self.state.x), np.empty_like(self.state.x)
        self._predict(y, start)
        memory, x = self.state.memory.copy(), self.state.x.copy()
        model = self.model.at((self.state.step + 1) * self.h)
        return IncrementalPotential.pose(model, memory, self.h, x, y, start, self._detect(start))

    def energies(self) -> dict[str, float]:
        """Energies of the current state [J].

        "kinetic" 1/2 m v^2, "elastic", "gravity" -m g.x (zero at the origin), "contact" k_c/2 d^2 of what penetrates
        now, if there are any "attachment", "bounds" and "pressure" -p V, their sum "total", and of the last step's
        potential "inertia" 1/(2 h^2) |x - y|_M^2, "damping" and "viscosity" (zero before the first step, after resuming
        and after a step that broke down).
        With contact, three numbers that are no energies: "contacts" that press now, "deepest_penetration" of them [m],
        and "missed_penetration" [m], the deepest of those that the last step knew nothing of.
        """
        state = self.state
        model = self.model.with_memory(state.memory).at(self.time)
        stored = [block for block in model.blocks if not block.is_viscous]
        names = dict.fromkeys([*(block.energy_name for block in stored), "contact"])
        if self._solved is None:
            terms = dict.fromkeys(["inertia", "elastic", "damping", *(b.energy_name for b in model.blocks)], 0.0)
            for block in stored:
                terms[block.energy_name] += energy_of(block).energy(block, state.x)
        else:
            terms = self._solved.energies(state.x)
        contacts = self._detect(state.x)
        terms["contact"] = 0.0
        if contacts is not None and self._detector is not None:
            terms.update(self._detector.numbers(contacts, state.x))
        terms["kinetic"] = 0.5 * float(np.sum(model.mass[:, None] * state.v**2))
        terms["gravity"] = -float(np.sum(model.mass[:, None] * state.x * model.gravity))
        terms["total"] = terms["kinetic"] + terms["gravity"] + sum(terms[name] for name in names)
        return terms

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
        files), .mp4 .gif (movies), .png (a strip of moments). Frames carry velocity, energy density and von Mises
        stress where the format has room.
        volume: keep tets and inner vertices too (.npz, .pvd), not only surfaces. fields: further values (n,) or (n, 3)
        of vertices by name, each a function of (state, report); the report is None for the first frame.
        """
        steps = self.substeps * checks.count(every, "record: every")
        recorder = Recorder(path, self.scene, self.model, self.h, steps, volume, fields)
        recorder.observe(self.state.read_only(), None)
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
        contact = {} if self._detector is None else self._detector.carried()
        checkpoint.write(Path(path), self.scene, self.solver, settings, self.state, self.notes, SOLVERS, contact)

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
        simulation.state, simulation.notes = kept.state, kept.notes
        if carried:
            simulation._work.restore(carried)
        if simulation._detector is not None and kept.contact:
            simulation._detector.restore(kept.contact, kept.state.x)
        return simulation

    # --- inside -----------------------------------------------------------------------------------------------------

    def _has_functions(self) -> bool:
        """Whether bodies are led by Python functions, which a file cannot hold."""
        led = (motion for body in self.scene.bodies for _, motion in body.motions)
        return any(not isinstance(motion, KeptMotion) for motion in led)

    def _residual_of(self, step: int, problem: IncrementalPotential) -> float:
        if self.state.step != step:
            raise SimulationError(
                f"the residual of step {step} can no longer be measured: ask for it before the next step."
            )
        if problem.contacts is not None:
            problem.contacts.refresh(self.state.x)
        return problem.residual(self.state.x)

    def _warn_of_soft_contact(self, report: ContactReport, stiffness: float) -> None:
        """Say that contact is too soft: once, and again when twice the stiffness would be needed."""
        if report.needed_stiffness > 2 * self._stiffness_told:
            self._stiffness_told = report.needed_stiffness
            where = self.model.describe_vertex(report.softest)
            logger.warning("t = %g s: %s", self.time, words_of_softness(report, stiffness, where))

    def _what_broke(self) -> str:
        broken = np.flatnonzero(~(np.abs(self._v_new) < 1e300).all(axis=1))
        first = int(broken[0])
        return (
            f"the step from t = {self.time:g} s gave no finite position for {len(broken)} of {self.model.n_vertices} "
            f"vertices, first {self.model.describe_vertex(first)}: {self._x_new[first].tolist()}. The state before it "
            "is kept. Try more substeps, line_search=True, or a softer or StableNeoHookean material."
        )
