"""Force, energy and products in lanes equal the plain ones, with fixed, held and crowded vertices, for any threads."""

import numpy as np
import pytest

import pliant as pl
from pliant.materials import SOLID_LAWS
from pliant.solvers import Execution
from pliant.solvers.machinery.packed import pack

every_law = pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)


def packed_at(problem, x, threads=1, precision="double"):
    packed = pack(problem, Execution(precision, threads))
    packed.begin_step(problem)
    packed.tables.read(x)
    return packed, packed.tables.x


@every_law
def test_energy_and_force_are_those_of_the_potential(make_simulation, law):
    """G to 12 digits, although elements are summed once a corner and some corners are fixed; -dG/dx where free."""
    problem = make_simulation(law, held=True, damping=2e-3).problem()
    packed, x = packed_at(problem, problem.x_guess)
    assert packed.energy(x) == pytest.approx(problem.energy(problem.x_guess), rel=1e-12)
    f = packed.rows()
    packed.force(x, f)
    expected = -problem.project(problem.gradient(problem.x_guess))
    rows = packed.tables.packs.row_of_vertex
    np.testing.assert_allclose(f[rows, :3], expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    assert packed.dot(f, f) == pytest.approx(np.sum(expected**2), rel=1e-12)


def test_crowded_vertices_count_once(data_meshes):
    """The star sphere's hub has a pack of its own, all lanes the same vertex."""
    mesh = data_meshes("star-sphere-889")
    scene = pl.Scene()
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.4))
    body.set_velocities(np.random.default_rng(0).normal(0, 0.1, mesh.points.shape))
    body.pin(range(5))
    problem = pl.Simulation(scene, pl.Newton(), precision="double").problem()
    packed, x = packed_at(problem, problem.x_guess)
    assert packed.tables.packs.is_wide.any()
    f = packed.rows()
    packed.force(x, f)
    g = problem.project(problem.gradient(problem.x_guess))
    assert packed.dot(f, f) == pytest.approx(np.sum(g**2), rel=1e-11)
    assert packed.energy(x) == pytest.approx(problem.energy(problem.x_guess), rel=1e-12)


def test_contacts_pressure_and_walls_are_those_of_the_potential():
    """Terms that several vertices share, of bodies partly held, far from the origin: energy, force and diag(H)."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=3e3, friction=0.4, damping=1e-3)
    at = np.array([3.0, -2.0, 0.0])
    for k, centre in enumerate([(0, 0, 0.049), (0.02, 0.01, 0.147)]):
        mesh = pl.shapes.box(size=(0.1,) * 3, cells=(2,) * 3).transformed(translation=at + centre)
        body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3), name=str(k))
        body.set_velocities((0.3, 0.1, -0.2))
        body.pin([3, 4])
        body.pressure = 500.0
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    scene.world_box = pl.WorldBox((2.96, None, None), (None, None, 0.19), stiffness=1e3)
    problem = pl.Simulation(scene, pl.Newton(), frame_rate=100, substeps=1, precision="double").problem()
    problem.contacts.refresh(problem.x_guess)
    packed, x = packed_at(problem, problem.x_guess)
    packed.refresh(x)
    terms = problem.energies(problem.x_guess)
    assert min(abs(terms[name]) for name in ("contact", "pressure", "bounds")) > 1e-3
    assert packed.energy(x) == pytest.approx(problem.energy(problem.x_guess), rel=1e-12)
    f = packed.rows()
    packed.force(x, f)
    expected = -problem.project(problem.gradient(problem.x_guess))
    rows = packed.tables.packs.row_of_vertex
    np.testing.assert_allclose(f[rows, :3], expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    packed.measure_scales(x)
    free = problem.model.is_free
    diagonal = np.einsum("naa->na", problem.vertex_blocks(problem.x_guess))
    np.testing.assert_allclose(1 / packed.scales[rows, :3][free], diagonal[free], rtol=1e-10)


def test_scales_are_the_inverse_diagonal(make_simulation):
    problem = make_simulation(held=True, damping=2e-3).problem()
    packed, x = packed_at(problem, problem.x_guess)
    packed.measure_scales(x)
    free = problem.model.is_free
    expected = 1 / np.einsum("naa->na", problem.vertex_blocks(problem.x_guess))
    np.testing.assert_allclose(packed.scales[packed.tables.packs.row_of_vertex, :3][free], expected[free], rtol=1e-10)


def test_threads_do_not_change_a_bit(make_simulation):
    problem = make_simulation(mesh=pl.shapes.box(cells=8), held=True).problem()
    results = []
    for threads in (1, 2, 3):
        packed, x = packed_at(problem, problem.x_guess, threads, "single")
        f = packed.rows()
        packed.force(x, f)
        results.append((packed.energy(x), packed.dot(f, x), f))
    for energy, product, f in results[1:]:
        assert (energy, product) == results[0][:2]
        np.testing.assert_array_equal(f, results[0][2])
