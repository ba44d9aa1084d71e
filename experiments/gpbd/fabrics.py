"""Square sheets of the five fabrics with GPBD: stretched (Figure 5), draped on a sphere (Figure 6), wrinkles
of satin with yarns of a tenth (Figure 3), flags in wind (Figure 10).

python -m experiments.gpbd.fabrics FOLDER [SCENE ...]     with the fabrics of Sperl et al., stock1.json and others

30 cm sheets, steps of 1e-4 s, 3 Jacobi iterations, one Newton iteration each, in double precision: the paper's, on
fewer cells. Every run is repeated by vertex block descent on the same potential in steps of 1 / 600 s, where a scene
comes to rest.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from experiments.vbd import outputs, pictures

import pliant as pl
from pliant.viewer.pictures import Surface, bands

RESULTS = Path(__file__).with_name("results")
FABRICS = {"satin1": "Satin", "basket1": "Basket", "rib1": "Rib", "honey1": "Honey", "stock1": "Stock"}
SIDE, STEP = 0.3, 1e-4  # [m], [s]
CELLS, FINE = 16, 64  # FINE: of Table 2's satin with yarns of a tenth
STRETCH, LEAD = 0.2, 0.2  # of the side, and the time [s] in which it is reached
WIND = (5.0, 1.0, 0.0)  # [m/s]
GPBD = pl.GPBD(iterations=3, mode="jacobi", relaxation=1.5)


def sheet(scene: pl.Scene, material: pl.YarnCloth, cells: int, upright: bool = False, **options: Any) -> Any:
    """A square in the plane z = 0, or upright in y = 0."""
    mesh = pl.shapes.cloth(size=(SIDE, SIDE), cells=(cells, cells))
    if upright:
        mesh = pl.TriMesh(mesh.points[:, [0, 2, 1]], mesh.triangles)
    return scene.add_cloth(mesh, material, **options)


def grip(cloth: Any, axis: int) -> None:
    """Lead two opposite edges apart until the sheet is longer by STRETCH."""
    points = cloth.mesh.points
    for sign in (-1.0, 1.0):
        chosen = np.flatnonzero(sign * points[:, axis] > 0.4999 * SIDE)
        start, way = points[chosen], np.zeros(3)
        way[axis] = 0.5 * sign * STRETCH * SIDE
        cloth.move(chosen, lambda t, start=start, way=way: start + way * min(t / LEAD, 1.0))


def stretch(material: pl.YarnCloth, cells: int, axis: int = 0) -> pl.Scene:
    """Stretched by a fifth along the warp (axis 0) or the weft (1), without gravity."""
    scene = pl.Scene(gravity=(0, 0, 0))
    cloth = sheet(scene, material, cells, warp=(1, 0, 0))
    cloth.air_damping = 20.0
    start = cloth.mesh.points.copy()
    start[:, 2] += np.random.default_rng(0).normal(0, 1e-5, len(start))
    cloth.set_positions(start)
    grip(cloth, axis)
    return scene


def drape(material: pl.YarnCloth, cells: int) -> pl.Scene:
    """Laid on a ball of 6 cm."""
    scene = pl.Scene(contact=pl.Contact(friction=0.5, thickness=0.004, self_contact=False))
    cloth = sheet(scene, material, cells, warp=(1, 0, 0))
    cloth.air_damping = 5.0
    scene.add_sphere((0, 0, -0.065), 0.06, friction=0.5)
    return scene


def flag(material: pl.YarnCloth, cells: int) -> pl.Scene:
    """Upright, held at its left edge, in wind from the left."""
    scene = pl.Scene()
    cloth = sheet(scene, material, cells, upright=True, warp=(1, 0, 0))
    cloth.pin(cloth.mesh.points[:, 0] < -0.4999 * SIDE)
    scene.wind = pl.Wind(WIND, drag=1.0, lift=0.5)
    return scene


SCENES: dict[str, tuple[Callable[..., pl.Scene], float]] = {  # and seconds
    "stretch_warp": (stretch, 0.4),
    "stretch_weft": (lambda material, cells: stretch(material, cells, 1), 0.3),
    "drape": (drape, 0.3),
    "wrinkles": (drape, 0.2),
    "flag": (flag, 0.4),
}


def run(scene: pl.Scene, solver: pl.Solver, step: float, seconds: float) -> dict[str, Any]:
    """Positions every 10 ms and what a step costs; where the run blows up, what is said of it."""
    sim = pl.Simulation(
        scene, solver=solver, precision="double", frame_rate=100, substeps=round(0.01 / step), threads=1
    )
    frames, began = [sim.positions.copy()], time.process_time()
    try:
        for _ in range(round(100 * seconds)):
            sim.advance()
            frames.append(sim.positions.copy())
    except pl.SimulationError as error:
        return {"frames": np.array(frames), "blows_up": str(error), "velocities": sim.velocities}
    cpu = 1e3 * (time.process_time() - began) * step / seconds
    return {"frames": np.array(frames), "velocities": sim.velocities, "cpu_ms_of_a_step": cpu}


def folds(mesh: pl.TriMesh, x: np.ndarray) -> int:
    """Along the hem of a draped sheet: how often its distance from the middle has a maximum, ripples left out."""
    (loop, *_) = mesh.boundary_loops()
    radius = np.linalg.norm(x[loop[:-1], :2], axis=1)
    spectrum = np.fft.rfft(radius)
    spectrum[len(radius) // 6 :] = 0
    smooth = np.fft.irfft(spectrum, len(radius))
    return int(((smooth > np.roll(smooth, 1)) & (smooth > np.roll(smooth, -1))).sum())


def hem_wavelength(mesh: pl.TriMesh, x: np.ndarray) -> float:
    """[m] of the hem's height and of its distance from the middle: root mean square of wave numbers, by their power."""
    (loop, *_) = mesh.boundary_loops()
    hem = x[loop[:-1]]
    power = sum(np.abs(np.fft.rfft(part)[1:]) ** 2 for part in (np.linalg.norm(hem[:, :2], axis=1), hem[:, 2]))
    k = np.arange(1, len(power) + 1)
    return 4 * SIDE / float(np.sqrt((k**2 * power).sum() / power.sum()))


def curvature(mesh: pl.TriMesh, x: np.ndarray) -> float:
    """[1/m] root mean square over the inner edges: the angle between both normals over the way between both middles in
    the flat sheet, which does not vanish where triangles lie on each other.
    """
    corners = x[mesh.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    edges = np.sort(mesh.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    order = np.lexsort(edges.T)
    twice = np.flatnonzero((edges[order[1:]] == edges[order[:-1]]).all(axis=1))
    one, other = order[twice] // 3, order[twice + 1] // 3
    angle = np.arccos(np.clip((normals[one] * normals[other]).sum(axis=1), -1, 1))
    middles = mesh.points[mesh.triangles].mean(axis=1)
    return float(np.sqrt(np.mean((angle / np.linalg.norm(middles[one] - middles[other], axis=1)) ** 2)))


def numbers_of(name: str, scene: pl.Scene, done: dict[str, Any]) -> dict[str, Any]:
    """What tells one fabric from another."""
    mesh, frames = scene.bodies[0].mesh, done["frames"]
    n = mesh.n_vertices
    x, v = frames[-1][:n], done["velocities"][:n]
    own = {key: done[key] for key in ("blows_up", "cpu_ms_of_a_step") if key in done}
    own["speed_mm_s"] = 1e3 * float(np.sqrt((v**2).sum(axis=1).mean()))
    if name.startswith("stretch"):
        axis = 0 if name.endswith("warp") else 1
        middle = np.abs(mesh.points[:, axis]) < 0.01 * SIDE
        across = x[middle, 1 - axis]
        own |= {"width_in_the_middle": float(np.ptp(across)) / SIDE, "height": float(np.ptp(x[:, 2])) / SIDE}
    if name in ("drape", "wrinkles"):
        own |= {"lowest_mm": 1e3 * float(x[:, 2].min()), "folds": folds(mesh, x),
                "hem_wavelength_mm": 1e3 * hem_wavelength(mesh, x), "curvature": curvature(mesh, x)}  # fmt: skip
    if name == "flag":
        tip = frames[20:, :n][:, mesh.points[:, 0] > 0.4999 * SIDE].mean(axis=1)
        own |= {"reach": float(tip[:, 0].mean()) / SIDE + 0.5, "drop": -float(tip[:, 2].mean()) / SIDE,
                "swing_mm": 1e3 * float(tip[:, 1].std())}  # fmt: skip
    return own


def beside_vbd(name: str, material: pl.YarnCloth, cells: int, x: np.ndarray) -> float:
    """Root mean square distance, in percent of the side, from where vertex block descent comes to rest."""
    make, seconds = SCENES[name]
    other = run(make(material, cells), pl.VBD(iterations=40), 1 / 600, seconds)
    return 100 * float(np.sqrt(((other["frames"][-1] - x) ** 2).sum(axis=1).mean())) / SIDE


def draw(name: str, ends: dict[str, tuple[pl.Scene, np.ndarray]]) -> plt.Figure:
    """The last positions side by side."""
    figure, axes = plt.subplots(1, len(ends), figsize=(2.6 * len(ends), 2.6), layout="constrained", squeeze=False)
    for axis, (label, (scene, x)) in zip(axes[0], ends.items(), strict=True):
        mesh = scene.bodies[0].mesh
        shown = Surface(mesh.triangles, bands(mesh.points, mesh.triangles, 0, 12, (0.28, 0.52, 0.78)))
        azimuth, elevation = (-75, 12) if name == "flag" else (-60, 35)
        axis.imshow(pictures.moments([x], shown, azimuth=azimuth, elevation=elevation, height=260)[0])
        axis.set_title(label, fontsize=8)
        axis.axis("off")
    return figure


def main() -> None:
    folder, names = Path(sys.argv[1]), sys.argv[2:] or list(SCENES)
    for name in names:
        make, seconds = SCENES[name]
        found, ends = {}, {}
        fine = {"satin01": "Satin, yarns of a tenth"}
        fabrics = {"satin1": "Satin", **fine} if name == "wrinkles" else FABRICS | (fine if name == "drape" else {})
        cells = FINE if name == "wrinkles" else CELLS
        for file, label in fabrics.items():
            material = pl.YarnCloth(folder / f"{file}.json")
            scene = make(material, cells)
            done = run(scene, GPBD, STEP, seconds)
            found[label] = numbers_of(name, scene, done)
            if name.startswith("stretch") and "blows_up" not in done:
                found[label]["from_vbd_percent"] = beside_vbd(name, material, cells, done["frames"][-1])
            ends[label] = (scene, done["frames"][-1])
            print(name, label, found[label], flush=True)
        outputs.save(f"fabrics_{name}", draw(name, ends), found, RESULTS)


if __name__ == "__main__":
    main()
