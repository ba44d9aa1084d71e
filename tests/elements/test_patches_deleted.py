"""Patches some of whose tets are deleted: means of those that are left."""

import numpy as np
import pytest

import pliant as pl
from pliant.energies.stress import cauchy_stress, of_solid
from pliant.geometry.patches import patches_of_tets

LAW = pl.StableNeoHookean.from_young(1e5, 0.45)
LAWS = {"law": LAW, "invertible": pl.Invertible(LAW)}
F = np.eye(3) + 0.2 * np.random.default_rng(2).normal(size=(3, 3))


def two_boxes(law=LAW, element="patch", tets=None):
    """Two boxes of alternating and Kuhn's tets; tets: which of the second's are left."""
    scene = pl.Scene()
    first, second = pl.shapes.box((1, 1, 1), 2), pl.shapes.box((1, 1, 1), (3, 2, 2), "kuhn")
    scene.add_solid(first, law, element=element)
    points = second.points + np.array([3.0, 0, 0])
    mesh = pl.TetMesh(points, second.tets) if tets is None else without_loose(points, second.tets[tets])
    body = scene.add_solid(mesh, law, element=element)
    return pl.Simulation(scene, pl.Newton(), precision="double"), body


def without_loose(points, tets):
    used = np.unique(tets)
    return pl.TetMesh(points[used], np.searchsorted(used, tets))


def homogeneous(sim):
    return sim.positions @ F.T


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_whole_patches_that_are_deleted_leave_the_others(law):
    """The same forces and masses as of a mesh that never had them."""
    sim, body = two_boxes(law)
    patch = patches_of_tets(body.mesh.tets, 8)
    left = ~np.isin(patch, patch[[0, 17]])
    sim.delete(body, ~left)
    smaller, other = two_boxes(law, tets=left)
    used = np.r_[np.arange(27), 27 + np.unique(body.mesh.tets[left])]
    np.testing.assert_allclose(sim.model.mass[used], smaller.model.mass, rtol=1e-13)
    assert sim.model.mass.sum() == pytest.approx(smaller.model.mass.sum(), rel=1e-13)
    x = sim.positions + 0.05 * np.random.default_rng(5).normal(size=sim.positions.shape)
    whole, part = sim.problem().gradient(x)[used], smaller.problem().gradient(x[used])
    np.testing.assert_allclose(whole, part, atol=1e-9 * np.abs(part).max())
    assert len(other.mesh.tets) == len(body.tets)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_a_part_of_a_patch_passes_the_patch_test(law):
    """A homogeneous deformation has the energy and the forces of linear tets; rigid motions alone have no energy."""
    gone = [0, 1, 2, 8, 20, 40, 41]
    patched, body = two_boxes(law)
    patched.delete(body, gone)
    linear, other = two_boxes(law, element="linear")
    linear.delete(other, gone)
    x = homogeneous(patched)
    energies = [sim.problem().energies(x)["elastic"] for sim in (patched, linear)]
    assert energies[0] == pytest.approx(energies[1], rel=1e-11)
    forces = [sim.problem().gradient(x) for sim in (patched, linear)]
    np.testing.assert_allclose(*forces, atol=1e-9 * np.abs(forces[1]).max())
    np.testing.assert_allclose(patched.model.mass, linear.model.mass, rtol=1e-13)
    modes = []
    for sim in (patched, linear):
        inertia = np.repeat(sim.model.mass, 3) / sim.h**2
        modes.append(np.linalg.eigvalsh(sim.problem().hessian(sim.positions).toarray() - np.diag(inertia)))
    for values in modes:
        assert (np.abs(values) < 1e-8 * values[-1]).sum() == 12, "two bodies, nothing hangs by a vertex or an edge"


def test_bit_by_bit_at_once_and_from_a_file(tmp_path):
    """The same bits."""
    runs = []
    for parts in ([[0, 1, 20], [2, 40], [8]], [[0, 1, 2, 8, 20, 40]]):
        sim, body = two_boxes(pl.Invertible(LAW))
        for part in parts:
            sim.delete(body, part)
        sim.step()
        runs.append(sim)
    np.testing.assert_array_equal(runs[0].positions, runs[1].positions)
    runs[0].save(tmp_path / "left.npz")
    again = pl.Simulation.resume(tmp_path / "left.npz")
    for sim in (runs[0], again):
        sim.step()
    np.testing.assert_array_equal(runs[0].positions, again.positions)


def test_stress_is_that_of_what_is_left():
    """Of a homogeneous deformation, that of the law, as before."""
    sim, body = two_boxes()
    sim.delete(body, [0, 1, 30])
    x = homogeneous(sim)
    stress = of_solid(sim.model, 1, x, cauchy_stress, smooth=False)
    whole = of_solid(two_boxes()[0].model, 1, x, cauchy_stress, smooth=False)
    assert len(stress) == len(body.mesh.tets) - 3
    np.testing.assert_allclose(stress, np.broadcast_to(whole[0], stress.shape), rtol=1e-9)
