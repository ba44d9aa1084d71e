"""Vertex block descent on sheets, threads, bending, springs, rods and all of them together."""

from collections.abc import Callable

import numpy as np
import pytest

import pliant as pl
from pliant.geometry import colour_vertices, vertex_graph
from pliant.materials import SOLID_LAWS
from pliant.solvers.contract.loop import Execution
from pliant.solvers.machinery.vbd_tables import build_tables
from pliant.solvers.vbd_reference import vbd_sweep


def sheet(scene: pl.Scene, law=pl.StVenantKirchhoff, **options) -> None:
    mesh = pl.shapes.cloth(size=(1, 0.8), cells=(4, 3))
    material = law.from_young(100.0, 0.0 if law is pl.ARAP else 0.3)
    body = scene.add_cloth(mesh, material, density=0.2, **{"bending": 0.0, **options})
    body.pin([0, 3])


def add_rope(scene: pl.Scene, **options) -> None:
    points, edges = pl.shapes.rope(((0, 0, 1), (1, 0, 1), (1, 1, 1)), 9)
    scene.add_springs(points, edges, stiffness=300.0, mass=0.01, **options).pin([0])


def add_wheel(scene: pl.Scene) -> None:
    """A hub with so many spokes that it gets a pack of its own."""
    points, edges = pl.shapes.wheel(0.5, 90)
    scene.add_springs(points, edges, stiffness=50.0, mass=0.01).pin([0, 45])


def add_block(scene: pl.Scene) -> None:
    mesh = pl.shapes.box(size=(0.3, 0.3, 0.3), cells=(2, 2, 2))
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e4, 0.3)).pin([0, 1])


def add_everything(scene: pl.Scene) -> None:
    sheet(scene, warp=20.0, bending=1e-3)
    sheet(scene, pl.NeoHookean, bending=1e-3, bending_model="dihedral")
    add_rope(scene, bending=1e-2)
    add_block(scene)


SCENES: dict[str, Callable[[pl.Scene], None]] = {
    "membrane": sheet,
    "threads": lambda scene: sheet(scene, warp=30.0, weft=10.0, warp_direction=(1, 1, 0)),
    "quadratic": lambda scene: sheet(scene, bending=0.01, bending_model="quadratic"),
    "dihedral": lambda scene: sheet(scene, bending=0.01, bending_model="dihedral"),
    "springs": add_rope,
    "rope": lambda scene: add_rope(scene, one_sided=True),
    "rod": lambda scene: add_rope(scene, bending=0.01),
    "wheel": add_wheel,
    "everything": add_everything,
}


def problem_of(build: Callable[[pl.Scene], None], h: float = 1 / 50) -> pl.IncrementalPotential:
    """A step of the scene, thrown about a little so that no element is at rest."""
    scene = pl.Scene()
    build(scene)
    rng = np.random.default_rng(3)
    for body in scene.bodies:
        body.set_velocities(rng.normal(scale=0.3, size=(body.n_vertices, 3)))
    return pl.Simulation(scene, pl.Newton(), frame_rate=1 / h, substeps=1).problem()


def colours_of(problem: pl.IncrementalPotential) -> np.ndarray:
    return colour_vertices(*vertex_graph([b.elements for b in problem.model.blocks], problem.model.n_vertices))


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("width", [pytest.param(4, marks=pytest.mark.slow), 8])
def test_a_sweep_equals_the_plain_one(name: str, width: int) -> None:
    problem = problem_of(SCENES[name])
    solver = pl.VBD()
    work = build_tables(problem, Execution("double", 1), False, False, width=width)
    x = problem.x_guess.copy()
    solver.begin_step(problem, work)
    solver.sweep(problem, x, work, 3)
    expected = problem.x_guess
    for _ in range(3):
        expected = vbd_sweep(problem, expected, colours_of(problem))
    scale = np.abs(expected - problem.x_guess).max()
    np.testing.assert_allclose(x, expected, atol=1e-11 * scale)


@pytest.mark.parametrize("name", SCENES)
def test_converged_descent_is_newtons_minimum(name: str) -> None:
    problem = problem_of(SCENES[name])
    newton = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=60, residual=1e-10))
    descent = pl.solve(problem, pl.VBD(), stop=pl.Stop(iterations=20000, residual=1e-8), measure_every=500)
    assert newton.residuals[-1] < 1e-9
    assert descent.residuals[-1] < 1e-8
    moved = np.abs(newton.x - problem.x_guess).max()
    np.testing.assert_allclose(descent.x, newton.x, atol=1e-6 * moved)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["membrane", "rope", "everything"])
def test_line_search_never_raises_the_energy(name: str) -> None:
    problem = problem_of(SCENES[name], h=1 / 10)
    report = pl.solve(problem, pl.VBD(line_search=True), stop=pl.Stop(iterations=30))
    energies = np.array(report.energies)
    assert np.all(np.diff(energies) <= 1e-12 * np.abs(energies[:-1]))


def test_threads_do_not_change_bits() -> None:
    problem = problem_of(add_everything)
    results = []
    for threads in (1, 2, 3):
        x = pl.solve(problem, pl.VBD(), stop=pl.Stop(iterations=4), precision="single", threads=threads).x
        results.append(x)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


# Each law is compiled for it, which takes seconds: one of each kind is quick.
QUICK_LAWS = ("StableNeoHookean", "Corotated")
MEMBRANES = [
    pytest.param(law, id=name, marks=() if name in QUICK_LAWS else pytest.mark.slow) for name, law in SOLID_LAWS.items()
]


@pytest.mark.slow
@pytest.mark.parametrize("law", MEMBRANES)
def test_every_law_is_a_membrane(law: type) -> None:
    """Single precision reaches Newton's minimum of a stretched sheet to its rounding."""
    scene = pl.Scene()
    sheet(scene, law)
    body = scene.bodies[0]
    body.set_positions(body.initial_positions * [1.15, 1.1, 1.0])
    sim = pl.Simulation(scene, pl.VBD(iterations=300), frame_rate=20, substeps=1)
    problem = sim.problem()
    newton = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=60, residual=1e-9))
    sim.step()
    moved = np.abs(newton.x - problem.x_prev).max()
    np.testing.assert_allclose(sim.positions, newton.x, atol=2e-4 * moved)


def test_a_mixed_scene_is_coloured_without_conflict() -> None:
    problem = problem_of(add_everything)
    colours = colours_of(problem)
    for block in problem.model.blocks:
        of_corners = np.sort(colours[block.elements], axis=1)
        assert np.all(of_corners[:, 1:] != of_corners[:, :-1])
