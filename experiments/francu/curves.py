"""Figures 1, 2, 5, 7, 8, 9 and 10 of Francu and Moldoveanu (2015), in sizes that take a minute.

python -m experiments.francu.curves
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl
from pliant.constraints.krylov import BETA
from pliant.constraints.problem import ConstraintProblem

RESULTS = Path(__file__).with_name("results")
LAW = pl.StVenantKirchhoff.from_young(1e3, 0.3)
PAPERS = {"rounds": 1, "settling": 0}  # the schemes as they are in the paper
CELLS, PARTICLES, FRAMES = 30, 1000, 120
COUNTS = (5, 15, 30, 60, 120, 240)  # iterations of Figure 10
R = 0.01


def hung(cells: int, size: float = 1.0) -> pl.Scene:
    """A square of cloth [m] that falls and hangs by two corners."""
    scene = pl.Scene()
    mesh = pl.shapes.cloth(size=(size, size), cells=(cells, cells))
    cloth = scene.add_cloth(mesh, LAW, density=0.2)
    cloth.pin((mesh.points[:, 1] > 0.499 * size) & (np.abs(mesh.points[:, 0]) > 0.499 * size))
    return scene


def hanging(
    relaxation: Any, cells: int, frames: int, iterations: int = 15, size: float = 1.0, **options: float
) -> tuple[np.ndarray, pl.Simulation]:
    """Position error (L1) [m] frame by frame, until it blows up, of `hung`; position based dynamics at 60 Hz."""
    solver = pl.PositionBased(relaxation, iterations=iterations, **options)
    sim = pl.Simulation(hung(cells, size), solver, frame_rate=60, substeps=1)
    errors = []
    for _ in range(frames):
        try:
            sim.step()
        except pl.SimulationError:  # it has blown up
            break
        errors.append(sim._work.solved.position_error())  # type: ignore[attr-defined]
    return np.array(errors), sim


def dropping(count: int, friction: float = 0.0, ratio: float = 1.0) -> pl.Scene:
    """Particles that fall into a box; ratio: of the largest mass to the smallest."""
    scene, random, height = pl.Scene(), np.random.default_rng(2), 0.3 * count / 1000
    points = pl.shapes.packed_spheres((0.2, 0.2, height), radius=R, spacing=1.05, jitter=0.5)
    points = random.permutation(points)[:count] + np.array([0, 0, 0.05 + 0.5 * height])
    for k, part in enumerate(np.array_split(points, 6)):
        scene.add_particles(part, radius=R, density=ratio ** (k / 5), friction=friction)
    scene.add_container((0, 0, 0.5), (0.21, 0.21, 1.0), friction=friction)
    return scene


def dropped(solver: Any, friction: float = 0.0, ratio: float = 1.0, frames: int = FRAMES) -> tuple[np.ndarray, Any]:
    """Position error (L1) [m] frame by frame of `dropping` at 60 Hz."""
    sim = pl.Simulation(dropping(PARTICLES, friction, ratio), solver, frame_rate=60, substeps=1)
    errors = []
    for _ in range(frames):
        sim.step()
        errors.append(sim._work.solved.position_error())  # type: ignore[attr-defined]
    return np.array(errors), sim


def betas() -> dict[str, list[float]]:
    """Figure 1: beta of conjugate residuals in 20 iterations, clamped below 1, and the power function."""
    _, sim = hanging(pl.ConjugateResiduals(), 20, 40, 20)
    problem, solver = sim.problem(), sim.solver
    work = solver.init(problem, sim.execution)
    solver.begin_step(problem, work)
    x, found = problem.x_guess.copy(), []
    for _ in range(20):
        solver.sweep(problem, x, work, 1)
        found.append(float(work.posed.vectors.numbers[BETA]))
    return {"conjugate residuals": found, "power function": [min((k / 20) ** 0.6, 1.0) for k in range(20)]}


def stretching() -> dict[str, list[float]]:
    """Figure 2: position error [m] of a cloth at rest by iterations."""
    methods = {"Gauss-Seidel": pl.GaussSeidel(), "improved Jacobi": pl.ImprovedJacobi()}
    counts = (5, 10, 20, 40)
    return {"iterations": [float(n) for n in counts]} | {
        name: [float(hanging(method, 20, 240, n)[0][-20:].mean()) for n in counts] for name, method in methods.items()
    }


def over_a_ball() -> dict[str, float]:
    """Figure 5: how far [m] the middle of a cloth on a ball has come within 2 s, mu = 0.5, with a slight slope."""
    found = {}
    for name, solver in (("SP", pl.SequentialPositions()), ("PBD", pl.PositionBased())):
        scene = pl.Scene(gravity=(0.5, 0, -9.8))
        mesh = pl.shapes.cloth(size=(0.5, 0.5), cells=(16, 16)).transformed(translation=(0, 0, 0.32))
        cloth = scene.add_cloth(mesh, LAW)
        cloth.friction = 0.5
        scene.add_sphere((0, 0, 0.15), 0.15, friction=0.5)
        sim = pl.Simulation(scene, solver)
        for _ in range(120):
            sim.advance()
        found[name] = float(np.linalg.norm(cloth.positions.mean(axis=0)[:2]))
        found[f"{name}, height"] = float(cloth.positions[:, 2].max())
    return found


def drops() -> dict[str, dict[str, list[float]]]:
    """Figures 8 and 9."""
    vts, sp = pl.VelocityTimeStepping, pl.SequentialPositions
    plain = {
        "Gauss-Seidel": vts(pl.GaussSeidel(), **PAPERS),
        "improved Jacobi": vts(**PAPERS),
        "improved Jacobi, a = 2": vts(pl.ImprovedJacobi(a=2.0), **PAPERS),
        "Sequential Positions": sp(pl.GaussSeidel(), warm_start=0.0, **PAPERS),
        "ours (default)": vts(),
    }
    mixed = {
        "Gauss-Seidel": vts(pl.GaussSeidel(), **PAPERS),
        "improved Jacobi": vts(pl.ImprovedJacobi(omega=0.4), **PAPERS),
    }
    return {
        "8": {name: dropped(solver)[0].tolist() for name, solver in plain.items()},
        "9": {name: dropped(solver, 0.2, 1e5)[0].tolist() for name, solver in mixed.items()},
    }


def approach(problem: ConstraintProblem) -> float:
    """Velocity error [m/s]: root mean square over contacts of how much faster two approach than their gap allows."""
    v = problem.bodies.velocity[:, :3].astype(float)
    speed = (problem.jacobian() @ v.ravel()).reshape(-1, 3)[:, 0]
    gap = np.einsum("ma,ma->m", problem.rows.normal, problem.rows.separation)[: problem.count]
    gap = np.maximum(gap - problem.rows.rest[: problem.count], 0.0)
    return float(np.sqrt(np.mean(np.minimum(speed + gap / problem.scheme.h, 0.0) ** 2)))


def convergence() -> dict[str, dict[str, list[float]]]:
    """Figure 10: velocity error [m/s] and position error (L1) [m] by iterations, all of one step with friction, which
    Gauss-Seidel has led to by frame 100.
    """
    schemes = {
        "Gauss-Seidel": lambda n: pl.VelocityTimeStepping(pl.GaussSeidel(), iterations=n, **PAPERS),
        "improved Jacobi": lambda n: pl.VelocityTimeStepping(iterations=n, **PAPERS),
        "Sequential Positions": lambda n: pl.SequentialPositions(
            pl.GaussSeidel(), iterations=n, warm_start=0.0, **PAPERS
        ),
    }
    _, sim = dropped(schemes["Gauss-Seidel"](15), 0.2, frames=100)
    problem = sim.problem()
    found: dict[str, dict[str, list[float]]] = {"velocity": {}, "position": {}}
    for name, scheme in schemes.items():
        for errors in found.values():
            errors[name] = []
        for n in COUNTS:
            solver = scheme(n)
            work = solver.init(problem, sim.execution)
            solver.begin_step(problem, work)
            solver.sweep(problem, problem.x_guess.copy(), work, n)
            found["velocity"][name].append(approach(work.posed))
            found["position"][name].append(work.posed.position_error())
    return found


def hanging_cloths() -> dict[str, dict[str, list[float]]]:
    """Figure 7, of cloth with cells of 1 m whose edges and diagonals are hard, with corrections as in Equation 32; and
    with our usual settings and cells of 10 cm and 3 cm.
    """
    sweeps = {"Gauss-Seidel": pl.GaussSeidel(), "SOR": pl.GaussSeidel(1.2)}
    papers = sweeps | {"improved Jacobi": pl.ImprovedJacobi(weights="diagonal")}
    ours = sweeps | {"improved Jacobi": pl.ImprovedJacobi()}
    hard = {"size": 100.0, "shear": 1.0, "bend": 0.0}
    return {
        "7": {name: hanging(method, 100, 600, **hard)[0].tolist() for name, method in papers.items()},
        "7, 10 m": {name: hanging(method, 100, 240, size=10.0)[0].tolist() for name, method in ours.items()},
        "7, 1 m": {name: hanging(method, CELLS, FRAMES)[0].tolist() for name, method in ours.items()},
    }


def main() -> None:
    """Measure, write the numbers and draw them."""
    RESULTS.mkdir(exist_ok=True)
    errors = convergence()
    figures: dict[str, Any] = {
        "1": betas(),
        "2": stretching(),
        "5": over_a_ball(),
        **hanging_cloths(),
        **drops(),
        "10": errors["velocity"],
        "10, positions": errors["position"],
    }
    (RESULTS / "curves.json").write_text(json.dumps(figures, indent=1), encoding="utf-8")
    draw(figures)


def draw(figures: dict[str, Any]) -> None:
    """All curves in one picture."""
    import matplotlib.pyplot as plt

    shown = {"1": "beta", "7": "cloth: error [m]", "8": "particles: error [m]", "9": "masses 1 to 1e5: error [m]"}
    shown["10"] = "velocity error [m/s]"
    _, axes = plt.subplots(1, len(shown), figsize=(20, 4))
    for (figure, title), axis in zip(shown.items(), axes, strict=True):
        for name, values in figures[figure].items():
            axis.plot(COUNTS if figure == "10" else range(len(values)), values, label=name)
        axis.set_title(f"Figure {figure}: {title}")
        axis.set_yscale("linear" if figure == "1" else "log")
        axis.legend(fontsize=7)
    plt.tight_layout()
    plt.savefig(RESULTS / "curves.png", dpi=80)


if __name__ == "__main__":
    main()
