"""Patches of tets that may be turned inside out: iterations, Newton's minimiser, bits, and the way back to rest."""

import numpy as np
import pytest

import pliant as pl
from pliant.elements.invertible_patch import InvertiblePatches, InvertiblePatchTets
from pliant.energies.elastic import cofactors, deformation_gradients
from pliant.materials import SOLID_LAWS
from pliant.solvers.vbd_reference import vbd_sweep

MESH = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
EARLY = {"lower": 0.5, "upper": 0.8}
EARLIER = {"lower": 0.6, "upper": 0.9}  # for whole bodies to turn: their tets push with a part of the energy alone
QUICK = (pl.StableNeoHookean, pl.NeoHookean)
every_law = pytest.mark.parametrize(
    "law",
    [pytest.param(law, id=name, marks=() if law in QUICK else pytest.mark.slow) for name, law in SOLID_LAWS.items()],
)


def scene_of(law, points, mesh=MESH, gravity=(0, 0, 0), **options):
    scene = pl.Scene(gravity=gravity)
    material = law.from_young(1e5, 0.0 if law is pl.ARAP else 0.4)
    body = scene.add_solid(mesh, pl.Invertible(material, **(options or EARLY)), element="patch")
    body.set_positions(points)
    return scene


def tangled(noise=0.02):
    """Positions with healthy, crushed and inverted tets, in patches that are healthy, crushed and inverted too."""
    x = MESH.points + noise * np.random.default_rng(0).normal(size=MESH.points.shape)
    folded = x[:, 0] > 0.06
    x[folded, 0] = 0.12 - x[folded, 0]
    return x


def blocks_of(problem):
    return {type(block): block for block in problem.model.blocks}


@every_law
def test_derivatives_and_blocks_of_tangled_patches(law):
    """With l held, as within an iteration: gradient and Hessian by finite differences."""
    problem = pl.Simulation(scene_of(law, tangled()), pl.Newton(), precision="double").problem()
    for kind in (InvertiblePatches, InvertiblePatchTets):
        l = blocks_of(problem)[kind].interpolants
        assert l.min() == 0.0
        assert l.max() == 1.0
        assert ((l > 0.01) & (l < 0.99)).any()
    x, h = problem.x_guess, 1e-8
    d = np.random.default_rng(3).normal(size=x.shape)
    g = problem.gradient(x)
    slope = (problem.energy(x + h * d) - problem.energy(x - h * d)) / (2 * h)
    assert slope == pytest.approx(np.sum(g * d), abs=1e-5 * np.abs(g * d).sum())
    change = (problem.gradient(x + h * d) - problem.gradient(x - h * d)) / (2 * h)
    np.testing.assert_allclose(problem.hessian(x) @ d.ravel(), change.ravel(), atol=2e-5 * np.abs(change).max())
    np.testing.assert_allclose(g.sum(axis=0), problem.inertia @ (x - problem.y), atol=1e-9 * np.abs(g).max())


@every_law
def test_the_sweep_equals_the_reference(law):
    """Positions and interpolants after one and after three iterations, in double precision."""
    sim = pl.Simulation(scene_of(law, tangled()), pl.VBD(), precision="double")
    for n in (1, 3):
        fast, plain = sim.problem(), sim.problem()
        work = sim.solver.init(fast, sim.execution)
        x = fast.x_guess.copy()
        sim.solver.begin_step(fast, work)
        sim.solver.sweep(fast, x, work, n)
        packs = work.packs
        colours = np.searchsorted(packs.colour_start, packs.row_of_vertex // packs.width, side="right") - 1
        has_barrier = law not in (pl.StableNeoHookean, pl.StVenantKirchhoff, pl.Corotated, pl.ARAP)
        expected = plain.x_guess
        for _ in range(n):
            expected = (guarded_sweep if has_barrier else vbd_sweep)(plain, expected, colours)
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-8)
        np.testing.assert_allclose(fast.model.internal_state, plain.model.internal_state, rtol=0, atol=1e-6)


def guarded_sweep(problem, x, colours):
    """The plain sweep with each vertex's step cut so that what has l < 1 keeps a tenth of its volume."""
    x = x.copy()
    problem.update_internal_state(x)
    for colour in np.unique(colours):
        f, H = -problem.gradient(x), problem.vertex_blocks(x)
        for i in np.flatnonzero(colours == colour):
            dx, step = np.linalg.solve(H[i], f[i]), 1.0
            for block in problem.model.blocks:
                kept = block.taken(np.flatnonzero((block.elements == i).any(1) & (block.interpolants < 1)))
                F = deformation_gradients(kept, x)
                own = np.where((kept.elements == i)[:, :, None], kept.gradients, 0.0).sum(axis=1)
                before, loss = np.linalg.det(F), -np.einsum("a,mac,mc->m", dx, cofactors(F), own)
                for room, lost in zip(0.9 * before, loss, strict=True):
                    step = room / lost if lost * step > room else step
            x[i] += step * dx
    return x


@pytest.mark.slow
@pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
def test_a_crushed_block_is_where_newtons_method_has_it(law):
    """Pressed to 65 % of its height, patches and tets are converted in part: both solvers find one minimum of one
    conversion, to 1e-6 of the way.
    """
    found = []
    for solver in (pl.Newton(iterations=1000, tolerance=1e-15), pl.VBD(iterations=1000)):
        scene = scene_of(law, MESH.points)
        top, bottom = MESH.points[:, 2] > 0.099, MESH.points[:, 2] < -0.099
        scene.bodies[0].pin(bottom)
        scene.bodies[0].move(top, lambda t, top=top: MESH.points[top] - [0, 0, 0.07 * min(t * 50, 1.0)])
        sim = pl.Simulation(scene, solver, frame_rate=50, substeps=1, precision="double")
        for _ in range(3):
            sim.step()
        found.append((sim.positions, sim.state.internal_state))
    assert 0.05 < found[0][1].max() < 1.0
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=0, atol=1e-6 * 0.07)
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=0, atol=1e-4)


def distance_from_rest(x, mesh):
    """Largest distance of a vertex from the rest shape, moved and turned to fit best [m]."""
    a, b = x - x.mean(0), mesh.points - mesh.points.mean(0)
    U, _, V = np.linalg.svd(a.T @ b)
    R = U @ np.diag([1, 1, np.linalg.det(U @ V)]) @ V
    return np.abs(a - b @ R.T).max()


@pytest.mark.slow
@pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
@pytest.mark.parametrize("mirror", [(-1, 1, 1), (-1, -1, -1)], ids=["mirrored", "point-reflected"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_a_cube_turned_inside_out_recovers(law, mirror, precision):
    """Every patch and tet starts inverted; after 4 s none is converted and the shape is the one at rest, to 0.2 %."""
    mesh = pl.shapes.box((1, 1, 1), (4, 4, 4))
    disorder = 0.01 * np.random.default_rng(0).normal(size=mesh.points.shape)
    scene = scene_of(law, mesh.points * mirror + disorder, mesh, **EARLIER)
    sim = pl.Simulation(scene, pl.VBD(iterations=20), frame_rate=60, substeps=1, precision=precision)
    assert sim.problem().model.internal_state.min() == 1.0
    for _ in range(240):
        sim.step()
    assert sim.state.internal_state.max() == 0.0
    assert distance_from_rest(sim.positions, mesh) < 2e-3


def test_a_tet_that_is_inverted_within_an_upright_patch_turns_back():
    """One vertex pushed through: the means of its patches stay upright, the tets have the conversion for themselves."""
    x = MESH.points.copy()
    x[22, 0] += 0.11
    sim = pl.Simulation(scene_of(pl.NeoHookean, x), pl.VBD(iterations=20), frame_rate=60, substeps=1)
    blocks = blocks_of(sim.problem())
    assert np.linalg.det(deformation_gradients(blocks[InvertiblePatches], x)).min() > 0.6
    assert np.linalg.det(deformation_gradients(blocks[InvertiblePatchTets], x)).min() < -0.05
    assert blocks[InvertiblePatches].interpolants.max() < 1.0
    assert blocks[InvertiblePatchTets].interpolants.max() == 1.0
    for _ in range(240):
        sim.step()
    assert sim.state.internal_state.max() == 0.0
    assert distance_from_rest(sim.positions, MESH) < 2e-3 * 0.3


@pytest.mark.parametrize("solver", [pl.VBD(iterations=5), pl.Newton(iterations=2)], ids=["VBD", "Newton"])
def test_threads_and_checkpoints_give_the_same_bits(tmp_path, solver):
    runs = [pl.Simulation(scene_of(pl.NeoHookean, tangled()), solver, threads=threads) for threads in (1, 2, 3)]
    for sim in runs:
        for _ in range(3):
            sim.step()
    assert runs[0].state.internal_state.max() > 0
    runs[0].save(tmp_path / "run.npz")
    runs.append(pl.Simulation.resume(tmp_path / "run.npz"))
    for sim in runs:
        sim.step()
    for sim in runs[1:]:
        np.testing.assert_array_equal(sim.positions, runs[0].positions)
        np.testing.assert_array_equal(sim.state.internal_state, runs[0].state.internal_state)


def test_a_material_that_varies_and_files(tmp_path):
    """Every tet with a modulus of its own; a scene file keeps element and conversion."""
    scene = pl.Scene()
    young = np.random.default_rng(1).uniform(1e4, 1e5, len(MESH.tets))
    body = scene.add_solid(MESH, pl.Invertible(pl.StableNeoHookean.from_young(young, 0.4), **EARLY), element="patch")
    body.set_positions(tangled())
    sim = pl.Simulation(scene, pl.VBD(iterations=3), precision="double")
    sim.step()
    pl.save_scene(sim, tmp_path / "scene.toml")
    read = pl.load_scene(tmp_path / "scene.toml").bodies[0]
    assert read.element == "patch"
    assert (read.material.lower, read.material.upper) == (0.5, 0.8)
    assert np.isfinite(sim.positions).all()
