"""Vertex block descent with bounds, pressure, attachments and viscosity: the reference's sweeps, Newton's minimiser."""

import numpy as np
import pytest

import pliant as pl
from pliant.geometry import colour_vertices, vertex_graph
from pliant.lanes.host import default_width
from pliant.solvers import Execution
from pliant.solvers.machinery.vbd_tables import build_tables
from pliant.solvers.vbd_reference import vbd_sweep

MESH = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))


def simulation(shaken, *, damping=0.0, solver=None, mesh=MESH, **options):
    """Two blocks, one of them partly held, with every outside term; pressure changes in time."""
    scene = pl.Scene()
    first = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.35), damping=damping, name="first")
    second = scene.add_solid(MESH, pl.StableNeoHookean.from_young(2e5, 0.3), name="second")
    first.set_positions(shaken(mesh, seed=1))
    second.set_positions(shaken(MESH, seed=2) + np.array([0.4, 0.0, 0.0]))
    second.pin([0, 1, 2])
    second.constrain_to_plane([5, 6], (0.2, -1.0, 0.7))
    first.pressure, second.pressure = -4000.0, lambda t: 1e6 * t
    first.viscosity, second.viscosity = 50.0, 10.0
    scene.attach(first, [0, 3, 3], second, [0, 6, 7], 2000.0)
    scene.attach(first, [[1, 4, 2]], second, [[0, 1, 3, 9]], 3000.0, [[0.5, 0.3, 0.2]], [[0.1, 0.2, 0.3, 0.4]])
    scene.world_box = pl.WorldBox((-0.1, None, -0.06), (0.5, 0.08, np.inf), stiffness=1e4)
    options = {"frame_rate": 100, "substeps": 1, "precision": "double", **options}
    return pl.Simulation(scene, pl.Newton() if solver is None else solver, **options)


def fast(problem, n, width=None, **options):
    solver = pl.VBD(**options)
    work = build_tables(problem, Execution("double", 1), solver.line_search, solver.psd, width=width)
    x = problem.x_guess.copy()
    solver.begin_step(problem, work)
    solver.sweep(problem, x, work, n)
    return x


def plain(problem, n, psd=False):
    model = problem.model
    colours = colour_vertices(*vertex_graph([block.elements for block in model.blocks], model.n_vertices))
    x = problem.x_guess
    for _ in range(n):
        x = vbd_sweep(problem, x, colours, psd)
    return x


@pytest.mark.parametrize(
    "width",
    [
        pytest.param(width, marks=() if width in (1, default_width("double")) else pytest.mark.slow)
        for width in (1, 4, 8, 16)
    ],
)
def test_equals_the_reference_at_any_width(shaken, star, width):
    """Scalars (width 1) and lanes; damped, held, and with a hub whose elements are dealt out over the lanes."""
    problem = simulation(shaken, damping=2e-3, mesh=star).problem()
    expected = plain(problem, 3)
    assert np.abs(expected - problem.x_guess).max() > 1e-3
    np.testing.assert_allclose(fast(problem, 3, width), expected, rtol=0, atol=1e-12)


def test_psd_blocks_are_the_projected_ones(shaken):
    problem = simulation(shaken, damping=2e-3).problem()
    np.testing.assert_allclose(fast(problem, 2, psd=True), plain(problem, 2, psd=True), rtol=0, atol=1e-12)


@pytest.mark.parametrize("line_search", [False, True])
def test_converges_to_newtons_minimiser(shaken, line_search):
    """Within 1e-6 of the way travelled."""
    problem = simulation(shaken).problem()
    minimiser = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=30))
    assert minimiser.residual < 1e-9
    solver = pl.VBD(line_search=line_search)
    report = pl.solve(problem, solver, stop=pl.Stop(iterations=400, residual=1e-8), measure_every=50)
    travelled = np.abs(minimiser.x - problem.x_guess).max()
    assert travelled > 1e-3
    assert np.abs(report.x - minimiser.x).max() <= 1e-6 * travelled


def test_single_precision_comes_as_near_as_its_rounding(shaken):
    """Within 1e-4 of the way travelled: viscosity cancels in the target, not in the solution."""
    problem = simulation(shaken).problem()
    minimiser = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=30)).x
    report = pl.solve(problem, pl.VBD(), stop=pl.Stop(iterations=200), precision="single", measure_every=200)
    assert np.abs(report.x - minimiser).max() <= 1e-4 * np.abs(minimiser - problem.x_guess).max()


def test_a_pressure_of_time_reaches_the_kernel_in_every_step(shaken):
    """Ten converged steps equal Newton's, whose pressure is evaluated afresh; tables are built once."""
    states = []
    for solver in (pl.VBD(iterations=300), pl.Newton(iterations=20)):
        sim = simulation(shaken, solver=solver)
        for _ in range(10):
            sim.step()
        states.append(sim.positions)
    np.testing.assert_allclose(states[0], states[1], rtol=0, atol=1e-9)


def test_any_number_of_threads_gives_the_same_bits(shaken):
    results = []
    for threads in (1, 3):
        sim = simulation(shaken, damping=2e-3, solver=pl.VBD(iterations=4), threads=threads)
        for _ in range(5):
            sim.step()
        results.append(sim.positions)
    np.testing.assert_array_equal(results[0], results[1])
