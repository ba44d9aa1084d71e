"""VBD, Figure 20: a heavy cube on a light one by VBD, XPBD and GPBD.

python -m experiments.solvers.beside_xpbd
"""

from __future__ import annotations

import time

import numpy as np
from experiments.solvers import curves
from experiments.vbd import outputs, pictures
from matplotlib.figure import Figure
from rich.progress import track

import pliant as pl
from pliant.geometry.quality import tet_volumes
from pliant.viewer.pictures import BODY_COLOURS, Surface

HEAVY, LIGHT, RATIO = 0.3, 0.1, 2000.0  # edges of the two cubes [m], mass of the one over the other
SECONDS = 0.4  # of the cubes
FAST = 20.0  # [m/s] a run ends where a vertex is faster: it has broken down
CUBES = {  # solver and steps a second
    "VBD, 10 iterations, 1/300 s": (pl.VBD(10), 300),
    "XPBD, 10 iterations, 1/300 s": (pl.XPBD(10), 300),
    "VBD, 100 iterations, 1/300 s": (pl.VBD(100), 300),
    "XPBD, 10 iterations, 1/3000 s": (pl.XPBD(10), 3000),
    "GPBD, 10 iterations, 1/300 s": (pl.GPBD(10), 300),
}


def two_cubes() -> tuple[pl.Scene, np.ndarray, np.ndarray]:
    """Figure 20: a heavy cube above a light one on the ground. Also the light one's tets and volumes at rest."""
    light = pl.shapes.box((LIGHT,) * 3, (6, 6, 6), "kuhn").transformed(translation=(0, 0, 0.5 * LIGHT))
    heavy = pl.shapes.box((HEAVY,) * 3, (6, 6, 6), "kuhn").transformed(translation=(0, 0, LIGHT + 0.5 * HEAVY + 0.02))
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
    sim = pl.Simulation(scene, solver, frame_rate=rate, substeps=1, precision="single")
    least, inverted, ended = 1.0, 0, "did all frames"
    began = time.perf_counter()
    for _ in range(round(rate * seconds)):
        try:
            sim.step()
        except pl.SimulationError as error:
            ended = str(error)
            break
        if np.abs(sim.velocities).max() > FAST:
            ended = f"broke down at {sim.time:.2f} s"
            break
        now = tet_volumes(sim.positions, tets)
        least, inverted = min(least, float(now.sum() / volumes.sum())), max(inverted, int((now <= 0).sum()))
    return {
        "ended": ended,
        "least_volume_of_the_light_cube": least,
        "most_inverted_tets_of_the_light_cube": inverted,
        "bottom_of_the_heavy_cube_at_end_m": float(sim.positions[len(sim.positions) // 2 :, 2].min()),
        "rms_speed_at_end_m_s": float(np.sqrt((sim.velocities**2).sum(axis=1).mean())),
        "ms_a_frame": 1e3 * (time.perf_counter() - began) / (60 * max(sim.time, 1 / rate)),
        "x": sim.positions,
    }


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
    seconds = 0.1 if coarse else SECONDS
    cubes = {}
    for name, (solver, rate) in track(CUBES.items(), "cubes"):
        cubes[name] = drop(solver, rate, seconds)
        print(name, numbers_of(cubes)[name], flush=True)
    surface = pl.shapes.box((1, 1, 1), (6, 6, 6), "kuhn").surface_triangles
    both = np.concatenate([surface, surface + len(next(iter(cubes.values()))["x"]) // 2])
    outputs.save("mass_ratio", draw(cubes, both), numbers_of(cubes), curves.FOLDER)


if __name__ == "__main__":
    run()
