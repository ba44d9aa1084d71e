"""`make check-device`: run every kernel of every solver in oclgrind, which reports data races and reads out of
bounds, on scenes with padding, vertices of many neighbours, all elements, barriers of laws, inverted tets, and contact.

Needs oclgrind (Debian: apt install oclgrind) and the extra `device`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.device import vbd_source
from pliant.device.opencl import SCHEDULES, open_device
from pliant.errors import PliantError
from pliant.solvers import Execution


def _thrown(scene: pl.Scene, solver: pl.Solver | None = None) -> pl.IncrementalPotential:
    rng = np.random.default_rng(3)
    for body in scene.bodies:
        body.set_velocities(rng.normal(scale=0.3, size=(body.n_vertices, 3)))
    return pl.Simulation(scene, solver or pl.VBD(), frame_rate=50, substeps=1, device="opencl").problem()


def solid() -> pl.IncrementalPotential:
    """A law with a barrier and one without, damped in both forms, with pins, lines and planes."""
    scene, mesh = pl.Scene(), pl.shapes.box((0.2, 0.1, 0.1), (2, 1, 1))
    body = scene.add_solid(mesh, pl.NeoHookean.from_young(1e5, 0.3), damping=1e-3)
    body.pin([0])
    body.constrain_to_line([1], (1.0, 0.5, 0.0))
    body.constrain_to_plane([2], (0.0, 1.0, 0.0))
    far = mesh.transformed(translation=(1, 0, 0))
    scene.add_solid(far, pl.Corotated.from_young(1e5, 0.3), damping=1e-3, damping_form="vertex_block")
    return _thrown(scene)


def sheets() -> pl.IncrementalPotential:
    """Membranes, yarns, bending, rods, yarn cloth, and a hub with more neighbours than a packed group has room for."""
    scene, mesh = pl.Scene(), pl.shapes.cloth(size=(0.3, 0.2), cells=(3, 2))
    law = pl.StVenantKirchhoff.from_young(100.0, 0.3)
    scene.add_cloth(mesh, law, density=0.2, bending=1e-3, warp=20.0, bending_model="dihedral").pin([0])
    points, edges = pl.shapes.rope(((0, 0, 1), (1, 0, 1)), 5)
    scene.add_springs(points, edges, stiffness=300.0, mass=0.01, bending=0.01)
    points, edges = pl.shapes.wheel(0.5, 140)
    scene.add_springs(points, edges, stiffness=50.0, mass=0.01)
    scene.add_cloth(pl.shapes.cloth((0.04, 0.03), (2, 2)), pl.YarnCloth.example())
    return _thrown(scene)


def contact() -> pl.IncrementalPotential:
    """Two cubes that touch each other and the ground, with friction."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=3e3, friction=0.4)
    for k, centre in enumerate(((0, 0, 0.0485), (0.02, 0.01, 0.1465))):
        mesh = pl.shapes.box(size=(0.1,) * 3, cells=(1,) * 3).transformed(translation=centre)
        scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3)).set_velocities((0.3 * k, 0.0, -0.1))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    return pl.Simulation(scene, pl.VBD(), frame_rate=100, substeps=1, device="opencl").problem()


def converted() -> pl.IncrementalPotential:
    """Tets of a law with a barrier, one body of them inverted and converted, and patches."""
    scene, mesh = pl.Scene(), pl.shapes.box((0.2, 0.1, 0.1), (2, 1, 1))
    law = pl.Invertible(pl.NeoHookean.from_young(1e5, 0.3))
    scene.add_solid(mesh, law).set_positions(mesh.points * (1, 1, -0.3))
    scene.add_solid(mesh.transformed(translation=(1, 0, 0)), law)
    far = mesh.transformed(translation=(2, 0, 0))
    scene.add_solid(far, pl.StableNeoHookean.from_young(1e5, 0.45), element="patch")
    return _thrown(scene)


def corrections() -> pl.IncrementalPotential:
    """Solids with and without a barrier, one of them inverted, membranes, bending and springs."""
    scene, mesh = pl.Scene(), pl.shapes.box((0.2, 0.1, 0.1), (2, 1, 1))
    scene.add_solid(mesh, pl.NeoHookean.from_young(1e5, 0.3)).set_positions(mesh.points * (1, 1, -0.3))
    scene.add_solid(mesh.transformed(translation=(1, 0, 0)), pl.Corotated.from_young(1e5, 0.3)).pin([0])
    sheet = pl.shapes.cloth(size=(0.3, 0.2), cells=(3, 2))
    scene.add_cloth(
        sheet, pl.StVenantKirchhoff.from_young(100.0, 0.3), density=0.2, bending=1e-3, bending_model="coupled"
    ).pin([0])
    points, edges = pl.shapes.rope(((0, 0, 1), (1, 0, 1)), 5)
    scene.add_springs(points, edges, stiffness=300.0, mass=0.01)
    return _thrown(scene, pl.GPBD(mode="jacobi"))


def grains() -> pl.IncrementalPotential:
    """Spheres between two obstacles and each other, with friction, and a rope."""
    scene = pl.Scene()
    grid = np.stack(np.meshgrid(*(np.arange(3),) * 3), axis=-1).reshape(-1, 3) * 0.098 + (0, 0, 0.049)
    scene.add_particles(grid, 0.05, density=1000.0)
    scene.add_plane((0, 0, 0), (0.1, 0, 1), friction=0.5)
    scene.add_sphere((0.1, 0.1, 0.4), 0.12)
    points, edges = pl.shapes.rope(((1, 0, 1), (2, 0, 1)), 5)
    scene.add_springs(points, edges, stiffness=1e4, mass=0.01, one_sided=True)
    return pl.Simulation(scene, frame_rate=100, substeps=1, device="opencl").problem()


SCENES: dict[str, Callable[[], pl.IncrementalPotential]] = {
    "solid": solid, "sheets": sheets, "converted": converted, "contact": contact, "corrections": corrections,
    "grains": grains,
}  # fmt: skip

_CHEBYSHEV = {schedule: (pl.Chebyshev(pl.VBD(), 0.8), schedule) for schedule in SCHEDULES}
_DESCENTS = {
    "descent": (pl.Chebyshev(pl.GradientDescent(), 0.8), "items"),
    "block Jacobi": (pl.BlockJacobi(), "items"),
}
#: Solvers that run a scene, and the schedules of each.
RUNS: dict[str, dict[str, tuple[pl.Solver, str]]] = {
    "solid": _CHEBYSHEV | _DESCENTS,
    "sheets": _CHEBYSHEV | _DESCENTS,
    "converted": _CHEBYSHEV,
    "contact": _CHEBYSHEV | _DESCENTS,
    "corrections": {"GPBD": (pl.GPBD(mode="jacobi", newton_iterations=3), "items")},
    "grains": {
        type(solver).__name__: (solver, "items")
        for solver in (pl.VelocityTimeStepping(), pl.SequentialPositions(), pl.PositionBased())
    },
}


def run_inside(name: str) -> None:
    """Two iterations of a scene with each of its solvers; in oclgrind."""
    if "oclgrind" not in open_device(0).device.platform.name.lower():
        raise SystemExit("not in oclgrind")
    problem = SCENES[name]()
    for run, (solver, schedule) in RUNS[name].items():
        work = solver.init(problem, Execution("single", 0, pl.OpenCL(schedule=schedule)))
        solver.begin_step(problem, work)
        solver.sweep(problem, problem.x_guess.copy(), work, 2)
        print(f"{name}: {run} ran", flush=True)


def plant_race() -> None:
    """Take the barriers out of the sums of a work-group, so that oclgrind has something to find."""
    vbd_source._SOLVE_GROUPS = vbd_source._SOLVE_GROUPS.replace("BARRIER;", "")


def reports_of(name: str, *options: str) -> list[str]:
    """What oclgrind reports of a scene, line by line."""
    program = shutil.which("oclgrind")
    if program is None:
        raise PliantError("oclgrind is not installed: apt install oclgrind (Debian, Ubuntu).")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "oclgrind.log"
        command = [program, "--data-races", "--log", str(log), sys.executable, __file__, "--inside", name, *options]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode or done.stdout.count(" ran") != len(RUNS[name]):
            raise PliantError(f"{name} did not run in oclgrind: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return log.read_text().splitlines() if log.exists() else []


def main() -> None:
    if "--inside" in sys.argv:
        if "--plant" in sys.argv:
            plant_race()
        run_inside(sys.argv[sys.argv.index("--inside") + 1])
        return
    found = 0
    for name in SCENES:
        lines = [line for line in reports_of(name) if line.strip()]
        found += len(lines)
        print(f"{name}: {'no race, no read out of bounds' if not lines else 'reports'}", *lines[:40], sep="\n  ")
    if not any("race" in line.lower() for line in reports_of("solid", "--plant")):
        raise SystemExit("a race that was planted was not found")
    print("a race that was planted was found")
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main()
