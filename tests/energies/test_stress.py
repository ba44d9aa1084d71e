"""Stress of a tet: the uniaxial and shear closed forms, forces, turning, and the energy that elastic.py stores."""

import numpy as np
import pytest
from scipy.optimize import brentq

import pliant as pl
from pliant.energies import elastic, stress
from pliant.materials import SOLID_LAWS
from pliant.model import build_model

MU, LAM = 2.0e4, 5.0e4
every_law = pytest.mark.parametrize("name", SOLID_LAWS)


@pytest.fixture(scope="module")
def mesh():
    return pl.shapes.box((0.3, 0.2, 0.2), (2, 1, 1))


def law_named(name):
    """A law of the shear modulus MU, and of LAM if it has a second one."""
    law = SOLID_LAWS[name]
    return law(*(MU, LAM)[: len(law.parameter_names())]) if name == "ARAP" else law(MU, LAM)


def solids_of(mesh, law):
    scene = pl.Scene()
    scene.add_solid(mesh, law)
    return build_model(scene).solids[0]


def measured(solids, x):
    """Energy densities and von Mises stresses."""
    return stress.TetFields(solids).measure(stress.in_rows(x))


@every_law
@pytest.mark.parametrize("stretch", [0.8, 1.0, 1.4])
def test_uniaxial_pull(nominal_stress, mesh, name, stretch):
    """With free sides sigma_xx = P_11 / l2^2 is all there is, and equals the von Mises stress."""
    formula = nominal_stress[name]
    lateral = brentq(lambda l2: formula(l2, stretch, l2, MU, LAM), 0.4, 1.4, xtol=1e-15)
    solids = solids_of(mesh, law_named(name))
    sigma = stress.cauchy_stress(solids, mesh.points * [stretch, lateral, lateral])
    expected = formula(stretch, lateral, lateral, MU, LAM) / lateral**2
    np.testing.assert_allclose(sigma[:, 0, 0], expected, rtol=1e-9, atol=1e-8 * MU)
    sigma[:, 0, 0] = 0
    np.testing.assert_allclose(sigma, 0, atol=1e-8 * MU)
    equivalent = measured(solids, mesh.points * [stretch, lateral, lateral])[1]
    np.testing.assert_allclose(equivalent, abs(expected), rtol=1e-9, atol=1e-8 * MU)


def test_simple_shear_of_neo_hookean(mesh):
    """F = 1 + g e_x e_y keeps the volume: sigma_xy = mu g, sigma_xx - sigma_yy = mu g^2."""
    g = 0.3
    solids = solids_of(mesh, pl.NeoHookean(MU, LAM))
    x = mesh.points @ np.array([[1, 0, 0], [g, 1, 0], [0, 0, 1.0]])
    sigma = stress.cauchy_stress(solids, x)
    np.testing.assert_allclose(sigma[:, 0, 1], MU * g, rtol=1e-12)
    np.testing.assert_allclose(sigma[:, 0, 0] - sigma[:, 1, 1], MU * g**2, rtol=1e-9)
    np.testing.assert_allclose(sigma[:, 2, :2], 0, atol=1e-9 * MU)
    equivalent = measured(solids, x)[1]
    np.testing.assert_allclose(equivalent, MU * np.sqrt(g**4 + 3 * g**2), rtol=1e-9)


@every_law
def test_stress_gives_the_forces_of_the_energy(mesh, shaken, name):
    """The gradient at a vertex is v sigma grad(N_i) over its tets, with deformed volume v and shape function N_i."""
    x = shaken(mesh)
    solids = solids_of(mesh, law_named(name))
    tensor = stress.cauchy_stress(solids, x)
    edges = x[mesh.tets[:, 1:]] - x[mesh.tets[:, :1]]
    inner = np.linalg.inv(edges).transpose(0, 2, 1)
    gradients = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)
    nodal = np.einsum("m,mab,mib->mia", np.linalg.det(edges) / 6, tensor, gradients)
    force = np.zeros_like(x)
    np.add.at(force, mesh.tets, nodal)
    expected = elastic.gradient(solids, x)
    np.testing.assert_allclose(force, expected, atol=1e-9 * np.abs(expected).max())


@every_law
def test_von_mises_is_that_of_the_stress(mesh, shaken, name):
    """sqrt(3/2 s : s) of the deviator s of sigma."""
    solids, x = solids_of(mesh, law_named(name)), shaken(mesh)
    sigma = stress.cauchy_stress(solids, x)
    deviator = sigma - np.einsum("maa->m", sigma)[:, None, None] / 3 * np.eye(3)
    expected = np.sqrt(1.5 * np.einsum("mab,mab->m", deviator, deviator))
    np.testing.assert_allclose(measured(solids, x)[1], expected, rtol=1e-9)


@every_law
def test_turning_and_moving_far_change_neither_energy_nor_von_mises(mesh, shaken, name):
    """And the density is the one elastic.py sums."""
    solids = solids_of(mesh, law_named(name))
    x = shaken(mesh)
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    psi, equivalent = measured(solids, x)
    np.testing.assert_allclose(psi, elastic.densities(solids, x), rtol=1e-12)
    moved = measured(solids, x @ turn.T + 10)
    np.testing.assert_allclose(moved[0], psi, rtol=1e-9)
    np.testing.assert_allclose(moved[1], equivalent, rtol=1e-9)


def test_inverted_tets_have_infinite_energy_where_the_law_has_a_barrier(mesh):
    inverted = mesh.points * [-1, 1, 1]
    assert np.isposinf(measured(solids_of(mesh, pl.NeoHookean(MU, LAM)), inverted)[0]).all()
    stable = measured(solids_of(mesh, pl.StableNeoHookean(MU, LAM)), inverted)
    # psi = mu/2 (I - 3) - mu (J - 1) + l/2 (J - 1)^2 with I = 3, J = -1, l = lam + mu; B = 1 has no deviator
    np.testing.assert_allclose(stable[0], 2 * MU + 2 * (LAM + MU), rtol=1e-12)
    np.testing.assert_allclose(stable[1], 0, atol=1e-9 * MU)
