"""Orders of convergence in the time step: errors at the end of a motion, for every integrator."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from experiments.validation.strip_cases import vibrations
from scipy.integrate import solve_ivp

import pliant as pl

INTEGRATORS = {"euler": 1, "bdf2": 2, "midpoint": 2}  # and their orders
STEPS = (32, 64, 128, 256)
PENDULUM_SECONDS = 0.5  # [s]
BEAM_SECONDS = 1.0  # [s]


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


def beam_error(integrator: str, steps: int) -> float:
    """[m] of a beam of tets, clamped at one end, that vibrates freely: its end starts with 2 cm/s
    in the shape of its first mode; after 1 s. The truth is the equation of motion of its vertices by a Runge-Kutta
    method.
    """
    end = _end(_beam(), integrator, steps, BEAM_SECONDS)
    return float(np.abs(end - _beam_truth()).max())


def _beam() -> pl.Scene:
    """1 m x 0.2 m x 0.1 m, E = 0.1 MPa, nu = 0.3, 1000 kg/m^3; no gravity, no damping."""
    mesh = pl.shapes.box((1.0, 0.2, 0.1), (8, 2, 1))
    scene = pl.Scene(gravity=(0, 0, 0))
    beam = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3))
    beam.pin(np.isclose(mesh.points[:, 0], -0.5))
    sim = pl.Simulation(scene, pl.Newton(), 1, 1, "double")
    _, modes = vibrations(sim, 1)
    beam.set_velocities(0.02 * modes[0] / modes[0][np.abs(modes[0][:, 2]).argmax(), 2])
    return scene


@cache
def _beam_truth() -> np.ndarray:
    sim = pl.Simulation(_beam(), pl.Newton(), 1, 1, "double")
    problem, free = sim.problem(), sim.model.is_free
    begin, speeds, mass = sim.positions.copy(), sim.velocities.copy(), sim.model.mass[free][:, None]

    def rate(t: float, state: np.ndarray) -> np.ndarray:
        x = begin.copy()
        x[free] = state[: state.size // 2].reshape(-1, 3)
        elastic = problem.gradient(x)[free] - mass * (x - problem.y)[free] / problem.h**2  # without inertia
        return np.concatenate([state[state.size // 2 :], (-elastic / mass).ravel()])

    state = np.concatenate([begin[free].ravel(), speeds[free].ravel()])
    found = solve_ivp(rate, (0, BEAM_SECONDS), state, "DOP853", rtol=1e-10, atol=1e-12)
    end = begin.copy()
    end[free] = found.y[: state.size // 2, -1].reshape(-1, 3)
    return end


def _end(scene: pl.Scene, integrator: str, steps: int, seconds: float) -> np.ndarray:
    solver = pl.Newton(tolerance=1e-12)
    sim = pl.Simulation(scene, solver, steps / seconds, 1, "double", integrator=integrator)
    for _ in range(steps):
        sim.step()
    return sim.positions


MOTIONS: dict[str, Callable[[str, int], float]] = {"swinging masses": pendulum_error, "beam": beam_error}


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
