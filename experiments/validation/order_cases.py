"""Orders of convergence in the time step: errors at the end of a motion, for every integrator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

import pliant as pl

INTEGRATORS = {"euler": 1, "bdf2": 2, "midpoint": 2}  # and their orders
STEPS = (32, 64, 128, 256)
PENDULUM_SECONDS, PART = 0.5, 0.35  # [s]; of the period of the beam


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
    """Of a clamped elastic beam let go in its first mode, so little bent that it is linear, after 0.35 of a period,
    over its amplitude; the truth is the mode of the same mesh.
    """
    mesh = pl.shapes.box((0.4, 0.1, 0.1), (4, 1, 1))
    scene = pl.Scene(gravity=(0, 0, 0))
    beam = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3))
    beam.pin(np.isclose(mesh.points[:, 0], -0.2))
    frequency, mode = _first_mode(scene, mesh.points)
    small = 1e-7 * mode / np.abs(mode).max()
    beam.set_positions(mesh.points + small)
    seconds = PART / frequency
    end = _end(scene, integrator, steps, seconds)
    truth = mesh.points + np.cos(2 * np.pi * PART) * small
    return float(np.abs(end - truth).max() / np.abs(small).max())


def _first_mode(scene: pl.Scene, points: np.ndarray) -> tuple[float, np.ndarray]:
    """[Hz] and (n, 3)."""
    sim = pl.Simulation(scene, pl.Newton(), frame_rate=1, substeps=1, precision="double")
    free, mass = np.repeat(sim.model.is_free, 3), np.repeat(sim.model.mass, 3)
    H = sp.csr_matrix(sim.problem().hessian(points))[free][:, free].toarray() - np.diag(mass[free])  # h = 1 s
    values, vectors = eigh(H, np.diag(mass[free]), subset_by_index=[0, 0])
    mode = np.zeros(points.size)
    mode[free] = vectors[:, 0]
    return float(np.sqrt(values[0]) / (2 * np.pi)), mode.reshape(-1, 3)


def _end(scene: pl.Scene, integrator: str, steps: int, seconds: float) -> np.ndarray:
    solver = pl.Newton(tolerance=1e-12)
    sim = pl.Simulation(scene, solver, steps / seconds, 1, "double", integrator=integrator)
    for _ in range(steps):
        sim.step()
    return sim.positions


MOTIONS: dict[str, Callable[[str, int], float]] = {"swinging masses": pendulum_error, "bending beam": beam_error}


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
