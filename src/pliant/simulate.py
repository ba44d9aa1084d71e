"""The time loop. One step, the same for every solver:

1. predict   the inertial target y and where the iterations start
2. detect    contacts (a scene has none so far)
3. pose      the step as a minimisation problem
4. solve     it
5. finish    velocities, and make the new state the current one
6. observe   recorders and viewers get the state and the report
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.energies.elements import energy_of
from pliant.errors import SimulationError
from pliant.io import checkpoint
from pliant.kernels.predict import STARTS, predict, velocities
from pliant.model import Force, Motion, Scene, build_model, checks
from pliant.progress import frame_loop
from pliant.solvers import SOLVERS, VBD, Execution, Solver, SolveReport
from pliant.solvers.feasible import keep_volumes_positive
from pliant.solvers.optimised_start import optimised_reach
from pliant.solvers.options import check_solver
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
        self.state = State(self.model.positions.copy(), self.model.velocities.copy(), self.model.velocities.copy())
        # all arrays a step needs beside the state's
        self._y, self._start = np.array(self.state.x), np.array(self.state.x)
        self._x_new, self._v_new = np.empty_like(self.state.x), np.empty_like(self.state.x)
        self._solved: IncrementalPotential | None = None  # the last step, as it was posed
        self._has_constraints = bool(((self.model.subspace > 0) & (self.model.subspace < 3)).any())
        self._work: Any = self.solver.init(self._pose(self._y, self._start), self.execution)
        for body, first, last in zip(scene.bodies, self.model.body_start[:-1], self.model.body_start[1:], strict=True):
            body._simulated = lambda first=first, last=last: self.state.x[first:last].copy()

    # --- one step ---------------------------------------------------------------------------------------------------

    def step(self) -> SolveReport:
        """Advance by one substep of h seconds."""
        self._predict(self._y, self._start)
        problem = self._pose(self._y, self._start)
        report = self._solve(problem)
        self._finish()
        self._solved = problem
        for observe in self.observers:
            observe(self.state.read_only(), report)
        return report

    def _predict(self, y: np.ndarray, start: np.ndarray) -> None:
        """Fill in the inertial target and the start; held vertices are where they are to be in both."""
        state, fixed = self.state, ~self.model.is_free
        policy = STARTS.index(self.solver.start)
        acceleration = self.model.acceleration(state.x, state.v, self.time)
        drag = self.model.air_damping
        predict(state.x, state.v, state.v_previous, acceleration, drag, self.h, policy, y, start)
        if self.solver.start == "optimised":
            start += optimised_reach(self._pose(y, start), state.v) * state.v
        if self._has_constraints:
            start[:] = state.x + self.model.project(start - state.x)
        start[fixed] = self.model.positions[fixed]
        for led in self.model.led:
            start[led.vertices] = led.positions((state.step + 1) * self.h)
        y[fixed] = start[fixed]
        keep_volumes_positive(self.model, state.x, start)

    def _pose(self, y: np.ndarray, start: np.ndarray) -> IncrementalPotential:
        return IncrementalPotential(self.model, self.h, self.state.x, y, start)

    def _solve(self, problem: IncrementalPotential) -> SolveReport:
        began = time.perf_counter()
        n = self.solver.iterations
        self._x_new[:] = self._start
        self.solver.begin(problem, self._work)
        self.solver.sweep(problem, self._x_new, self._work, n)
        seconds = time.perf_counter() - began
        report = SolveReport(f"did all {n} iterations", n, seconds)
        report.singular_blocks = getattr(self._work, "singular_blocks", 0)
        step = self.state.step + 1
        report.measure = lambda: self._residual_of(step, problem)
        return report

    def _finish(self) -> None:
        state = self.state
        if not velocities(self._x_new, state.x, self.h, self._v_new):
            self._solved = None
            raise SimulationError(self._what_broke())
        new = State(self._x_new, self._v_new, state.v, state.step + 1)
        self.state, self._x_new, self._v_new = new, state.x, state.v_previous  # the old arrays are the next step's

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
            motions = ", motions={...}" if self.model.led else ""
            return f"Stopped at t = {self.time:.3f} s. Continue with pliant.Simulation.resume({str(path)!r}{motions})."

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

    def problem(self) -> IncrementalPotential:
        """The next step as an optimisation problem, with arrays of its own."""
        y, start = np.empty_like(self.state.x), np.empty_like(self.state.x)
        self._predict(y, start)
        return IncrementalPotential(self.model, self.h, self.state.x.copy(), y, start)

    def energies(self) -> dict[str, float]:
        """Energies of the current state [J].

        "kinetic" 1/2 m v^2, "elastic", "gravity" -m g.x (zero at the origin), their sum "total", and of the last
        step's potential "inertia" 1/(2 h^2) |x - y|_M^2 and "damping" (zero before the first step, after
        resuming and after a step that broke down).
        """
        model, state = self.model, self.state
        if self._solved is None:
            terms = {"inertia": 0.0, "damping": 0.0}
            terms["elastic"] = sum(energy_of(block).energy(block, state.x) for block in model.blocks)
        else:
            terms = self._solved.energies(state.x)
        terms["kinetic"] = 0.5 * float(np.sum(model.mass[:, None] * state.v**2))
        terms["gravity"] = -float(np.sum(model.mass[:, None] * state.x * model.gravity))
        terms["total"] = terms["kinetic"] + terms["elastic"] + terms["gravity"]
        return terms

    @property
    def solver_bytes(self) -> int:
        """Memory of the solver's own arrays."""
        return getattr(self._work, "nbytes", 0)

    # --- keeping ----------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write a checkpoint that `resume` continues with the same bits: scene, settings and state, whole or not at
        all.
        """
        settings = {"frame_rate": self.frame_rate, "substeps": self.substeps, "precision": self.execution.precision}
        if hasattr(self._work, "carried"):
            settings["carried"] = self._work.carried()
        checkpoint.write(Path(path), self.scene, self.solver, settings, self.state, SOLVERS)

    @classmethod
    def resume(
        cls,
        path: str | Path,
        motions: dict[str, list[Motion]] | None = None,
        threads: int | None = None,
        forces: dict[str, list[Force]] | None = None,
    ) -> Simulation:
        """Continue from a checkpoint. Motions and forces are Python functions and not in the file: pass them again, by
        name of the body and in the order they were added."""
        scene, solver, settings, state = checkpoint.read(Path(path), motions or {}, forces or {}, SOLVERS)
        carried = settings.pop("carried", None)
        simulation = cls(scene, solver, threads=threads, **settings)
        simulation.state = state
        if carried:
            simulation._work.restore(carried)
        return simulation

    # --- inside -----------------------------------------------------------------------------------------------------

    def _residual_of(self, step: int, problem: IncrementalPotential) -> float:
        if self.state.step != step:
            raise SimulationError(
                f"the residual of step {step} can no longer be measured: ask for it before the next step."
            )
        return problem.residual(self.state.x)

    def _what_broke(self) -> str:
        broken = np.flatnonzero(~(np.abs(self._v_new) < 1e300).all(axis=1))
        first = int(broken[0])
        return (
            f"the step from t = {self.time:g} s gave no finite position for {len(broken)} of {self.model.n_vertices} "
            f"vertices, first {self.model.describe_vertex(first)}: {self._x_new[first].tolist()}. The state before it "
            "is kept. Try more substeps, line_search=True, or a softer or StableNeoHookean material."
        )
