"""Orders of convergence in the time step: errors at the end of a motion, for every integrator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

import pliant as pl

INTEGRATORS = {"euler": 1, "bdf2": 2, "midpoint": 2}  # and their orders
STEPS = (32, 64, 128, 256)
PENDULUM_SECONDS = 0.5  # [s]


def pendulum_error(integrator: str, steps: int) -> float:
    """[m] of two masses on springs that swing down from the side, after 0.5 s; the truth is by a Runge-Kutta method."""
    scene = pl.Scene()
    rope = scene.add_springs([[0, 0, 0], [0.5, 0, 0], [0.9, 0, 0]], [[0, 1], [1, 2]], stiffness=100.0, mass=1.0)
    rope.pin([0])
    end = _end(scene, integrator, steps, PENDULUM_SECONDS)
    return float(np.abs(end[1:] - _pendulum_truth()).max())


def _pendulum_truth() -> np.ndarray:
    rest, stiffness = (0.5, 0.4), 100.0

    def rate(t: float, state: np.ndarray) -> np.ndarray:
        x, f = np.zeros((3, 3)), np.zeros((3, 3))
        x[1:] = state[:6].reshape(2, 3)
        for i in range(2):
            d = x[i + 1] - x[i]
            pull = stiffness * (1 - rest[i] / np.linalg.norm(d)) * d
            f[i] += pull
            f[i + 1] -= pull
        return np.concatenate([state[6:], (f[1:] + np.array([0, 0, -9.81])).ravel()])

    begin = np.concatenate([[0.5, 0, 0, 0.9, 0, 0], np.zeros(6)])
    return solve_ivp(rate, (0, PENDULUM_SECONDS), begin, rtol=1e-12, atol=1e-12).y[:6, -1].reshape(2, 3)


def _end(scene: pl.Scene, integrator: str, steps: int, seconds: float) -> np.ndarray:
    solver = pl.Newton(tolerance=1e-12)
    sim = pl.Simulation(scene, solver, steps / seconds, 1, "double", integrator=integrator)
    for _ in range(steps):
        sim.step()
    return sim.positions


MOTIONS: dict[str, Callable[[str, int], float]] = {"swinging masses": pendulum_error}


def errors() -> dict[str, dict[int, float]]:
    """By motion and integrator, then by the number of steps."""
    return {
        f"{motion}, {integrator}": {steps: error(integrator, steps) for steps in STEPS}
        for motion, error in MOTIONS.items()
        for integrator in INTEGRATORS
    }


def order(values: dict[int, float]) -> float:
    """Of the last halving of the step."""
    coarse, fine = (values[steps] for steps in STEPS[-2:])
    return float(np.log2(coarse / fine))
