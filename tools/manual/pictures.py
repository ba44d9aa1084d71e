"""Draw the pictures of the tutorials and of the tuning guide into docs/images.

python tools/manual/pictures.py [NAME ...]

Needs the extras `render` and `plot`. Pictures of tutorials show the scene that the code of the page builds.
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl
from pliant.viewer.movies import render
from pliant.viewer.stage import View

DOCS = Path(__file__).resolve().parents[2] / "docs"
HEIGHT = 220  # of a picture [pixels]
SLOPE = np.radians(20.0)
#: Tutorials with a picture: page, seconds that are shown, options of the view.
TUTORIALS: dict[str, tuple[str, tuple[float, ...], dict[str, Any]]] = {
    "solid": ("solid", (0.0, 0.067, 0.133, 1.0), {"field": "von_mises"}),
    "cloth": ("cloth", (0.1, 0.3, 0.6, 1.0), {"azimuth": 60.0}),
    "contact": ("contact", (0.0, 0.2, 0.35, 0.5), {}),
    "rigid": ("rigid-and-soft", (0.0, 0.05, 0.15, 1.5), {}),
}


def draw_tutorial(name: str) -> None:
    """Run the code of a page with a recorder on its first simulation, and draw some moments."""
    page, moments, options = TUTORIALS[name]
    code = "\n".join(re.findall(r"```python\n(.*?)```", (DOCS / "tutorials" / f"{page}.md").read_text(), re.DOTALL))
    code = re.sub(r"(?m)^(sim = pl\.Simulation.*)$", r"\1; recorder = sim.record('shown.npz')", code)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        names: dict[str, Any] = {}
        exec(code, names)
        names["recorder"].close()
        draw("shown.npz", name, moments, options)


def draw(result: str, name: str, moments: Sequence[float], options: dict[str, Any]) -> None:
    from pliant.io.results import open_result

    with open_result(result) as shown:
        near = [float(min(shown.times, key=lambda t, m=moment: abs(t - m))) for moment in moments]
        render([shown], DOCS / "images" / f"{name}.png", View(height=HEIGHT, **options), moments=near)


# --- tuning -----------------------------------------------------------------------------------------------------------


def cantilever(substeps: int = 5, solver: Any = None, damping: float = 0.0, youngs_modulus: float = 5e5) -> Any:
    """README's beam, with coarser cells."""
    mesh = pl.shapes.beam(length=1.0, width=0.1, height=0.1, cells=(20, 2, 2), split="alternating")
    scene = pl.Scene()
    material = pl.StableNeoHookean.from_young(youngs_modulus, 0.45)
    beam = scene.add_solid(mesh, material, density=1000.0, damping=damping, name="beam")
    beam.pin(mesh.points[:, 0] < -0.499)
    return pl.Simulation(scene, solver, frame_rate=60, substeps=substeps), beam


def tip(sim: Any, beam: Any, frames: int) -> np.ndarray:
    """Height [m] of the free end after each frame."""
    end = beam.positions[:, 0] > 0.499
    return np.array([beam.positions[end, 2].mean() for _ in sim.frames(frames)])


def curves(name: str, lines: dict[str, np.ndarray], frame_rate: float = 60.0, label: str = "tip, z [m]") -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.5, 2.6), layout="constrained")
    for text, values in lines.items():
        axes.plot(np.arange(1, len(values) + 1) / frame_rate, values, label=text)
    axes.set(xlabel="time [s]", ylabel=label)
    figure.legend(frameon=False, loc="outside right upper")  # beside the curves, not over them
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(DOCS / "images" / f"{name}.png", dpi=90)
    plt.close(figure)


def beside(name: str, scenes: dict[str, Callable[[], Any]], frames: int, **options: Any) -> None:
    """Scenes after so many frames, side by side with words below."""
    from pliant.io.results import open_result

    with tempfile.TemporaryDirectory() as folder:
        results = []
        for k, make in enumerate(scenes.values()):
            sim = make()
            with sim.record(f"{folder}/{k}.npz", every=frames):
                for _ in sim.frames(frames):
                    pass
            results.append(open_result(f"{folder}/{k}.npz"))
        last = float(results[0].times[-1])
        view = View(height=HEIGHT, **options)
        render(results, DOCS / "images" / f"{name}.png", view, list(scenes), moments=[last])
        for result in results:
            result.close()


def tuning_step() -> None:
    names = {1: "1 substep", 5: "5 substeps", 20: "20 substeps"}
    curves("tuning-step", {name: tip(*cantilever(n, youngs_modulus=2e6), 150) for n, name in names.items()})


def tuning_damping() -> None:
    lines = {f"damping = {k:g} s": tip(*cantilever(10, damping=k, youngs_modulus=2e6), 120) for k in (0.0, 0.005, 0.05)}
    curves("tuning-damping", lines)


def tuning_iterations() -> None:
    scenes = {
        "VBD(iterations=5)": lambda: cantilever(solver=pl.VBD(iterations=5))[0],
        "VBD(iterations=100)": lambda: cantilever(solver=pl.VBD(iterations=100))[0],
        "Auto()": lambda: cantilever()[0],
    }
    beside("tuning-iterations", scenes, 30, azimuth=-90.0, elevation=10.0)


def tuning_stiffness() -> None:
    scenes = {
        f"E = {e:.0e} Pa".replace("+0", ""): lambda e=e: cantilever(youngs_modulus=e, damping=0.02)[0]
        for e in (2e5, 1e6, 5e6)
    }
    beside("tuning-stiffness", scenes, 90, azimuth=-90.0, elevation=10.0)


def tuning_tolerance() -> None:
    """The same beam by Auto, from loose to strict."""
    lines = {}
    for tolerance in (0.5, 0.05, 0.005):
        sim, beam = cantilever(solver=pl.Auto(tolerance=tolerance))
        iterations: list[int] = []
        sim.observers.append(lambda state, report, own=iterations: own.append(report.iterations))
        heights = tip(sim, beam, 60)
        lines[f"tolerance={tolerance:g}:\n{np.mean(iterations):.0f} iterations per step"] = heights
    curves("tuning-tolerance", lines)


def sliding(friction: float) -> tuple[Any, Any]:
    """A block on a slope of 20 degrees, whose tangent is 0.36."""
    s, c = np.sin(SLOPE), np.cos(SLOPE)
    scene = pl.Scene(contact=pl.Contact(friction=friction))
    scene.add_plane((0, 0, 0), (s, 0, c), friction=friction)
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    cells = pl.shapes.box(size=(0.2, 0.2, 0.1), cells=(4, 4, 2))
    cells = cells.transformed(rotation=turn, translation=0.0505 * np.array([s, 0, c]))
    block = scene.add_solid(cells, pl.StableNeoHookean.from_young(1e5, 0.3), damping=0.01, name="block")
    return pl.Simulation(scene, frame_rate=60, substeps=5), block


def way(sim: Any, block: Any, frames: int) -> np.ndarray:
    """How far [m] the block is down the slope after each frame."""
    start, down = block.positions.mean(axis=0), np.array([np.cos(SLOPE), 0.0, -np.sin(SLOPE)])
    return np.array([(block.positions.mean(axis=0) - start) @ down for _ in sim.frames(frames)])


def tuning_friction() -> None:
    lines = {f"friction={mu:g}": way(*sliding(mu), 60) for mu in (0.1, 0.3, 0.5)}
    curves("tuning-friction", lines, label="distance [m]")


def resting(stiffness: float | None) -> Any:
    """A heavy block on a soft one."""
    scene = pl.Scene(contact=pl.Contact(stiffness=stiffness))
    scene.add_plane()
    cells = pl.shapes.box(size=(0.2, 0.2, 0.1), cells=(4, 4, 2))
    for k, (density, modulus) in enumerate(((300.0, 1e5), (3000.0, 1e6))):
        block = scene.add_solid(cells, pl.StableNeoHookean.from_young(modulus, 0.3), density=density, damping=0.01)
        block.set_positions(cells.points + np.array([0.0, 0.0, 0.05 + 0.102 * k]))
    return pl.Simulation(scene, frame_rate=60, substeps=5)


def tuning_contact() -> None:
    scenes = {"stiffness=100": lambda: resting(100.0), "pl.Contact()": lambda: resting(None)}
    beside("tuning-contact", scenes, 45, elevation=6.0)


TUNING = {f.__name__.replace("_", "-"): f for f in
          (tuning_step, tuning_damping, tuning_iterations, tuning_tolerance, tuning_stiffness, tuning_contact,
           tuning_friction)}  # fmt: skip


def main(names: list[str]) -> None:
    for name in names or [*TUTORIALS, *TUNING]:
        TUNING[name]() if name in TUNING else draw_tutorial(name)
        print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
