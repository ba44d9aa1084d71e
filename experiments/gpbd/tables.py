"""What GPBD costs on yarn cloth: Tables 1, 2 and 3 and Figure 4.

python -m experiments.gpbd.tables FOLDER     with the fabrics of Sperl et al., stock1.json and others

CPU milliseconds on one thread, the least of some runs, of the iterations alone, as the paper times its kernels.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from experiments.gpbd.fabrics import FABRICS, SIDE, STEP
from experiments.vbd import outputs
from numba import njit

import pliant as pl
from pliant.elements.yarn_strains import yarn_strains
from pliant.lanes import load, make_zero, store
from pliant.lanes.host import default_width
from pliant.materials.yarn_density import yarn_expansion
from pliant.solvers import Execution

RESULTS = Path(__file__).with_name("results")
#: i_G, i_N and theirs [ms] of Table 1: the draped sheet, X and Y; then the flag, where its iterations are others.
TABLE_1 = {
    ("satin1", 64): (3, 1, 17), ("basket1", 64): (3, 1, 17), ("rib1", 64): (3, 1, 17), ("honey1", 64): (3, 1, 17),
    ("stock1", 64): (3, 1, 18), ("satin1", 128): (3, 1, 70), ("basket1", 128): (3, 1, 69), ("rib1", 128): (3, 1, 71),
    ("honey1", 128): (5, 1, 123), ("stock1", 128): (3, 2, 208),
}  # fmt: skip
FIGURE_4 = {"GPBD": (8, 16, 32, 64, 128), "VBD": (8, 16, 32, 64, 128), "Newton": (8, 16)}
WIDTH = default_width("double")
zero = make_zero("double", WIDTH)


def sheet(material: pl.YarnCloth, cells: int, step: float = STEP) -> pl.Simulation:
    """Stretched by a tenth at once, so that no strain is zero."""
    mesh = pl.shapes.cloth(size=(SIDE, SIDE), cells=(cells, cells))
    scene = pl.Scene()
    body = scene.add_cloth(mesh, material)
    body.set_positions(mesh.points * [1.1, 1.0, 1.0] + np.random.default_rng(0).normal(0, 1e-4, mesh.points.shape))
    body.pin(np.abs(mesh.points[:, 0]) > 0.4999 * SIDE)
    return pl.Simulation(scene, solver=pl.VBD(), precision="double", frame_rate=1 / step, substeps=1, threads=1)


def cost(problem, solver: pl.Solver, iterations: int, precision: str = "double", runs: int = 3) -> float:
    """CPU milliseconds of so many iterations."""
    work, least = solver.init(problem, Execution(precision, 1)), np.inf
    for run in range(runs + 1):
        x = problem.y.copy()
        solver.begin_step(problem, work)
        began = time.process_time()
        solver.sweep(problem, x, work, iterations)
        if run:
            least = min(least, time.process_time() - began)
    return 1e3 * least


def jacobi(newton: int = 1, line_search: bool = True) -> pl.GPBD:
    return pl.GPBD(mode="jacobi", relaxation=1.5, newton_iterations=newton, line_search=line_search)


def table_1(folder: Path) -> dict:
    found = {}
    for (file, cells), (i_g, i_n, theirs) in TABLE_1.items():
        problem = sheet(pl.YarnCloth(folder / f"{file}.json"), cells).problem()
        ours = cost(problem, jacobi(i_n), i_g)
        found[f"{FABRICS[file]} {cells}"] = {"i_G": i_g, "i_N": i_n, "theirs_ms": theirs, "cpu_ms": ours}
        print(file, cells, found[f"{FABRICS[file]} {cells}"], flush=True)
    return found


def table_2(folder: Path) -> dict:
    garment = pl.Garment.vest(spacing=0.0068)
    scene = pl.Scene()
    body = scene.add_garment(garment, pl.YarnCloth(folder / "stock1.json"))
    worn = pl.Simulation(scene, precision="double", frame_rate=1 / STEP, substeps=1, threads=1).problem()
    fine = sheet(pl.YarnCloth(folder / "satin01.json"), 64).problem()
    block, mesh = pl.Scene(), pl.shapes.box((1.0, 1.0, 1.0), 25, "kuhn")
    cube = block.add_solid(mesh, pl.NeoHookean.from_young(1e5, 0.45), density=1000.0)
    noise = np.random.default_rng(0).normal(0, 0.05 / 25, mesh.points.shape)
    cube.set_positions(mesh.points * [1.0, 1.0, 0.8] + noise)  # at rest tets need one Newton iteration of three
    solid = pl.Simulation(block, frame_rate=1000, substeps=1, threads=1).problem()
    sizes = {"vertices": body.n_vertices, "elements": garment.mesh.n_triangles}
    return {
        "vest": {**sizes, "theirs_ms": 116.9, "cpu_ms": cost(worn, jacobi(), 3)},
        "cube": {"elements": 93750, "theirs_ms": 1.336, "cpu_ms": cost(solid, jacobi(3), 3, "single")},
        "satin of a tenth": {"elements": 8192, "theirs_ms": 70.8, "cpu_ms": cost(fine, jacobi(), 3)},
    }  # fmt: skip


@njit(error_model="numpy")
def evaluate(corners, numbers, table, out):
    """Strains, their derivatives, psi and its derivatives of packs of elements: corners (packs, 18, width)."""
    like = zero()
    for p in range(len(corners) // (18 * WIDTH)):
        at = 18 * p * WIDTH
        x = (
            _vector(corners, at, like), _vector(corners, at + 3 * WIDTH, like), _vector(corners, at + 6 * WIDTH, like),
            _vector(corners, at + 9 * WIDTH, like), _vector(corners, at + 12 * WIDTH, like),
            _vector(corners, at + 15 * WIDTH, like),
        )  # fmt: skip
        n = 8 * p * WIDTH
        b1, b2 = _vector(numbers, n, like), _vector(numbers, n + 2 * WIDTH, like)
        s, S = yarn_strains(x, (b1[0], b1[1]), (b2[0], b2[1]), _vector(numbers, n + 5 * WIDTH, like))
        psi, g, H = yarn_expansion(table, s)
        total = psi + g[0] + g[1] + g[2] + g[3] + g[4] + g[5]
        for k in range(21):
            total = total + H[k]
        for k in range(6):
            for i in range(6):
                total = total + (S[k][i][0] + S[k][i][1] + S[k][i][2])
        store(out, p * WIDTH, total)


@njit(error_model="numpy")
def _vector(values, at, like):
    return load(values, at, like), load(values, at + WIDTH, like), load(values, at + 2 * WIDTH, like)


def table_3(folder: Path, cells: int = 64) -> dict:
    """Of one Jacobi iteration with one Newton iteration, by differences."""
    simulation = sheet(pl.YarnCloth(folder / "satin1.json"), cells)
    problem = simulation.problem()
    block = next(block for block in problem.blocks if type(block).__name__ == "YarnTriangles")
    count = len(block.elements) // WIDTH
    corners = problem.y[block.elements[: count * WIDTH]].reshape(count, WIDTH, 18).swapaxes(1, 2).ravel()
    rows = np.column_stack([block.gradients[:, 1], block.gradients[:, 2], block.areas, block.present])
    numbers = rows[: count * WIDTH].reshape(count, WIDTH, 8).swapaxes(1, 2).ravel()
    corners, numbers, out = np.ascontiguousarray(corners), np.ascontiguousarray(numbers), np.empty(count * WIDTH)
    evaluated, table = np.inf, block.material.table(np.float64)
    for run in range(6):
        began = time.process_time()
        evaluate(corners, numbers, table, out)
        evaluated = min(evaluated, time.process_time() - began) if run else np.inf
    whole, without = (cost(problem, jacobi(line_search=search), 5) / 5 for search in (True, False))
    parts = {"strains, energy and derivatives": 1e3 * evaluated, "line search": whole - without}
    parts["linear solve and all else"] = without - 1e3 * evaluated
    return {name: {"cpu_ms": ms, "percent": 100 * ms / whole} for name, ms in parts.items()}


def figure_4(folder: Path) -> dict:
    """A step of 1e-4 s of stretched satin: 3 iterations of GPBD and VBD, Newton's method until it has converged."""
    solvers = {"GPBD": (jacobi(), 3), "VBD": (pl.VBD(), 3), "Newton": (pl.Newton(residual=1e-3), 10)}
    found: dict = {}
    for name, resolutions in FIGURE_4.items():
        for cells in resolutions:
            problem = sheet(pl.YarnCloth(folder / "satin1.json"), cells).problem()
            ms = cost(problem, *solvers[name], runs=1 if name == "Newton" else 4)
            found.setdefault(name, {})[cells] = ms
            print(name, cells, ms, flush=True)
    return found


def draw(curves: dict) -> plt.Figure:
    figure, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    for name, points in curves.items():
        ax.loglog([(c + 1) ** 2 for c in points], list(points.values()), "o-", label=name)
    ax.set(xlabel="vertices", ylabel="CPU ms of a step, one thread")
    ax.legend(fontsize=8)
    return figure


def main() -> None:
    folder = Path(sys.argv[1])
    numbers = {"table 3": table_3(folder), "table 2": table_2(folder)}
    print(numbers, flush=True)
    numbers |= {"table 1": table_1(folder), "figure 4": figure_4(folder)}
    outputs.save("yarn_tables", draw(numbers["figure 4"]), numbers, RESULTS)


if __name__ == "__main__":
    main()
