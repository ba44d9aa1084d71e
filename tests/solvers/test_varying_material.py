"""Materials that vary within a body: every solver sees the parameters of each element."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.errors import MaterialError
from pliant.geometry import colour_vertices, vertex_graph
from pliant.materials import SOLID_LAWS
from pliant.solvers import Execution
from pliant.solvers.machinery.vbd_tables import build_tables
from pliant.solvers.vbd_reference import vbd_sweep

MESH = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
MODULI = 10 ** np.random.default_rng(8).uniform(4, 5.5, len(MESH.tets))  # [Pa] over a range of thirty


def varying(law=pl.StableNeoHookean, m: int = len(MESH.tets), scale: float = 1.0):
    """A law whose moduli differ from tet to tet."""
    return law.from_young(scale * MODULI[:m], np.linspace(0.1, 0.4, m))


MATERIALS = {
    "StableNeoHookean": lambda: varying(),
    "MooneyRivlin": lambda: replace(varying(pl.MooneyRivlin), share=np.linspace(0, 1, len(MESH.tets))),
    "Invertible": lambda: pl.Invertible(varying(pl.NeoHookean), lower=0.7, upper=0.95),
}
every_material = pytest.mark.parametrize("name", MATERIALS)


def solid_problem(material, shaken, **options) -> pl.IncrementalPotential:
    scene = pl.Scene()
    body = scene.add_solid(MESH, material, damping=1e-3)
    body.set_positions(shaken(MESH, 0))
    body.set_velocities(np.random.default_rng(1).normal(0, 0.3, MESH.points.shape))
    body.pin(MESH.points[:, 0] < MESH.points[:, 0].min() + 1e-9)
    options = {"frame_rate": 100, "substeps": 1, "precision": "double", **options}
    return pl.Simulation(scene, pl.Newton(), **options).problem()


def sheet_problem(material_of) -> pl.IncrementalPotential:
    scene = pl.Scene()
    mesh = pl.shapes.cloth((1, 0.8), (4, 3))
    sheet = scene.add_cloth(mesh, material_of(len(mesh.triangles)), density=0.2, bending=1e-3)
    sheet.pin([0, 3])
    sheet.set_velocities(np.random.default_rng(3).normal(scale=0.3, size=(mesh.n_vertices, 3)))
    return pl.Simulation(scene, pl.Newton(), frame_rate=100, substeps=1, precision="double").problem()


def assert_a_sweep_is_the_plain_one(problem: pl.IncrementalPotential, line_search: bool) -> None:
    """One iteration of the compiled descent, and of the one in NumPy."""
    colours = colour_vertices(*vertex_graph([block.elements for block in problem.blocks], problem.model.n_vertices))
    expected = vbd_sweep(problem, problem.x_guess, colours, psd=True)
    solver = pl.VBD(psd=True, line_search=line_search)
    work = build_tables(problem, Execution("double", 1), solver.line_search, solver.psd)
    x = problem.x_guess.copy()
    solver.begin_step(problem, work)
    solver.sweep(problem, x, work, 1)
    moved = np.abs(expected - problem.x_guess).max()
    assert moved > 1e-4
    if not line_search:
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-9 * moved)
    assert problem.energy(x) < problem.energy(problem.x_guess)


@pytest.mark.parametrize("line_search", [False, True])
def test_a_sweep_over_tets_is_the_plain_one(shaken, line_search) -> None:
    assert_a_sweep_is_the_plain_one(solid_problem(varying(), shaken), line_search)


def test_a_sweep_over_triangles_is_the_plain_one() -> None:
    assert_a_sweep_is_the_plain_one(sheet_problem(lambda m: varying(pl.StVenantKirchhoff, m, 1e-3)), False)


def assert_solvers_agree(problem: pl.IncrementalPotential, *solvers) -> np.ndarray:
    exact = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=60, residual=1e-10))
    assert exact.residual < 1e-8
    travelled = np.abs(exact.x - problem.x_guess).max()
    for solver in solvers:
        report = pl.solve(problem, solver, stop=pl.Stop(iterations=3000, residual=1e-9), measure_every=100)
        assert np.abs(report.x - exact.x).max() <= 1e-6 * travelled
    return exact.x


@every_material
def test_descents_find_newtons_minimiser(shaken, name) -> None:
    """Within 1e-6 of the way travelled, for the fast path of tets, the general one and the one that converts."""
    assert_solvers_agree(solid_problem(MATERIALS[name](), shaken), pl.VBD())


def test_every_other_minimiser(shaken) -> None:
    assert_solvers_agree(solid_problem(varying(), shaken), pl.LBFGS(), pl.LaplacianQuasiNewton())


def undamped(problem: pl.IncrementalPotential) -> pl.IncrementalPotential:
    model = problem.model
    blocks = tuple(block for block in model.blocks if block.is_stored)
    return replace(problem, model=replace(model, damping=0 * model.damping, blocks=blocks))


def test_projections_see_each_element(shaken) -> None:
    """Nearer to the step of the varying body, up to their own error, than to that of one with the mean modulus."""
    problem = undamped(solid_problem(varying(), shaken, frame_rate=1000))
    mean = undamped(solid_problem(pl.StableNeoHookean.from_young(MODULI.mean(), 0.25), shaken, frame_rate=1000))
    exact, of_mean = (pl.solve(p, pl.Newton(), stop=pl.Stop(iterations=60, residual=1e-9)).x for p in (problem, mean))
    for solver in (pl.GPBD(), pl.XPBD()):
        report = pl.solve(problem, solver, stop=pl.Stop(iterations=500), measure_every=500)
        assert np.abs(report.x - exact).max() < 0.06 * np.abs(of_mean - exact).max()


def test_sheets_find_newtons_minimiser() -> None:
    assert_solvers_agree(sheet_problem(lambda m: varying(pl.StVenantKirchhoff, m, 1e-3)), pl.VBD())


def test_the_same_number_everywhere_is_a_uniform_material(shaken) -> None:
    """The same kernel and the same bits."""
    ends = []
    for mu, lam in ((3e4, 5e4), (np.full(len(MESH.tets), 3e4), np.full(len(MESH.tets), 50000))):
        problem = solid_problem(pl.StableNeoHookean(mu, lam), shaken)
        ends.append(pl.solve(problem, pl.VBD(), stop=pl.Stop(iterations=5)).x)
    np.testing.assert_array_equal(*ends)


def test_a_list_of_laws_is_a_law_with_lists(shaken) -> None:
    laws = [pl.StableNeoHookean.from_young(E, 0.3) for E in MODULI]
    body = pl.Scene().add_solid(MESH, laws)
    np.testing.assert_array_equal(body.material.mu, pl.StableNeoHookean.from_young(MODULI, 0.3).mu)


def test_a_bar_of_two_materials_stretches_where_it_is_soft() -> None:
    """In series the force is the same: strains are as the inverse moduli (Poisson's ratio 0, small strain)."""
    mesh = pl.shapes.box((1.0, 0.1, 0.1), (20, 2, 2))
    middle = mesh.points[mesh.tets].mean(axis=1)[:, 0]
    axis = mesh.points[:, 0]
    scene = pl.Scene(gravity=(0, 0, 0))
    moduli = np.where(middle < axis.mean(), 1e5, 4e5)
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(moduli, 0.0))
    body.pin(axis < axis.min() + 1e-9)
    end = axis > axis.max() - 1e-9
    body.move(end, pl.motions.Slide(mesh.points[end], (1e-3, 0, 0)))
    sim = pl.Simulation(scene, pl.Newton(), frame_rate=1, substeps=1)
    sim.step()
    at_middle = np.abs(axis - axis.mean()) < 1e-9
    moved = (sim.positions - mesh.points)[:, 0]
    assert moved[end].mean() == pytest.approx(1e-3, rel=1e-9)
    assert moved[at_middle].mean() == pytest.approx(0.8e-3, rel=0.01)


def test_a_checkpoint_keeps_them(tmp_path) -> None:
    scene = pl.Scene()
    scene.add_solid(MESH, varying()).pin(MESH.points[:, 0] < MESH.points[:, 0].min() + 1e-9)
    sim = pl.Simulation(scene, pl.VBD(iterations=3))
    sim.step()
    sim.save(tmp_path / "kept.npz")
    again = pl.Simulation.resume(tmp_path / "kept.npz")
    sim.step()
    again.step()
    np.testing.assert_array_equal(again.positions, sim.positions)
    np.testing.assert_array_equal(again.model.solids[0].parameters, sim.model.solids[0].parameters)


@pytest.mark.parametrize("law", [varying(), pl.Invertible(varying())], ids=["law", "invertible"])
def test_scene_files_keep_them(tmp_path, law) -> None:
    scene = pl.Scene()
    scene.add_solid(MESH, law, name="block")
    pl.save_scene(scene, tmp_path / "scene.toml")
    assert "elements = " in (tmp_path / "scene.toml").read_text()
    kept = pl.load_scene(tmp_path / "scene.toml").bodies[0].material
    assert type(kept) is type(law)
    inside = (kept.law, law.law) if isinstance(law, pl.Invertible) else (kept, law)
    np.testing.assert_array_equal(*(one.of_elements(len(MESH.tets)) for one in inside))


def test_a_file_of_elements_must_fit(tmp_path) -> None:
    text = """
[[bodies]]
kind = "solid"
shape = { kind = "box", cells = 1, split = "kuhn" }
material = { law = "StableNeoHookean", youngs_modulus = 1e5, poissons_ratio = 0.3, elements = "parts.npz" }
"""
    (tmp_path / "scene.toml").write_text(text)
    np.savez(tmp_path / "parts.npz", mu=np.ones(5))
    with pytest.raises(pl.PliantError, match="none of the arrays poissons_ratio, youngs_modulus"):
        pl.load_scene(tmp_path / "scene.toml")
    np.savez(tmp_path / "parts.npz", youngs_modulus=np.linspace(1e5, 2e5, 5))
    with pytest.raises(pl.PliantError, match="given for 5 elements, and the mesh has"):
        pl.load_scene(tmp_path / "scene.toml")


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(pl.SceneError, match="given for 3 elements, and the mesh has"):
        pl.Scene().add_solid(MESH, pl.StableNeoHookean(np.array([1e5, 2e5, 3e5]), 1e5))
    with pytest.raises(MaterialError, match="2 and 3 values"):
        pl.StableNeoHookean(np.array([1e5, 2e5]), np.array([1e5, 2e5, 3e5]))
    with pytest.raises(MaterialError, match="the shear modulus must be positive"):
        pl.StableNeoHookean(np.array([1e5, -2e5]), 1e5)
    with pytest.raises(MaterialError, match="give a number"):
        pl.StableNeoHookean(np.array([1e5, np.nan]), 1e5)
    with pytest.raises(MaterialError, match="laws of one class"):
        pl.Scene().add_solid(MESH, [pl.ARAP(1e5), pl.StableNeoHookean(1e5, 1e5)])


@pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
def test_every_law_takes_arrays(law) -> None:
    nu = np.zeros(3) if law is pl.ARAP else np.array([0.1, 0.2, 0.3])
    material = law.from_young(np.array([1e5, 2e5, 3e5]), nu)
    one = law.from_young(2e5, nu[1])
    np.testing.assert_allclose(material.of_elements(3)[1], one.of_elements(1)[0], rtol=1e-15)
