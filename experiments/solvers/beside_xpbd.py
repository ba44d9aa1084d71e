"""VBD, Figures 19 (in small) and 20: contact by VBD, XPBD and GPBD.

python -m experiments.solvers.beside_xpbd
"""

from __future__ import annotations

import time

import numpy as np
from experiments.solvers import curves
from experiments.vbd import data, outputs, pictures
from matplotlib.figure import Figure
from rich.progress import track

import pliant as pl
from pliant.geometry.quality import tet_volumes
from pliant.viewer.pictures import BODY_COLOURS, Surface

HEAVY, LIGHT, RATIO = 0.3, 0.1, 2000.0  # edges of the two cubes [m], mass of the one over the other
SECONDS = 1.0  # of the cubes
FRAMES = 60  # of the octopus, at 60 a second
CUBES = {  # solver and steps a second
    "VBD, 10 iterations, 1/300 s": (pl.VBD(10), 300),
    "XPBD, 10 iterations, 1/300 s": (pl.XPBD(10), 300),
    "XPBD, 100 iterations, 1/300 s": (pl.XPBD(100), 300),
    "XPBD, 10 iterations, 1/3000 s": (pl.XPBD(10), 3000),
    "GPBD, 10 iterations, 1/300 s": (pl.GPBD(10), 300),
    "GPBD, 10 iterations, 1/3000 s": (pl.GPBD(10), 3000),
}
DROPS = {
    "XPBD, 1/120 s, 120 iterations (19a)": (pl.XPBD(120), 2),
    "XPBD, 1/3000 s, 5 iterations (19c)": (pl.XPBD(5), 50),
    "GPBD, 1/120 s, 120 iterations": (pl.GPBD(120), 2),
    "VBD, 1/120 s, 120 iterations (19d)": (pl.VBD(120), 2),
}


def two_cubes() -> tuple[pl.Scene, np.ndarray, np.ndarray]:
    """Figure 20: a heavy cube above a light one on the ground. Also the light one's tets and volumes at rest."""
    light = pl.shapes.box((LIGHT,) * 3, (6, 6, 6)).transformed(translation=(0, 0, 0.5 * LIGHT))
    heavy = pl.shapes.box((HEAVY,) * 3, (6, 6, 6)).transformed(translation=(0, 0, LIGHT + 0.5 * HEAVY + 0.02))
    law = pl.StableNeoHookean.from_coefficients(1e6, 1e7)
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=1e7, friction=0.3, friction_speed=1e-2)
    scene.add_solid(light, law, density=1000 * (HEAVY / LIGHT) ** 3 / RATIO, name="light")
    scene.add_solid(heavy, law, density=1000.0, name="heavy")
    scene.add_plane((0, 0, 0), (0, 0, 1))
    return scene, light.tets, tet_volumes(light.points, light.tets)


def drop(solver, rate: float, seconds: float = SECONDS) -> dict:
    """Least volume of the light cube over its own, its inverted tets, and how fast all is at the end."""
    scene, tets, volumes = two_cubes()
    sim = pl.Simulation(scene, solver, frame_rate=60, substeps=round(rate / 60), precision="single")
    least, inverted, ended = 1.0, 0, "did all frames"
    began = time.perf_counter()
    for _ in range(round(60 * seconds)):
        try:
            sim.advance()
        except pl.SimulationError as error:
            ended = str(error)
            break
        now = tet_volumes(sim.positions, tets)
        least, inverted = min(least, float(now.sum() / volumes.sum())), max(inverted, int((now <= 0).sum()))
    return {
        "ended": ended,
        "least_volume_of_the_light_cube": least,
        "most_inverted_tets_of_the_light_cube": inverted,
        "bottom_of_the_heavy_cube_at_end_m": float(sim.positions[len(sim.positions) // 2 :, 2].min()),
        "rms_speed_at_end_m_s": float(np.sqrt((sim.velocities**2).sum(axis=1).mean())),
        "ms_a_frame": 1e3 * (time.perf_counter() - began) / (60 * seconds),
        "x": sim.positions,
    }


def octopus(solver, substeps: int, frames: int = FRAMES) -> dict:
    """Figure 19 with an octopus in place of the squishy ball: it falls 0.2 m to the ground."""
    mesh = data.load("octopus-3.9k")
    points = (mesh.points - mesh.points.mean(axis=0)) / np.ptp(mesh.points, axis=0).max()
    mesh = pl.TetMesh(points - [0, 0, points[:, 2].min() - 0.2], mesh.tets)
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=1e7, friction=0.1, friction_speed=1e-2)
    scene.add_solid(mesh, pl.StableNeoHookean.from_coefficients(2e5, 2e6), density=1000.0)
    scene.add_plane((0, 0, 0), (0, 0, 1))
    sim = pl.Simulation(scene, solver, frame_rate=60, substeps=substeps, precision="single")
    inverted, energy, contacts, ended = [], [], 0, "did all frames"
    began = time.perf_counter()
    for frame in track(range(frames), type(solver).__name__):
        try:
            sim.advance()
        except pl.SimulationError as error:
            ended = f"frame {frame}: {error}"
            break
        inverted.append(int((tet_volumes(sim.positions, mesh.tets) <= 0).sum()))
        energy.append(sim.energies()["total"])
        contacts = max(contacts, sim.n_contacts)
    return {
        "ended": ended,
        "most_inverted_tets": max(inverted, default=0),
        "inverted_tets_at_end": inverted[-1] if inverted else None,
        "most_contacts": contacts,
        "energy_over_that_at_the_start": max(energy, default=0.0) / (1000 * 9.81 * _moment(mesh)),
        "rms_speed_at_end_m_s": float(np.sqrt((sim.velocities**2).sum(axis=1).mean())),
        "ms_a_frame": 1e3 * (time.perf_counter() - began) / max(len(energy), 1),
        "x": sim.positions,
        "mesh": mesh,
    }


def _moment(mesh: pl.TetMesh) -> float:
    """Volume times height of the centre [m^4]."""
    volumes = tet_volumes(mesh.points, mesh.tets)
    return float(np.sum(volumes * mesh.points[mesh.tets].mean(axis=1)[:, 2]))


def numbers_of(runs: dict) -> dict:
    return {name: {k: v for k, v in run.items() if k not in ("x", "mesh")} for name, run in runs.items()}


def draw(runs: dict, triangles: np.ndarray) -> Figure:
    """The end of every run."""
    figure = Figure(figsize=(2.4 * len(runs), 2.8), layout="constrained")
    for ax, (name, run) in zip(figure.subplots(1, len(runs)), runs.items(), strict=True):
        if np.isfinite(run["x"]).all() and np.abs(run["x"]).max() < 10:
            image = pictures.moments([run["x"]], Surface(triangles, BODY_COLOURS[1]), -60, 15, 240)[0]
            ax.imshow(image)
        ax.set_title(name.replace(", ", "\n", 1), fontsize=8)
        ax.axis("off")
    return figure


def run(coarse: bool = False) -> None:
    seconds, frames = (0.25, 6) if coarse else (SECONDS, FRAMES)
    cubes = {name: drop(solver, rate, seconds) for name, (solver, rate) in CUBES.items()}
    surface = pl.shapes.box((1, 1, 1), (6, 6, 6)).surface_triangles
    both = np.concatenate([surface, surface + len(next(iter(cubes.values()))["x"]) // 2])
    outputs.save("mass_ratio", draw(cubes, both), numbers_of(cubes), curves.FOLDER)
    drops = {name: octopus(solver, substeps, frames) for name, (solver, substeps) in DROPS.items()}
    triangles = next(iter(drops.values()))["mesh"].surface_triangles
    outputs.save("octopus", draw(drops, triangles), numbers_of(drops), curves.FOLDER)


if __name__ == "__main__":
    run()
