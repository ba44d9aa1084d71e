"""Tets that convert (Wang and Yang, Equations 17 to 19): interpolants, energy, derivatives and vertex blocks."""

import numpy as np
import pytest

import pliant as pl
from pliant.energies import elastic, invertible
from pliant.materials import SOLID_LAWS

every_law = pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
LOWER, UPPER, RELEASE = 0.3, 0.7, 0.1


@pytest.fixture(scope="module")
def crushed(shaken):
    """A function: a block with healthy, crushed and inverted tets, its positions, and the true smallest stretches."""
    mesh = pl.shapes.box((0.2, 0.2, 0.2), (2, 2, 2))

    def make(law):
        scene = pl.Scene()
        material = law.from_young(1e5, 0.0 if law is pl.ARAP else 0.3)
        scene.add_solid(mesh, pl.Invertible(material, LOWER, UPPER, RELEASE, stiffness=4e4))
        x = mesh.points * (1, 1, 0.6) + np.random.default_rng(2).normal(0, 0.03, mesh.points.shape)
        model = pl.Simulation(scene, pl.Newton()).model
        (block,) = model.with_internal_state(model.internal_state).blocks
        F = elastic.deformation_gradients(block, x)
        s = np.linalg.svd(F, compute_uv=False)[:, 2] * np.sign(np.linalg.det(F))
        return block, x, s

    return make


def test_interpolants_follow_equation_17(crushed):
    """From 0, and down from 1 by the release at a time, each with the true singular values."""
    block, x, s = crushed(pl.NeoHookean)
    assert (s < LOWER).sum() > 3
    assert (s > UPPER).sum() > 3
    assert ((s > LOWER) & (s < UPPER)).sum() > 3
    invertible.update_internal_state(block, x)
    wanted = np.clip((UPPER - s) / (UPPER - LOWER), 0, 1)
    np.testing.assert_allclose(block.interpolants, wanted, rtol=0, atol=1e-5)
    block.interpolants[:] = 1.0
    for k in range(1, 4):
        invertible.update_internal_state(block, x)
        np.testing.assert_allclose(block.interpolants, np.maximum(wanted, 1 - k * RELEASE), rtol=0, atol=1e-5)


@every_law
def test_derivatives_equal_finite_differences_with_frozen_interpolants(law, crushed):
    """Gradient of the energy and Hessian of the gradient, at a state with inverted tets, barrier or not."""
    block, x, _ = crushed(law)
    invertible.update_internal_state(block, x)
    g = invertible.gradient(block, x)
    assert np.isfinite(invertible.energy(block, x))
    d = np.random.default_rng(3).normal(size=x.shape)
    d /= np.abs(d).max()
    h = 1e-7
    forward, back = x + h * d, x - h * d
    slope = (invertible.energy(block, forward) - invertible.energy(block, back)) / (2 * h)
    scale = np.abs(g).max()
    assert slope == pytest.approx(np.sum(g * d), abs=1e-5 * scale)
    bent = (invertible.gradient(block, forward) - invertible.gradient(block, back)) / (2 * h)
    H = invertible.element_hessians(block, x, slice(None))
    product = np.zeros_like(x)
    np.add.at(product, block.tets, np.einsum("miajb,mjb->mia", H, d[block.tets]))
    np.testing.assert_allclose(bent, product, rtol=0, atol=2e-5 * np.abs(product).max())


@every_law
def test_vertex_blocks_are_those_of_equation_19(law, crushed):
    """(1 - l) times the law's, l times the constant matrix 2 k V |b|^2 of projective dynamics."""
    block, x, _ = crushed(law)
    invertible.update_internal_state(block, x)
    l = block.interpolants
    expected = np.zeros((len(x), 3, 3))
    for t, corners in enumerate(block.tets):
        constant = 2 * 4e4 * block.volumes[t] * l[t]
        for k, i in enumerate(corners):
            expected[i] += constant * block.gradients[t, k] @ block.gradients[t, k] * np.eye(3)
    for t in np.flatnonzero(l < 1):
        part = slice(t, t + 1)
        own = (1 - l[t]) * elastic.element_hessians(block, x, part)[0]
        for k, i in enumerate(block.tets[t]):
            expected[i] += own[k, :, k]
    np.testing.assert_allclose(
        invertible.vertex_blocks(block, x), expected, rtol=0, atol=1e-12 * np.abs(expected).max()
    )


def test_a_healthy_body_has_the_law_alone(shaken):
    """l = 0 everywhere: energy and gradient are the plain law's."""
    mesh = pl.shapes.box((0.2, 0.2, 0.2), (2, 2, 2))
    x = shaken(mesh, seed=1)
    problems = []
    for material in (pl.Fung(1e4, 2e4), pl.Invertible(pl.Fung(1e4, 2e4))):
        scene = pl.Scene()
        scene.add_solid(mesh, material).set_positions(x)
        problems.append(pl.Simulation(scene, pl.Newton()).problem())
    plain, wrapped = problems
    assert wrapped.energy(x) == pytest.approx(plain.energy(x), rel=1e-13)
    np.testing.assert_allclose(wrapped.gradient(x), plain.gradient(x), rtol=0, atol=1e-12)
