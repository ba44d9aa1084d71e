"""A light ball dropped on a trampoline of the five fabrics: Figure 9.

python -m experiments.gpbd.trampoline FOLDER [CELLS [RELAXATION [FABRIC ...]]]     with the fabrics of Sperl et al.

As the paper says it: 64 x 64 or 128 x 128 cells, these with edges of about 1 mm, held at the corners, a rigid sphere
that pushes particles and is pushed by them, steps of 1e-4 s, 3 Jacobi iterations and the Newton iterations of Table 1,
in double precision.  The paper gives of the over-relaxation only that it is in [1, 2), and neither masses, heights nor
how much of a corner is held.  Each fabric is run a second time by vertex block descent on 32 x 32 cells, to see what 3
iterations leave out.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from experiments.gpbd.fabrics import FABRICS, STEP
from experiments.vbd import outputs, pictures

import pliant as pl
from pliant.geometry.primitive_surfaces import sphere_surface
from pliant.viewer.pictures import Surface, bands

RESULTS = Path(__file__).with_name("results")
CELLS, COARSE, RELAXATION = 64, 32, 1.5
SIDE, HELD = 0.13, 1 / 16  # [m], and the part of the side that is held at each corner
RADIUS, DENSITY, FALL = 0.02, 40.0, 0.03  # of the ball [m], [kg/m^3]: 1.3 g; from how high it falls [m]
SECONDS = 0.25
NEWTON = {("honey1", 128): 3, ("stock1", 128): 3}  # i_N of Table 1; else 1


def trampoline(material: pl.YarnCloth, cells: int) -> pl.Scene:
    """A level sheet that is held at its corners; a ball above its middle."""
    scene = pl.Scene(contact=pl.Contact(thickness=1e-3, friction=0.0, self_contact=False))
    mesh = pl.shapes.cloth(size=(SIDE, SIDE), cells=(cells, cells))
    cloth = scene.add_cloth(mesh, material, warp=(1, 0, 0))
    cloth.pin((np.abs(mesh.points[:, :2]) > (0.4999 - HELD) * SIDE).all(axis=1))
    scene.add_particles([[0.0, 0.0, RADIUS + FALL]], RADIUS, DENSITY, name="ball")
    return scene


def gpbd(newton: int, relaxation: float) -> pl.GPBD:
    return pl.GPBD(iterations=3, mode="jacobi", relaxation=relaxation, newton_iterations=newton)


def run(scene: pl.Scene, solver: pl.Solver, step: float = STEP, seconds: float = SECONDS) -> dict[str, Any]:
    """Positions, the ball's last, and energies [J] every 5 ms; what a step costs."""
    substeps = round(0.005 / step)
    sim = pl.Simulation(scene, solver=solver, precision="double", frame_rate=200, substeps=substeps, threads=1)
    frames, energies = [sim.positions.copy()], [sim.energies()["total"]]
    began, ended = time.process_time(), "did all steps"
    try:
        for _ in range(round(200 * seconds)):
            sim.advance()
            frames.append(sim.positions.copy())
            energies.append(sim.energies()["total"])
    except pl.SimulationError as error:
        ended = str(error)
    cpu = 1e3 * (time.process_time() - began) / (substeps * max(1, len(frames) - 1))
    return {"frames": np.array(frames), "energies": np.array(energies), "cpu_ms_of_a_step": cpu, "ended": ended}


def numbers_of(done: dict[str, Any]) -> dict[str, Any]:
    """How deep the ball falls, when it turns and how far it rises again; heights of its lowest point."""
    frames = done["frames"]
    height = frames[:, -1, 2] - RADIUS
    deepest = int(height.argmin())
    gaps = np.linalg.norm(frames[:, :-1] - frames[:, -1:], axis=2).min(axis=1) - RADIUS
    return {
        "deepest_mm": 1e3 * float(height[deepest]),
        "turns_after_s": 0.005 * deepest,
        "rises_mm": 1e3 * float(height[deepest:].max() - height[deepest]),
        "leaves_the_sheet_by_mm": 1e3 * float(gaps[deepest:].max()),
        "least_gap_mm": 1e3 * float(gaps.min()),
        "energy_gained_mJ": 1e3 * float(done["energies"].max() - done["energies"][0]),
        "cpu_ms_of_a_step": done["cpu_ms_of_a_step"],
        "ended": done["ended"],
    }


def draw(runs: dict[str, np.ndarray]) -> plt.Figure:
    """A row for each fabric: at the start, at the turn, at the top."""
    surface, faces = sphere_surface(RADIUS)
    figure, axes = plt.subplots(len(runs), 3, figsize=(7.5, 2.3 * len(runs)), layout="constrained", squeeze=False)
    for row, (label, frames) in zip(axes, runs.items(), strict=True):
        n = frames.shape[1] - 1
        cells = round(np.sqrt(n)) - 1
        mesh = pl.shapes.cloth(size=(SIDE, SIDE), cells=(cells, cells))
        triangles = np.concatenate([mesh.triangles, faces + n])
        of_ball = np.tile((0.85, 0.4, 0.3), (len(faces), 1))
        colours = np.concatenate([bands(mesh.points, mesh.triangles, 0, 12, (0.28, 0.52, 0.78)), of_ball])
        turn = int(frames[:, -1, 2].argmin())
        top = turn + int(frames[turn:, -1, 2].argmax())
        moments = [np.concatenate([frames[k, :n], surface + frames[k, n]]) for k in (0, turn, top)]
        shown = pictures.moments(moments, Surface(triangles, colours), azimuth=-60, elevation=12, height=230)
        for axis, k, image in zip(row, (0, turn, top), shown, strict=True):
            axis.imshow(image)
            axis.set_title(f"{label}, {0.005 * k:.3f} s", fontsize=8)
            axis.axis("off")
    return figure


def main() -> None:
    folder, cells = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else CELLS
    relaxation = float(sys.argv[3]) if len(sys.argv) > 3 else RELAXATION
    found, runs = {}, {}
    for file in sys.argv[4:] or FABRICS:
        label, material = FABRICS[file], pl.YarnCloth(folder / f"{file}.json")
        theirs = run(trampoline(material, cells), gpbd(NEWTON.get((file, cells), 1), relaxation))
        converged = run(trampoline(material, COARSE), pl.VBD(iterations=10), 2 * STEP)
        found[label] = {"GPBD": numbers_of(theirs), "VBD": numbers_of(converged)}
        runs[label] = theirs["frames"]
        print(label, found[label], flush=True)
    name = f"trampoline_{cells}" + ("" if relaxation == RELAXATION else f"_relaxation_{relaxation:g}")
    outputs.save(name, draw(runs), found, RESULTS)


if __name__ == "__main__":
    main()
