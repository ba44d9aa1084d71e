"""Solids whose law is converted where tets are inverted, and patches of tets, on an OpenCL device: the iterations of
the CPU, internal states included.
"""

import numpy as np
import pytest

import pliant as pl
from pliant.device.opencl import SCHEDULES
from pliant.geometry import colour_vertices, vertex_graph
from pliant.materials import SOLID_LAWS
from pliant.solvers import Execution
from pliant.solvers.vbd_reference import vbd_sweep

MESH = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
EARLY = {"lower": 0.5, "upper": 0.8}


def tangled(law, **options) -> pl.IncrementalPotential:
    """Healthy, crushed and inverted tets of a law."""
    scene = pl.Scene(gravity=(0, 0, 0))
    material = pl.Invertible(law.from_young(1e5, 0.0 if law is pl.ARAP else 0.4), **EARLY)
    body = scene.add_solid(MESH, material, **options)
    noise = np.random.default_rng(0).normal(size=MESH.points.shape)
    body.set_positions(MESH.points * (1, 1, 0.7) + np.ptp(MESH.points) / 8 * noise)
    return pl.Simulation(scene, pl.Newton(), precision="double").problem()


def iterated(problem, n, precision="double", device=None, solver=None) -> tuple[np.ndarray, np.ndarray]:
    """Positions and internal states after n iterations on a copy of the problem."""
    own, solver = problem.with_own_internal_state(), solver or pl.VBD()
    work = solver.init(own, Execution(precision, 1, device))
    solver.begin_step(own, work)
    x = own.x_guess.copy()
    for _ in range(n):
        solver.sweep(own, x, work, 1)
    return x, own.model.internal_state


def assert_same_iterations(problem, schedule="items", n=3, **options) -> None:
    """After one and after n iterations: in double precision to 1e-9 of the way; in single precision, where tets are
    crushed and blocks ill-conditioned, to 1e-3 after the first.
    """
    for count in (1, n):
        expected, states = iterated(problem, count, **options)
        way = np.abs(expected - problem.x_guess).max()
        x, found = iterated(problem, count, "double", pl.OpenCL(schedule=schedule), **options)
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-9 * way)
        np.testing.assert_allclose(found, states, rtol=0, atol=1e-8)
    expected, states = iterated(problem, 1, **options)
    x, found = iterated(problem, 1, "single", pl.OpenCL(schedule=schedule), **options)
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-3 * np.abs(expected - problem.x_guess).max())
    np.testing.assert_allclose(found, states, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("law", "schedule"),
    [
        pytest.param(law, schedule, marks=() if (name, schedule) == ("NeoHookean", "packed") else pytest.mark.slow)
        for name, law in SOLID_LAWS.items()
        for schedule in SCHEDULES
    ],
)
def test_converted_tets_of_every_law(law, schedule) -> None:
    """A law with a barrier holds it where it is not wholly converted."""
    problem = tangled(law)
    assert 0.05 < problem.model.internal_state.mean() < 0.95
    assert problem.model.internal_state.max() == 1.0
    assert problem.model.internal_state.min() == 0.0
    assert_same_iterations(problem, schedule)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["strain_rate", "vertex_block"])
def test_converted_tets_with_damping_and_momentum(form) -> None:
    problem = tangled(pl.StableNeoHookean, damping=1e-3, damping_form=form)
    assert_same_iterations(problem, "groups", solver=pl.Chebyshev(pl.VBD(), 0.7))


@pytest.mark.slow
def test_converted_tets_of_a_material_that_varies() -> None:
    scene = pl.Scene(gravity=(0, 0, 0))
    young = np.random.default_rng(1).uniform(1e4, 1e5, len(MESH.tets))
    body = scene.add_solid(MESH, pl.Invertible(pl.NeoHookean.from_young(young, 0.3), **EARLY))
    body.set_positions(MESH.points * (1, 1, 0.6) + 0.03 * np.random.default_rng(0).normal(size=MESH.points.shape))
    problem = pl.Simulation(scene, pl.Newton(), precision="double").problem()
    assert 0 < problem.model.internal_state.mean() < 1
    assert_same_iterations(problem)


@pytest.mark.slow
def test_a_cube_turned_inside_out_recovers_and_goes_on_elsewhere(tmp_path) -> None:
    """Every tet starts inverted; after 4 s none is converted, and edges have their length at rest, to 1 %. A checkpoint
    on the way keeps the states: from it the CPU does the same.
    """
    mesh, scene = pl.shapes.box((1, 1, 1), (4, 4, 4)), pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(mesh, pl.Invertible(pl.NeoHookean.from_young(1e5, 0.4), **EARLY))
    body.set_positions(mesh.points * (-1, 1, 1))
    sim = pl.Simulation(scene, pl.VBD(iterations=20), frame_rate=60, substeps=1, device="opencl")
    for _ in range(10):
        sim.step()
    assert sim.state.internal_state.max() > 0
    sim.save(tmp_path / "run.npz")
    other = pl.Simulation.resume(tmp_path / "run.npz", device="cpu")
    np.testing.assert_array_equal(other.state.internal_state, sim.state.internal_state)
    for _ in range(230):
        sim.step()
        other.step()
    edges = mesh.tets[:, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]].reshape(-1, 2)
    length = lambda x: np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)  # noqa: E731
    for run in (sim, other):
        assert run.state.internal_state.max() == 0.0
        np.testing.assert_allclose(length(run.positions), length(mesh.points), rtol=0.01)


# --- patches ----------------------------------------------------------------------------------------------------------


def patched(law, nu: float) -> pl.IncrementalPotential:
    """A thrown block of patches, pinned at three vertices."""
    scene = pl.Scene()
    body = scene.add_solid(MESH, law.from_young(1e5, nu), element="patch", damping=1e-3)
    body.set_velocities(np.random.default_rng(3).normal(scale=0.3, size=MESH.points.shape))
    body.pin([0, 1, 2])
    return pl.Simulation(scene, pl.Newton(), frame_rate=50, substeps=1, precision="double").problem()


@pytest.mark.parametrize(
    ("law", "nu", "schedule"),
    [
        (pl.StableNeoHookean, 0.49, "packed"),
        pytest.param(pl.StableNeoHookean, 0.49, "groups", marks=pytest.mark.slow),
        pytest.param(pl.StVenantKirchhoff, 0.45, "items", marks=pytest.mark.slow),
        pytest.param(pl.Corotated, 0.45, "items", marks=pytest.mark.slow),
    ],
)
def test_patches_equal_the_reference(law, nu, schedule) -> None:
    """In double precision to 1e-11 of the way, in single precision to 1e-5, after each of three iterations."""
    problem = patched(law, nu)
    colours = colour_vertices(*vertex_graph([b.elements for b in problem.model.blocks], problem.model.n_vertices))
    expected, size = problem.x_guess, np.ptp(problem.x_prev, axis=0).max()
    way = 0.0
    for n in range(1, 4):
        expected = vbd_sweep(problem, expected, colours)
        way = max(way, np.abs(expected - problem.x_guess).max())
        for precision, part, rounding in (("double", 1e-11, 0.0), ("single", 1e-5, 2e-7 * size)):
            x, _ = iterated(problem, n, precision, pl.OpenCL(schedule=schedule))
            np.testing.assert_allclose(x, expected, rtol=0, atol=part * way + rounding)
    assert way > 1e-4 * size


@pytest.mark.slow
def test_patches_converge_to_newtons_minimiser() -> None:
    problem = patched(pl.NeoHookean, 0.45)
    minimiser = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=50, residual=1e-10)).x
    report = pl.solve(
        problem, pl.VBD(), stop=pl.Stop(iterations=2000, residual=1e-9), measure_every=50, device="opencl"
    )
    assert np.abs(report.x - minimiser).max() < 1e-6 * np.abs(minimiser - problem.x_guess).max()
