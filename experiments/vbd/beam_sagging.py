"""Figure 13: a clamped beam sags; how many iterations a frame does its stiffness need?

python -m experiments.vbd.beam_sagging
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from experiments.vbd import data, outputs
from experiments.vbd.converged import converged_step
from rich.progress import track

import pliant as pl

RHO = {1e6: 0.75, 3e6: 0.86, 1e7: 0.93}  # Chebyshev's radius for each mu [Pa], from the caption
ITERATIONS = (1, 3, 5, 10, 30)  # a step; five steps a frame
SUBSTEPS = 5
MENTIONED = {1e6: 3, 3e6: 5, 1e7: 10}  # Table 1
WRECKED = {  # three iterations a step, mu = 1e7 Pa, rho = 0.93: what helps? Iterations, rho, precision, line search
    "3 iterations": (3, 0.93, "single", False),
    "3 iterations, double precision": (3, 0.93, "double", False),
    "3 iterations, line search": (3, 0.93, "single", True),
    "3 iterations, rho = 0.75": (3, 0.75, "single", False),
    "3 iterations, no Chebyshev": (3, None, "single", False),
    "4 iterations": (4, 0.93, "single", False),
}


def clamped_beam(mesh: pl.TetMesh, mu: float) -> tuple[pl.Scene, np.ndarray]:
    """The beam along x, held at its left end, with the vertices of its right end. l = 10 mu: the paper gives none."""
    points = mesh.points[:, [2, 0, 1]]  # its file has it along z: an even permutation turns it, z stays up
    turned = pl.TetMesh(points, mesh.tets)
    scene = pl.Scene()
    body = scene.add_solid(
        turned,
        pl.StableNeoHookean.from_coefficients(mu, 10 * mu),
        density=1000.0,
        damping=1e-6,
        damping_form="vertex_block",
    )
    body.pin(points[:, 0] < points[:, 0].min() + 1e-6)
    return scene, points[:, 0] > points[:, 0].max() - 1e-6


def tip_heights(sim: pl.Simulation, tip: np.ndarray, frames: int, step, label: str) -> tuple[np.ndarray, np.ndarray]:
    """Mean height of the tip below its rest [m] after every frame, and all positions at the last."""
    rest, heights = sim.positions[tip, 2].mean(), []
    for _ in track(range(frames), label):
        for _ in range(SUBSTEPS):
            step()
        heights.append(sim.positions[tip, 2].mean() - rest)
    return np.array(heights), sim.positions


def sag(mesh: pl.TetMesh, mu: float, iterations: tuple[int, ...], frames: int) -> dict:
    """Heights of the tip for Newton's method (key 0) and for each number of iterations a step; last positions."""
    scene, tip = clamped_beam(mesh, mu)
    reference = pl.Simulation(scene, precision="double")
    runs = {0: tip_heights(reference, tip, frames, lambda: converged_step(reference), f"mu = {mu:.0e} Pa, Newton")}
    for n in iterations:
        sim = pl.Simulation(scene, pl.Chebyshev(pl.VBD(n), RHO[mu]), substeps=SUBSTEPS)
        runs[n] = tip_heights(sim, tip, frames, sim.step, f"mu = {mu:.0e} Pa, {n} iterations")
    return runs


def errors(runs: dict) -> dict:
    """For each number of iterations a frame: largest error over time and error at the reference's lowest point, in
    percent of the reference's largest deflection."""
    exact = runs[0][0]
    deepest, lowest = abs(exact).max(), int(exact.argmin())
    table = {"largest_deflection_m": deepest, "time_of_largest_deflection_s": (lowest + 1) / 60}
    for n, (heights, _) in runs.items():
        if n:
            apart = 100 * abs(heights - exact) / deepest
            table[f"{SUBSTEPS * n} iterations a frame"] = {
                "largest_error_percent": apart.max(),
                "largest_error_until_lowest_percent": apart[: lowest + 1].max(),
                "error_of_largest_deflection_percent": 100 * (abs(heights).max() - deepest) / deepest,
            }
    return table


def wrecked(mesh: pl.TetMesh, frames: int) -> dict:
    """Largest elastic energy [J] of every variant of the run that fails, and Newton's."""
    scene, _ = clamped_beam(mesh, 1e7)
    reference = pl.Simulation(scene, precision="double")
    sims = {"Newton": (reference, lambda: converged_step(reference))}
    for name, (n, rho, precision, line_search) in WRECKED.items():
        solver = pl.VBD(n, line_search=line_search)
        sim = pl.Simulation(scene, pl.Chebyshev(solver, rho) if rho else solver, substeps=SUBSTEPS, precision=precision)
        sims[name] = (sim, sim.step)
    energies = {}
    for name, (sim, step) in sims.items():
        most = 0.0
        for _ in track(range(frames), f"mu = 1e+07 Pa, {name}"):
            for _ in range(SUBSTEPS):
                step()
            most = max(most, sim.energies()["elastic"])
        energies[name] = most
    return energies


def draw(runs: dict) -> plt.Figure:
    figure, axes = plt.subplots(3, 2, figsize=(12, 10), layout="constrained", width_ratios=(3, 2))
    colours = dict(zip(ITERATIONS, plt.cm.viridis_r(np.linspace(0.1, 0.95, len(ITERATIONS))), strict=True))
    for (mu, by_count), (left, right) in zip(runs.items(), axes, strict=True):
        time = np.arange(1, len(by_count[0][0]) + 1) / 60
        for n in ITERATIONS:
            paper = " (the paper's)" if n == MENTIONED[mu] else ""
            width = 2.5 if paper else 1.3
            label = f"{SUBSTEPS * n}{paper}"
            left.plot(time, by_count[n][0], c=colours[n], lw=width, label=label)
            right.plot(*by_count[n][1][:, [0, 2]].T, ".", c=colours[n], ms=3)
        left.plot(time, by_count[0][0], "k--", label="Newton, converged")
        right.plot(*by_count[0][1][:, [0, 2]].T, "k.", ms=3)
        left.set(xlabel="time [s]", ylabel="height of the tip [m]", title=f"mu = {mu:.0e} Pa, rho = {RHO[mu]}")
        left.legend(
            title="iterations a frame", fontsize=8, title_fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5)
        )
        right.set(xlabel="x [m]", ylabel="z [m]", title=f"vertices at t = {time[-1]:.1f} s (black: Newton)")
        right.set_aspect("equal")
    return figure


if __name__ == "__main__":
    beam = data.load("beam-463")
    runs = {mu: sag(beam, mu, ITERATIONS, frames=150) for mu in RHO}
    numbers = {f"mu {mu:.0e} Pa": errors(by_count) for mu, by_count in runs.items()}
    numbers["largest_elastic_energy_in_1_second_J"] = wrecked(beam, frames=60)
    outputs.save("beam_sagging", draw(runs), numbers)
