"""The beginning of a step: inertial targets, the initial guess, and where held vertices are to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.integration import Euler, StepStart
from pliant.kernels.predict import STARTS, predict
from pliant.kernels.rigid_motion import predict_bodies
from pliant.model import Model
from pliant.model.placement import Placements
from pliant.solvers import Solver
from pliant.solvers.machinery.feasible import keep_volumes_positive
from pliant.solvers.machinery.optimised_start import optimised_reach
from pliant.state import State


@dataclass(frozen=True)
class Prediction:
    """Of the step of h [s] that begins at a state."""

    integrator: Euler
    solver: Solver[Any]
    placements: Placements
    h: float
    state: State

    def fill(
        self,
        model: Model,
        y: np.ndarray,
        x_guess: np.ndarray,
        poses: np.ndarray,
        problem_at: Callable[[StepStart], IncrementalPotential],
    ) -> tuple[StepStart, np.ndarray]:
        """Fill in targets y and the initial guess (n, 3) and its poses (b, 7); where the step of implicit Euler begins,
        and the acceleration (n, 3) by external forces. problem_at: the step as a problem, for an optimised guess.
        """
        state, policy = self.state, STARTS.index(self.solver.start)
        x, v, later = self.integrator.looks_ahead(state, self.h)
        acceleration = model.acceleration(x, v, state.step * self.h + later)
        start = self.integrator.start(state, model.carried, self.h)
        predict(
            start.x,
            start.v,
            start.v_previous,
            acceleration,
            model.air_damping,
            model.follows,
            start.s,
            policy,
            y,
            x_guess,
        )
        if self.solver.start == "optimised":
            x_guess += optimised_reach(problem_at(start), start.v) * start.v
        if model.is_partly_held:
            x_guess[:] = state.x + model.project(x_guess - state.x)
        self._hold(model, start.theta, x_guess)
        if model.particles is not None:
            waiting = model.particles.waiting(state.step * self.h)
            x_guess[waiting] = y[waiting] = state.x[waiting]
        if len(model.fixed):
            y[model.fixed] = x_guess[model.fixed]
        for kinematic in model.kinematic:
            y[kinematic.places] = x_guess[kinematic.places]
        if model.carried is not None:
            masses = (model.carried.rows, model.mass, model.air_damping, acceleration)
            predict_bodies(*masses, start.poses, start.twists, start.s, policy > 0, y, x_guess, poses, start.spins)
        if not self.solver.supports.any_guess:
            keep_volumes_positive(model, state.x, x_guess)
        return start, acceleration

    def _hold(self, model: Model, theta: float, x_guess: np.ndarray) -> None:
        """Put fixed and prescribed vertices where they are to be at the part theta of the step."""
        state = self.state
        if len(model.fixed):
            x_guess[model.fixed] = model.positions[model.fixed]
        self.placements.place_held(model, x_guess)
        if theta < 1:
            held = model.prescribed
            x_guess[held] = state.x[held] + theta * (x_guess[held] - state.x[held])
