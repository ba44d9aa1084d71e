"""Patches of tets with one mean strain: exact where strain is homogeneous, no locking, no spurious modes."""

import numpy as np
import pytest

import pliant as pl
from pliant.elements.patch import Patches, PatchTets
from pliant.elements.patch_measure import CORNERS
from pliant.energies import IncrementalPotential
from pliant.energies.elastic import densities
from pliant.geometry.patches import face_neighbours, patches_of_tets
from pliant.materials.rest_moduli import lame_parameters_at_rest
from pliant.materials.volume_part import with_lam
from pliant.model import build_model

LAW = pl.StableNeoHookean.from_young(1e5, 0.49)
MESHES = {
    "kuhn": pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2), split="kuhn"),
    "alternating": pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2), split="alternating"),
    "ball": pl.shapes.ball(0.1, 2),
}


def potential_of(mesh, law=LAW, element="patch"):
    """Energies without inertia that matters: a step of 1e6 s."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(mesh, law, element=element)
    model = build_model(scene)
    x = model.positions
    return IncrementalPotential(model, 1e6, x, x, x)


def block_of(problem, kind):
    return next(block for block in problem.model.blocks if type(block) is kind)


def test_patches_are_connected_and_have_at_most_eight_vertices():
    for name, mesh in MESHES.items():
        patch, neighbours = patches_of_tets(mesh.tets, CORNERS), face_neighbours(mesh.tets)
        assert (patch >= 0).all()
        sizes = np.bincount(patch)
        for k in range(len(sizes)):
            own = np.flatnonzero(patch == k)
            assert len(np.unique(mesh.tets[own])) <= CORNERS
            reached = {own[0]}
            for _ in own:
                reached |= {int(t) for r in reached for t in neighbours[r] if t >= 0 and patch[t] == k}
            assert reached == set(own.tolist())
        assert sizes.mean() >= 4, name
        assert np.array_equal(patch, patches_of_tets(mesh.tets, CORNERS))
    assert (np.bincount(patches_of_tets(MESHES["kuhn"].tets, CORNERS)) == 6).all(), "cells of a box"
    alternating = patches_of_tets(MESHES["alternating"].tets, CORNERS)
    np.testing.assert_array_equal(alternating, np.repeat(np.arange(12), 5), "cells of a box")


@pytest.mark.parametrize("law", [LAW, pl.StVenantKirchhoff.from_young(1e5, 0.4), pl.NeoHookean.from_young(1e5, 0.45)])
def test_derivatives_by_finite_differences(law):
    problem = potential_of(MESHES["ball"], law)
    rng = np.random.default_rng(1)
    x = problem.x_prev + 0.004 * rng.standard_normal(problem.x_prev.shape)
    g, H, d = problem.gradient(x), problem.hessian(x), rng.standard_normal(x.shape)
    e = 1e-6
    slope = (problem.energy(x + e * d) - problem.energy(x - e * d)) / (2 * e)
    assert np.sum(g * d) == pytest.approx(slope, rel=1e-6)
    change = (problem.gradient(x + e * d) - problem.gradient(x - e * d)) / (2 * e)
    np.testing.assert_allclose(H @ d.ravel(), change.ravel(), atol=1e-6 * np.abs(change).max())


@pytest.mark.parametrize("name", MESHES)
def test_homogeneous_deformation_is_that_of_the_law(name):
    """The patch test: no force inside, and the energy V psi(F)."""
    patched, linear = potential_of(MESHES[name]), potential_of(MESHES[name], element="linear")
    F = np.array([[1.2, 0.1, 0.0], [-0.05, 0.95, 0.2], [0.1, 0.0, 1.1]])
    x = patched.x_prev @ F.T + np.array([0.3, -0.2, 1.0])
    assert patched.energies(x)["elastic"] == pytest.approx(linear.energies(x)["elastic"], rel=1e-12)
    np.testing.assert_allclose(patched.gradient(x), linear.gradient(x), atol=1e-9 * np.abs(linear.gradient(x)).max())


@pytest.mark.parametrize("name", MESHES)
def test_only_rigid_motions_are_free_and_no_mode_is_spurious(name):
    patched, linear = potential_of(MESHES[name]), potential_of(MESHES[name], element="linear")
    modes = [np.linalg.eigvalsh(p.hessian(p.x_prev).toarray()) for p in (patched, linear)]
    assert np.abs(modes[0][:6]).max() < 1e-9 * modes[0][-1]
    assert modes[0][6] > 0.1 * modes[1][6], "the softest mode that strains"
    x = patched.x_prev
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert patched.energies(x @ turn.T + 5.0)["elastic"] == pytest.approx(0.0, abs=1e-9 * patched.model.mass.sum())


def test_every_law_keeps_its_moduli():
    from pliant.materials import SOLID_LAWS

    mesh, F = MESHES["alternating"], np.diag([1.001, 0.9995, 1.0008])
    tried = 0
    for kind in SOLID_LAWS.values():
        try:
            law = kind.from_young(1e5, 0.4)
        except (AttributeError, TypeError, pl.PliantError):  # laws without, or with one Poisson's ratio
            continue
        tried += 1
        patched, linear = potential_of(mesh, law), potential_of(mesh, law, element="linear")
        x = patched.x_prev @ F.T
        assert patched.energies(x)["elastic"] == pytest.approx(linear.energies(x)["elastic"], rel=5e-3), kind
    assert tried >= 4
    lam, mu = LAW.lam, LAW.mu
    tets, patches = (lame_parameters_at_rest(type(LAW), p) for p in with_lam(type(LAW), np.array([[mu, lam]]), 0.1))
    assert tets[0] == pytest.approx(mu)
    assert 0.1 * tets[0] + 0.9 * patches[0] == pytest.approx(lam)
    assert tets[1] == pytest.approx(mu) == patches[1]


def beam(element, solver, cells=(4, 1, 1)):
    scene = pl.Scene()
    mesh = pl.shapes.box((0.4, 0.1, 0.1), cells)
    body = scene.add_solid(mesh, LAW, element=element, damping=0.01)
    body.pin(mesh.points[:, 0] < -0.19)
    return pl.Simulation(scene, solver, precision="double"), body


def test_descent_finds_what_newton_finds():
    found = []
    for solver in (pl.Newton(tolerance=1e-10), pl.VBD(iterations=400)):
        sim, _ = beam("patch", solver)
        for _ in range(3):
            sim.step()
        found.append(sim.positions)
    np.testing.assert_allclose(found[1], found[0], atol=1e-6 * 0.4)


def test_stress_is_that_of_the_patch():
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh, E = MESHES["kuhn"], 1e5
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(E, 0.4999), element="patch")
    left, right = mesh.points[:, 0] < -0.149, mesh.points[:, 0] > 0.149
    body.constrain_to_plane(left, (1, 0, 0))
    body.move(right, lambda t: mesh.points[right] * [1 + 0.01 * t, 1, 1])
    found = pl.equilibrium(scene)
    sigma = found.stress(body)
    patch = block_of(IncrementalPotential(build_model(scene), 1.0, *(3 * [mesh.points])), PatchTets).patch
    for k in range(patch.max() + 1):
        own = sigma[patch == k]
        np.testing.assert_allclose(own, own[:1].repeat(len(own), axis=0), atol=1e-6 * E)


def cook_rise(cells, element, nu=0.4999):
    """Rise of the middle of the loaded edge over load / (E thickness), in plane strain."""
    unit = pl.shapes.box((1.0, 1.0, 1.0), (cells, cells, 1))
    s, t, z = (unit.points + 0.5).T
    points = np.stack([48 * s, 44 * s + t * (44 - 28 * s), z * 48 / cells], axis=1)
    scene = pl.Scene(gravity=(0, 0, 0))
    material = pl.StableNeoHookean.from_young(1.0, nu)
    body = scene.add_solid(pl.TetMesh(points, unit.tets), material, density=1.0, element=element)
    body.constrain_to_plane(s >= 1e-9, (0, 0, 1))
    body.pin(s < 1e-9)
    right, load = s > 1 - 1e-9, 1e-4
    share = np.where(right, np.where((t < 1e-9) | (t > 1 - 1e-9), 0.5, 1.0), 0.0)
    forces = np.outer(share / share.sum(), [0, load * 48 / cells, 0])
    body.add_force(lambda x, v, time: forces)
    found = pl.equilibrium(scene)
    assert found.report.converged
    return float(found.displacements[right & np.isclose(t, 0.5), 1].mean() / load)


def test_cooks_membrane_does_not_lock():
    """18.50: quadrilaterals with mean dilatation on 16, 32 and 64 cells, extrapolated (ratio of changes 2.8)."""
    assert cook_rise(8, "patch") == pytest.approx(18.50, rel=0.06)
    assert cook_rise(8, "linear") < 0.6 * 18.50, "linear tets do"


@pytest.mark.slow
def test_cooks_membrane_on_sixteen_cells():
    assert cook_rise(16, "patch") == pytest.approx(18.50, rel=0.025)


def test_what_patches_cannot_do_is_refused():
    scene, mesh = pl.Scene(), MESHES["kuhn"]
    with pytest.raises(pl.PliantError, match=r"element is 'hex': choose one of 'linear', 'patch'"):
        scene.add_solid(mesh, LAW, element="hex")
    scene.add_solid(mesh, LAW, element="patch")
    with pytest.raises(pl.PliantError, match=r'XPBD does not support element="patch"'):
        pl.Simulation(scene, pl.XPBD())


def test_files_keep_the_element(tmp_path):
    sim, _ = beam("patch", pl.Newton())
    sim.step()
    sim.save(tmp_path / "run.npz")
    again = pl.Simulation.resume(tmp_path / "run.npz")
    sim.step(), again.step()
    assert np.array_equal(sim.positions, again.positions)
    pl.save_scene(sim, tmp_path / "scene.toml")
    body = pl.load_scene(tmp_path / "scene.toml").bodies[0]
    assert body.element == "patch"
    assert np.isfinite(densities(block_of(sim.problem(), Patches), sim.positions)).all()


def test_body_centred_tets_are_grouped_by_faces():
    """Four tets around the line through each face; a grid of alternating tets is grouped by cells, Kuhn's otherwise."""
    mesh = pl.shapes.box((0.3, 0.1, 0.1), (3, 1, 1))
    patch = patches_of_tets(mesh.tets, 8)
    np.testing.assert_array_equal(np.bincount(patch), np.full(16, 4))  # 14 faces of the rim and 2 inside
    for number in range(16):
        own = mesh.tets[patch == number]
        assert len(np.unique(own)) == 6
        assert len(set.intersection(*map(set, own.tolist()))) == 2
    assert np.bincount(patches_of_tets(pl.shapes.box(cells=2).tets, 8)).tolist() == [5] * 8
