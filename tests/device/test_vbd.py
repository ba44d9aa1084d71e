"""Vertex block descent on an OpenCL device equals the plain one in NumPy, iteration by iteration, in every schedule."""

from collections.abc import Callable

import numpy as np
import pytest

import pliant as pl
from pliant.device.opencl import SCHEDULES
from pliant.geometry import colour_vertices, vertex_graph
from pliant.materials import SOLID_LAWS
from pliant.solvers import Execution
from pliant.solvers.vbd_reference import chebyshev_factors, vbd_sweep

every_schedule = pytest.mark.parametrize("schedule", SCHEDULES)


def on_device(problem, solver, n, precision="double", schedule="items") -> tuple[np.ndarray, object]:
    """n iterations from the problem's start, and the work object that did them."""
    work = solver.init(problem, Execution(precision, 0, pl.OpenCL(schedule=schedule)))
    x = problem.x_guess.copy()
    solver.begin_step(problem, work)
    solver.sweep(problem, x, work, n)
    return x, work


def plain(problem, n: int, psd: bool = False) -> np.ndarray:
    graph = vertex_graph([block.elements for block in problem.model.blocks], problem.model.n_vertices)
    colours = colour_vertices(*graph)
    x = problem.x_guess
    for _ in range(n):
        x = vbd_sweep(problem, x, colours, psd)
    return x


def assert_same_iterations(problem, schedule: str, n: int = 3, solver=None, single: float = 1e-5, **options) -> None:
    """In double precision to its rounding; in single precision to 1e-5 of the way, after every one of n iterations."""
    solver = pl.VBD() if solver is None else solver
    expected = plain(problem, n, **options)
    way = np.abs(expected - problem.x_guess).max()
    assert way > 1e-4 * np.ptp(problem.x_prev, axis=0).max()
    np.testing.assert_allclose(on_device(problem, solver, n, schedule=schedule)[0], expected, rtol=0, atol=1e-11 * way)
    work = solver.init(problem, Execution("single", 0, pl.OpenCL(schedule=schedule)))
    solver.begin_step(problem, work)
    x, size = problem.x_guess.copy(), np.ptp(problem.x_prev, axis=0).max()
    for k in range(1, n + 1):
        solver.sweep(problem, x, work, 1)
        error = np.abs(x - plain(problem, k, **options)).max()
        assert error < single * way + 2e-7 * size, f"iteration {k}"


def thrown(build: Callable[[pl.Scene], None], h: float = 1 / 50) -> pl.IncrementalPotential:
    """A step of a scene, thrown about a little so that no element is at rest."""
    scene = pl.Scene()
    build(scene)
    rng = np.random.default_rng(3)
    for body in scene.bodies:
        body.set_velocities(rng.normal(scale=0.3, size=(body.n_vertices, 3)))
    return pl.Simulation(scene, pl.Newton(), frame_rate=1 / h, substeps=1, precision="double").problem()


# --- solids -----------------------------------------------------------------------------------------------------------


@every_schedule
def test_a_damped_solid_with_pins_lines_and_planes(make_simulation, schedule) -> None:
    assert_same_iterations(make_simulation(held=True, damping=2e-3).problem(), schedule)


QUICK_LAWS = ("NeoHookean", "Corotated")  # one with a barrier; one whose stretch is found in a loop


@pytest.mark.parametrize(
    "law",
    [
        pytest.param(law, id=name, marks=() if name in QUICK_LAWS else pytest.mark.slow)
        for name, law in SOLID_LAWS.items()
    ],
)
def test_every_law(make_simulation, law) -> None:
    assert_same_iterations(make_simulation(law).problem(), "items")


@pytest.mark.slow
@every_schedule
@pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
def test_every_law_in_every_schedule(make_simulation, law, schedule) -> None:
    assert_same_iterations(make_simulation(law, held=True, damping=2e-3).problem(), schedule)


@pytest.mark.parametrize("schedule", ["packed", pytest.param("groups", marks=pytest.mark.slow)])
def test_a_hub_with_320_tets_and_damping_of_vertex_blocks(make_simulation, star, schedule) -> None:
    """More neighbours than a packed group holds: it gets a work-group of its own."""
    problem = make_simulation(held=True, damping=2e-3, damping_form="vertex_block", mesh=star).problem()
    assert_same_iterations(problem, schedule)
    _, work = on_device(problem, pl.VBD(), 1, schedule=schedule)
    assert sum(colour.last - colour.wide for colour in work.sweeps.colours) == 1


@pytest.mark.slow
def test_blocks_are_projected(make_simulation) -> None:
    problem = make_simulation(pl.StVenantKirchhoff, frame_rate=10).problem()
    problem.x_guess[:] = np.where(problem.model.is_free[:, None], problem.x_guess * (1, 1, 0.35), problem.x_guess)
    assert np.linalg.eigvalsh(problem.vertex_blocks(problem.x_guess)).min() < 0
    # Along the directions that a projection leaves hardly any stiffness, vertices go ten times the size of the body,
    # and rounding of forces in single precision is multiplied alike.
    assert_same_iterations(problem, "items", solver=pl.VBD(psd=True), single=1e-3, psd=True)


@pytest.mark.slow
def test_a_material_that_varies_within_a_body() -> None:
    mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    young = np.random.default_rng(1).uniform(1e4, 1e5, len(mesh.tets))

    def build(scene: pl.Scene) -> None:
        scene.add_solid(mesh, pl.NeoHookean.from_young(young, 0.3)).pin([0, 1, 2])

    for schedule in SCHEDULES:
        assert_same_iterations(thrown(build), schedule)


# --- sheets, springs and what holds them ------------------------------------------------------------------------------


def sheet(scene: pl.Scene, law=pl.StVenantKirchhoff, **options) -> None:
    mesh = pl.shapes.cloth(size=(1, 0.8), cells=(4, 3))
    scene.add_cloth(mesh, law.from_young(100.0, 0.3), density=0.2, **{"bending": 0.0, **options}).pin([0, 3])


def add_rope(scene: pl.Scene, **options) -> None:
    points, edges = pl.shapes.rope(((0, 0, 1), (1, 0, 1), (1, 1, 1)), 9)
    scene.add_springs(points, edges, stiffness=300.0, mass=0.01, **options).pin([0])


def add_wheel(scene: pl.Scene) -> None:
    points, edges = pl.shapes.wheel(0.5, 200)  # more spokes than a packed group has room for
    scene.add_springs(points, edges, stiffness=50.0, mass=0.01).pin([0, 45])


def add_everything(scene: pl.Scene) -> None:
    """Membranes, yarns, both kinds of bending, springs, rods, a solid; all damped, and held together."""
    sheet(scene, warp=20.0, bending=1e-3, damping=1e-3)
    sheet(scene, pl.NeoHookean, bending=1e-3, bending_model="dihedral", damping=1e-3)
    add_rope(scene, bending=1e-2, damping=1e-3)
    mesh = pl.shapes.box(size=(0.3, 0.3, 0.3), cells=(2, 2, 2))
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e4, 0.3), damping=1e-3).pin([0, 1])
    scene.attach(scene.bodies[2], [3, 4], scene.bodies[3], [5, 6], stiffness=100.0)


SCENES: dict[str, Callable[[pl.Scene], None]] = {
    "membrane": sheet,
    "threads": lambda scene: sheet(scene, warp=30.0, weft=10.0, warp_direction=(1, 1, 0)),
    "quadratic": lambda scene: sheet(scene, bending=0.01, bending_model="quadratic"),
    "dihedral": lambda scene: sheet(scene, bending=0.01, bending_model="dihedral"),
    "springs": add_rope,
    "rope": lambda scene: add_rope(scene, one_sided=True),
    "rod": lambda scene: add_rope(scene, bending=0.01),
    "wheel": add_wheel,
}


@pytest.mark.parametrize(
    "schedule", ["packed", *(pytest.param(s, marks=pytest.mark.slow) for s in ("groups", "items"))]
)
def test_everything_at_once(schedule) -> None:
    assert_same_iterations(thrown(add_everything), schedule)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
@every_schedule
def test_every_element(name, schedule) -> None:
    assert_same_iterations(thrown(SCENES[name]), schedule)


# --- acceleration -----------------------------------------------------------------------------------------------------


def test_chebyshev_is_equation_18(make_simulation) -> None:
    """The reference carried on by hand, with the factors of Equation 19."""
    problem = make_simulation(held=True).problem()
    x = before = before_previous = problem.x_guess
    graph = vertex_graph([block.elements for block in problem.model.blocks], problem.model.n_vertices)
    colours = colour_vertices(*graph)
    for omega in chebyshev_factors(0.9, 6):
        x = vbd_sweep(problem, before, colours)
        x = omega * (x - before_previous) + before_previous
        before_previous, before = before, x
    reached, _ = on_device(problem, pl.Chebyshev(pl.VBD(), rho=0.9), 6, schedule="groups")
    np.testing.assert_allclose(reached, x, rtol=0, atol=1e-11 * np.abs(x - problem.x_guess).max())
