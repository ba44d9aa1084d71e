"""A simulation as its user has it: steps and frames, looking at the state, keeping it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.adjusting import Adjusting
from pliant.device.opencl import OpenCL
from pliant.diagnosis import Diagnosis, diagnosed
from pliant.divergence import Watch
from pliant.energies import IncrementalPotential
from pliant.energies.totals import energies_of
from pliant.errors import FileError, MeshError, SceneError, SolverError
from pliant.io import checkpoint
from pliant.io.paths import as_path
from pliant.model import Body, Force, Motion, Solid, checks
from pliant.model.tearing import deleted
from pliant.model.topology import topology_arrays, with_topology_arrays
from pliant.model.volume import with_controlled
from pliant.progress import frame_loop
from pliant.recording import Field, Recorder, check_not_recorded
from pliant.solvers import SolveReport
from pliant.solvers.contract.registry import describe_solver, rebuild_solver
from pliant.state import State

#: Of a loop, and between recorded ones; a hundred years at 60 per second are 2e11.
MOST_FRAMES = 10**12


class Simulation(Adjusting):
    """A scene in motion: it advances step by step, and bodies of the scene follow it.

    scene: what moves, a pl.Scene. Later changes of the scene need another simulation; `set_gravity`, `set_friction` and
    `set_material` change a running one.
    solver: such as pl.VBD(iterations=20). None: pl.Auto(); pl.AVBD(...) where all bodies are rigid;
    pl.VelocityTimeStepping() for particles without solids (docs/choosing-a-solver.md).
    frame_rate: frames per second; substeps: steps per frame, so that a step is h = 1 / (frame_rate * substeps) seconds
    long. precision: "single" or "double", of the solver; states are kept in double. None: single, or double where
    bodies are so stiff that rounding would keep the solver from its tolerance.
    threads: number of threads; None: as many as are fastest, step by step. Any number gives the same bits.
    integrator: "euler", first order; "bdf2", second order; "midpoint", second order without numerical damping, for
    scenes without contact (docs/time-integration.md).
    device: "cpu", "opencl" for the solver's iterations on an OpenCL device (docs/device.md), or "auto" for the faster
    of both, measured; pl.OpenCL(...) names which device, and how.
    """

    def __repr__(self) -> str:
        size = f"{len(self.state.x)} vertices in {len(self.scene.bodies)} bodies"
        return f"<Simulation at t = {self.time:.6g} s: {size}, steps of {self.h:.6g} s, {self.solver}>"

    # --- running ----------------------------------------------------------------------------------------------------

    def advance(self) -> SolveReport:
        """Advance by one frame; the report of its last step."""
        self._placements.begin(self.model, self.state.x, self.substeps)
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
        if checks.count(n, "frames: n") > MOST_FRAMES:
            raise SceneError(f"frames: n is {n}: give at most {MOST_FRAMES}; a loop may go on after them.")
        checks.flag(progress, "frames: progress")
        return frame_loop(
            self.advance,
            n,
            self._save_interrupted(as_path(on_interrupt, "frames: on_interrupt")),
            "simulating" if progress else None,
        )

    def _save_interrupted(self, path: Path) -> Callable[[], str]:
        def save() -> str:
            self.save(path)
            return f"Stopped at t = {self.time:.3f} s. {checkpoint.how_to_resume(path, self.scene)}"

        return save

    # --- looking ----------------------------------------------------------------------------------------------------

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

    def copy_contact_state(self, other: Simulation) -> None:
        """Take over the sides of sheets from a simulation of the same bodies in the same state."""
        if self._detector is not None and other._detector is not None:
            self._detector.load_state_dict(other._detector.state_dict(), self.state.x)
        self._placements.load(other._placements.numbers())

    def problem(self) -> IncrementalPotential:
        """The next step as an optimisation problem, with arrays of its own. The simulation stays as it is."""
        model = self._released()
        y, x_guess, poses = np.empty_like(self.state.x), np.empty_like(self.state.x), self.state.poses.copy()
        if model.carried is not None:  # points of its own that slide
            model = replace(model, carried=replace(model.carried, offsets=model.carried.offsets.copy()))
        start = self._predict(model, y, x_guess, poses)
        kept = self.state.x.copy()
        problem = self._problem_of(model, start, y, x_guess, poses, self._detect(model, x_guess, y))
        self.state.x[:] = kept
        return problem

    def energies(self) -> dict[str, float]:
        """Energies of the current state [J].

        "kinetic" 1/2 m v^2, "elastic", "gravity" -m g.x (zero at the origin), "contact" k_c/2 d^2 of what penetrates
        now, if there are any "attachment", "bounds" and "pressure" -p V, their sum "total", and of the last step's
        potential "inertia" 1/(2 h^2) |x - y|_M^2, "damping" and "viscosity" (zero before the first step, after resuming
        and after a step that broke down).
        With contact, three numbers that are not energies: "contacts" that press now, "deepest_penetration" of them [m],
        and "missed_penetration" [m], the deepest of those that the last step knew nothing of.
        """
        model = self.model.with_internal_state(self.state.internal_state).at(self.time)
        model = with_controlled(model, self.state.inflation[:, 0])
        if model.particles is not None:  # those that wait have no weight
            mass = model.mass.copy()
            mass[model.particles.waiting(self.time)] = 0.0
            model = replace(model, mass=mass)
        numbers = {"contact": 0.0}
        if self._detector is not None:
            numbers = self._detector.numbers(*self._detector.contacts_at(self.state.x, self.time))
        return energies_of(model, self.state, self._solved, self._solution, numbers)

    def diagnose(self) -> Diagnosis:
        """Solve a copy of the next step and look at it: time scales, stiffness of elements and contacts against
        inertia, shapes of tets, error and rate of convergence body by body, and what would help. Print it for a page.
        """
        return diagnosed(self.problem(), self.scene.bodies, self.solver, self.execution, self._work.state_dict())

    @property
    def solver_bytes(self) -> int:
        """Memory of the solver's own arrays [bytes], its copies of contacts among them. Factors of a direct solution,
        which other libraries keep, are not counted.
        """
        return self._work.nbytes

    def plot(self, field: str | None = None, **options: Any) -> Any:
        """A picture of the current state: a Pillow image, which a notebook shows.

        field: colour by "von_mises", "energy_density" or "speed", with a legend, rather than by body; options: as of
        pliant.viewer.movies.View, such as height [pixels], azimuth and elevation [degrees].
        """
        return import_module("pliant.viewer.notebook").plot(self, field=field, **options)

    def animate(self, frames: int, every: int = 1, field: str | None = None, **options: Any) -> Any:
        """Advance by some frames and return a movie of them that a notebook plays; `save(path)` writes it to a file.

        frames: how many; every: show every n-th of them; field, options: as of `plot`.
        """
        return import_module("pliant.viewer.notebook").animate(self, frames, every, field=field, **options)

    # --- keeping ----------------------------------------------------------------------------------------------------

    def record(
        self,
        path: str | Path,
        every: int = 1,
        volume: bool = False,
        fields: Mapping[str, Field] | None = None,
        tensors: bool = False,
    ) -> Recorder:
        """Write frames from now on, the current state first, in the format that the ending names:

            with sim.record("run.npz"):
                for frame in sim.frames(120): ...

        .npz (Pliant, NumPy), .pvd (ParaView), .usdc .usda (Blender, Houdini), .glb .html (browsers), .ply .obj
        (numbered files), .mp4 .gif (movies), .png (a strip of moments). Frames carry velocity, energy density, von
        Mises stress and, if the scene has contact, contact_force (n, 3) [N] and penetration (n,) [m] where the format
        has room; obstacles are in them as surfaces. In .npz, body_fields hold the net contact_force [N] and
        contact_torque [N m] of bodies and obstacles.

        every: write every n-th frame only.
        volume: keep tets and inner vertices too (.npz, .pvd), not only surfaces. fields: further values (n,) or (n, 3)
        of vertices by name, each a function of (state, report); the report is None for the first frame. tensors: also
        Cauchy stress [Pa] and Green-Lagrange strain of tets, nine numbers each, row by row, and of vertices the
        displacement (n, 3) [m] from where the scene begins and the reaction_force (n, 3) [N].
        """
        path = as_path(path, "Simulation.record")
        every = checks.count(every, "record: every")
        if every > MOST_FRAMES:
            raise SceneError(f"record: every is {every}: give at most {MOST_FRAMES}.")
        steps = self.substeps * every
        check_not_recorded(path, self.observers)
        recorder = Recorder(path, self.scene, self.model, self.h, steps, volume, fields, tensors)
        self.be_followed(recorder)
        recorder.observe(self._seen(), None)
        self.observers.append(recorder.observe)
        recorder.on_close = lambda: self.observers.remove(recorder.observe)
        return recorder

    def be_followed(self, recorder: Recorder) -> None:
        """Let a recorder take contacts, and where obstacles are, from this simulation."""
        derived = {
            "displacement": lambda: self.state.x - self.model.positions,
            "reaction_force": lambda: self.reaction_forces,
        }
        recorder.follow(lambda: self.contacts, self._placements.rows, derived)

    def save(self, path: str | Path) -> None:
        """Write a checkpoint that `resume` continues with the same bits: scene, settings and state.

        path: an .npz file. It is written whole or not at all; an existing one is replaced.
        """
        path = as_path(path, "Simulation.save")
        settings = {"frame_rate": self.frame_rate, "substeps": self.substeps, "precision": self.execution.precision}
        settings["integrator"] = self.integrator
        settings["solver_state"] = self._work.state_dict()
        settings["stiffness_ratios"], settings["iterations_needed"] = (
            self._meter.stiffness_ratios,
            self._meter.looks.needed,
        )
        about = (self.state, self.notes, topology_arrays(self.model), self._contact_state())
        try:
            solver = describe_solver(self.solver)
        except SolverError as error:
            raise FileError(f"{path}: {error}") from None
        checkpoint.write(path, self.scene, solver, settings, *about)

    @classmethod
    def resume(
        cls,
        path: str | Path,
        motions: dict[str, list[Motion]] | None = None,
        threads: int | None = None,
        forces: dict[str, list[Force]] | None = None,
        functions: dict[str, Callable[[float], Any]] | None = None,
        device: str | OpenCL = "cpu",
    ) -> Simulation:
        """Continue from a checkpoint. Python functions are not in the file: pass them again.

        path: the file that `save` or `pliant run` wrote.
        motions: other than those of `pliant.motions`, a list by name of the body, in the order they were added.
        forces: the same for forces.
        functions: other functions of time by what they give, such as {"balloon.pressure": p, "wind.velocity": w}.
        device: where it runs from now on; a checkpoint of one device continues on any other, to rounding.
        """
        path = as_path(path, "Simulation.resume")
        for name, given in (("motions", motions), ("forces", forces), ("functions", functions)):
            if given is not None and not isinstance(given, dict):
                raise FileError(f"Simulation.resume: {name} is {given!r}; give a dict by name of the body.")
        kept = checkpoint.read(path, motions or {}, forces or {}, functions or {})
        try:
            with checkpoint.whole(path):
                solver_state = kept.settings.pop("solver_state")
                ratios = kept.settings.pop("stiffness_ratios", None)  # not in files of earlier versions
                needed = kept.settings.pop("iterations_needed", [2, 2])
                solver, settings = rebuild_solver(kept.solver), dict(kept.settings)
            known = _known_settings(path, settings)
            simulation = cls(kept.scene, solver, threads=threads, device=device, **known)
        except MeshError as error:
            raise FileError(f"{path}: the meshes of its bodies cannot be simulated: {error}") from None
        simulation.notes = kept.notes
        simulation.continue_from(checkpoint.checked_state(path, kept, simulation.model), kept.topology)
        if solver_state:
            with checkpoint.whole(path):
                simulation._work.load_state_dict(solver_state)
        with checkpoint.whole(path):
            simulation._meter.stiffness_ratios, simulation._meter.looks.needed = ratios, needed
        simulation._load_contact_state(path, kept.contact)
        return simulation

    def continue_from(self, state: State, topology: dict[str, np.ndarray]) -> None:
        """Take over the state of another simulation of the same scene, and what topology_arrays says of its model."""
        self.state = state
        if topology:
            self.model = with_topology_arrays(self.model, self.scene.bodies, topology)
            self._allocate()
            self._prepare()
        self._watch = Watch(self.model, state.x.copy(), state.v.copy())

    # --- changing ---------------------------------------------------------------------------------------------------

    def delete(self, body: Body, elements: ArrayLike) -> None:
        """Delete triangles, springs or tets of a body, by their numbers in its mesh or a mask, between two steps.

        Their mass goes with them; springs have none. A vertex that has no element left is held where it is.
        """
        if not any(body is own for own in self.scene.bodies):
            raise SceneError(f"delete: {getattr(body, 'name', body)!r} is not a body of this simulation's scene.")
        chosen = checks.selection(elements, body.n_elements, f"{body.name}: delete", *body.element_names)
        if self.observers and (self.model.topology is None or isinstance(body, Solid)):
            raise SceneError(f"{body.name}: delete before you record: a result keeps the surface it begins with.")
        if self._safe is not None:
            raise SceneError(
                f"{body.name}: Contact(guarantee=True) does not cover bodies of which elements are deleted."
            )
        number = [body is own for own in self.scene.bodies].index(True)
        model = self.model.with_internal_state(self.state.internal_state.copy())
        self._take(deleted(model, self.scene.bodies, number, chosen, self.state.x))
        self._solved = None
        self._prepare()


def _known_settings(path: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of a checkpoint, if they are those that `save` writes."""
    if set(settings) != {"frame_rate", "substeps", "precision", "integrator"}:
        raise FileError(f"{path}: its header is damaged or made by hand: its settings are {', '.join(settings)}.")
    return settings
