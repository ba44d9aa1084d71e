"""The assembled potential: that of energies/, for every law and element, in any number of threads."""

import numpy as np
import pytest

import pliant as pl
from pliant.materials import SOLID_LAWS
from pliant.solvers.contract.loop import Execution
from pliant.solvers.machinery.assembly import build_assembly

# Laws that differ in their formula alone take seconds to compile: in sheets one of each kind is quick.
QUICK = (pl.StableNeoHookean, pl.StVenantKirchhoff)
every_law = pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
every_law_quick_first = pytest.mark.parametrize(
    "law",
    [pytest.param(law, id=name, marks=() if law in QUICK else pytest.mark.slow) for name, law in SOLID_LAWS.items()],
)
psd_or_not = pytest.mark.parametrize("psd", [False, True], ids=["exact", "projected"])


def assembled(problem, x, psd, threads=1):
    """The Hessian; energy and gradient are compared on the way."""
    potential = build_assembly(problem, Execution("double", threads))
    assert potential.energy(problem, x) == pytest.approx(problem.energy(x), rel=1e-13)
    assert_same(potential.gradient(problem, x), problem.project(problem.gradient(x)))
    return potential.hessian(problem, x, psd).toarray()


def of_free_vertices(problem, H):
    """Rows and columns of the vertices that may move."""
    free = np.repeat(problem.model.is_free, 3)
    return H.toarray()[free][:, free]


def assert_same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@every_law
@psd_or_not
def test_tets_of_every_law(law, psd, make_simulation, shaken):
    """A squeezed body, whose Hessian is indefinite, some vertices pinned."""
    mesh = pl.shapes.box((0.2, 0.2, 0.2), (2, 2, 2))
    sim = make_simulation(law, mesh=mesh, frame_rate=1, damping=1e-3)
    problem, x = sim.problem(), shaken(mesh, seed=5, noise=0.1) * (1.0, 1.0, 0.4)
    assert np.linalg.eigvalsh(problem.hessian(x).toarray())[0] < 0
    assert_same(assembled(problem, x, psd), of_free_vertices(problem, problem.hessian(x, psd)))


@every_law_quick_first
@psd_or_not
def test_triangles_of_every_law(law, psd):
    """A crumpled sheet with bending and threads, two vertices pinned."""
    mesh = pl.shapes.cloth(size=(1, 0.8), cells=(5, 4))
    scene = pl.Scene()
    material = law.from_young(100.0, 0.0 if law is pl.ARAP else 0.3)
    scene.add_cloth(mesh, material, density=0.2, bending=1e-3, bending_model="dihedral", warp=20.0).pin([0, 3])
    problem = pl.Simulation(scene, pl.Newton(), frame_rate=1).problem()
    x = mesh.points * (0.8, 0.9, 1) + np.random.default_rng(2).normal(0, 0.02, mesh.points.shape)
    assert np.linalg.eigvalsh(problem.hessian(x).toarray())[0] < 0
    assert_same(assembled(problem, x, psd), of_free_vertices(problem, problem.hessian(x, psd)))


@pytest.mark.slow
@psd_or_not
def test_coupled_folds_and_damping_of_sheets_and_solids(psd):
    """What lane functions give compiled: fans and pairs of folds, hinges, damping of all, of triangles and tets."""
    mesh = pl.shapes.cloth(size=(1, 0.8), cells=(5, 4))
    scene = pl.Scene()
    law = pl.StVenantKirchhoff.from_young(100.0, 0.3)
    scene.add_cloth(mesh, law, density=0.2, bending=1e-2, bending_model="coupled", damping=0.05).pin([0, 3])
    box = pl.shapes.box((0.3, 0.2, 0.2), (2, 1, 1))
    scene.add_solid(box, pl.StableNeoHookean.from_young(1e3, 0.3), damping=0.05)
    sim = pl.Simulation(scene, pl.Newton(), frame_rate=10)
    problem, rng = sim.problem(), np.random.default_rng(2)
    names = {type(block).__name__ for block in problem.blocks}
    folds = {"FoldFans", "FoldFansRates", "FoldPairs", "FoldPairsRates", "Hinges", "HingesRates"}
    assert folds | {"TriangleRates", "TetRates"} <= names
    x = problem.x_prev + rng.normal(0, 0.03, problem.x_prev.shape)
    assert np.linalg.eigvalsh(problem.hessian(x).toarray())[0] < 0
    assert_same(assembled(problem, x, psd), of_free_vertices(problem, problem.hessian(x, psd)))


def test_springs_joints_attachments_and_bounds():
    scene = pl.Scene()
    mesh = pl.shapes.cloth(size=(1, 0.8), cells=(4, 3))
    sheet = scene.add_cloth(mesh, pl.ARAP(50.0), density=0.2, bending=1e-3)
    points, edges = pl.shapes.rope(((0.5, 0.4, 0), (1, 0.4, 0)), 4)
    rope = scene.add_springs(points, edges, stiffness=300.0, mass=0.01, bending=1e-2)
    scene.attach(sheet, [[18, 19]], rope, [0], 200.0, [[0.5, 0.5]])
    scene.world_box = pl.WorldBox((None, None, -0.001), (None, None, None), stiffness=30.0)
    problem = pl.Simulation(scene, pl.Newton()).problem()
    x = problem.x_guess + np.random.default_rng(2).normal(0, 0.01, problem.x_guess.shape)
    for psd in (False, True):
        assert_same(assembled(problem, x, psd), of_free_vertices(problem, problem.hessian(x, psd)))


def test_directions_in_which_vertices_are_held(make_simulation):
    """P H P with the model's projection P, and inertia in what it leaves out."""
    problem = make_simulation(held=True).problem()
    x = problem.x_guess
    n = problem.model.n_vertices
    P = np.stack([problem.project(e.reshape(n, 3)).ravel() for e in np.eye(3 * n)], axis=1)
    expected = P @ problem.hessian(x).toarray() @ P + (np.eye(3 * n) - P) * np.repeat(problem.inertia, 3)
    free = np.repeat(problem.model.is_free, 3)
    assert_same(assembled(problem, x, False), expected[free][:, free])


def test_contacts_and_pressure():
    """Two cubes pressed into each other and the ground, one of them blown up."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=3e3, friction=0.4, friction_speed=0.5)
    for z in (0.0485, 0.1465):
        mesh = pl.shapes.box((0.1,) * 3, (2,) * 3).transformed(translation=(0.2 * z, 0, z))
        scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3)).pressure = 500.0
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    problem = pl.Simulation(scene, pl.Newton(), frame_rate=100, substeps=1, precision="double").problem()
    assert problem.contacts.count > 10
    assert_same(assembled(problem, problem.x_guess, False), of_free_vertices(problem, problem.hessian(problem.x_guess)))


def test_tets_that_convert():
    """Healthy, crushed and inverted tets: two laws in one block, and what they remember changes."""
    mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(mesh, pl.Invertible(pl.NeoHookean.from_young(1e5, 0.4), lower=0.5, upper=0.8))
    problem = pl.Simulation(scene, pl.Newton(), precision="double").problem()
    assembly = build_assembly(problem, Execution("double", 1))
    for seed in (0, 1):
        x = mesh.points * (1, 1, 0.7) + 0.015 * np.random.default_rng(seed).normal(size=mesh.points.shape)
        problem.update_internal_state(x)
        assert 0.05 < problem.model.internal_state.mean() < 0.95
        assert assembly.energy(problem, x) == pytest.approx(problem.energy(x), rel=1e-13)
        assert_same(assembly.gradient(problem, x), problem.gradient(x))
        assert_same(assembly.hessian(problem, x).toarray(), problem.hessian(x).toarray())
    projected = assembly.hessian(problem, x, psd=True).toarray()
    assert np.linalg.eigvalsh(projected)[0] >= problem.inertia.min() - 1e-10 * np.abs(projected).max()


def test_a_law_with_a_barrier_is_infinite_beyond_it():
    """One tet turned inside out among healthy ones."""
    mesh = pl.shapes.box((0.2,) * 3, (1, 1, 1))
    scene = pl.Scene()
    scene.add_solid(mesh, pl.NeoHookean.from_young(1e5, 0.3))
    problem = pl.Simulation(scene, pl.Newton(), precision="double").problem()
    x = mesh.points.copy()
    a, b, c, d = mesh.tets[0]
    x[a] += 1.2 * (x[b] + x[c] + x[d] - 3 * x[a]) / 3
    assert build_assembly(problem, Execution("double", 1)).energy(problem, x) == np.inf == problem.energy(x)


@psd_or_not
def test_the_same_bits_for_any_number_of_threads(psd):
    """More elements than a chunk holds; packs and blocks that do not divide evenly."""
    mesh = pl.shapes.box((0.3, 0.3, 0.3), (8, 8, 9))
    scene = pl.Scene()
    scene.add_solid(mesh, pl.MooneyRivlin.from_young(1e5, 0.4)).pin([0, 5])
    problem = pl.Simulation(scene, pl.Newton(), precision="double").problem()
    x = mesh.points * (1, 1, 0.6) + 1e-3 * np.random.default_rng(1).normal(size=mesh.points.shape)
    one, three = (build_assembly(problem, Execution("double", k)).hessian(problem, x, psd) for k in (1, 3))
    assert len(mesh.tets) > 2048
    np.testing.assert_array_equal(one.data, three.data)
