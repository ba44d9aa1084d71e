"""Elastic energy: invariances, an independent formula, and what happens at inversion."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.energies import elastic
from pliant.materials import SOLID_LAWS
from pliant.materials.calculus import law_code

every_law = pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)


@pytest.fixture(scope="module")
def solids_of(make_simulation):
    """A function: mesh and tets of one law."""
    mesh = pl.shapes.box((0.2, 0.2, 0.2), (2, 2, 2))
    known = {law: make_simulation(law, mesh=mesh).model.solids[0] for law in SOLID_LAWS.values()}
    return lambda law: (mesh, known[law])


def textbook_density(law, F, mu, lam=0.0, share=0.0, growth=1.0):
    """psi from the principal stretches: another road than the invariants the code uses."""
    s = np.linalg.svd(F, compute_uv=False)
    J = np.linalg.det(F)
    if law is pl.StVenantKirchhoff:
        strain = (s**2 - 1) / 2
        return mu * np.sum(strain**2) + lam / 2 * np.sum(strain) ** 2
    if law.__name__ in ("Corotated", "ARAP"):
        return mu * np.sum((s - 1) ** 2) + lam / 2 * np.sum(s - 1) ** 2
    if law is pl.FixedCorotated:
        return mu * np.sum((s - 1) ** 2) + lam / 2 * (J - 1) ** 2
    shear = mu / 2 * (np.sum(s**2) - 3)
    if law is pl.NeoHookean:
        return shear - mu * np.log(J) + lam / 2 * np.log(J) ** 2
    if law is pl.StableNeoHookean:
        return shear - mu * (J - 1) + (lam + mu) / 2 * (J - 1) ** 2
    kept = s / J ** (1 / 3)  # stretches without the change of volume
    first, second = np.sum(kept**2) - 3, np.sum(kept**-2.0) - 3
    shape = {
        "CompressibleNeoHookean": first,
        "MooneyRivlin": (1 - share) * first + share * second,
        "Fung": (1 - share) * first + share * np.expm1(growth * first) / growth,
    }
    return mu / 2 * shape[law.__name__] + (lam + 2 * mu / 3) / 2 * (1 / J - 1) ** 2


@every_law
def test_energy_equals_the_textbook_formula(law, solids_of, shaken):
    """Sum of V psi(F), with F by solving Dx = F DX and psi by singular values."""
    mesh, solids = solids_of(law)
    x = shaken(mesh, seed=4)
    total = 0.0
    for tet in mesh.tets:
        DX, Dx = (mesh.points[tet[1:]] - mesh.points[tet[0]]).T, (x[tet[1:]] - x[tet[0]]).T
        total += np.linalg.det(DX) / 6 * textbook_density(law, Dx @ np.linalg.inv(DX), *solids.parameters[0])
    assert elastic.energy(solids, x) == pytest.approx(total, rel=1e-12)


@every_law
@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_elastic_forces_have_no_net_force_and_no_net_torque(law, solids_of, shaken, seed):
    """Newton's third law at any state: sums vanish to rounding of their terms."""
    mesh, solids = solids_of(law)
    x = shaken(mesh, seed, noise=0.3, strain=0.4) + 1.0
    g = elastic.gradient(solids, x)
    torques = np.cross(x, g)
    assert np.abs(g.sum(0)).max() <= 1e-12 * np.abs(g).sum()
    assert np.abs(torques.sum(0)).max() <= 1e-12 * np.abs(torques).sum()


@every_law
@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), far=st.floats(-100, 100))
def test_rigid_motion_leaves_the_energy_and_turns_the_forces(law, solids_of, shaken, seed, far):
    """E(R x + t) = E(x) and dE(R x + t) = R dE(x)."""
    mesh, solids = solids_of(law)
    x = shaken(mesh, seed)
    R = Rotation.random(random_state=seed).as_matrix()
    moved = x @ R.T + (far, -far / 2, 1.0)
    rounding = 1e-15 * (1 + abs(far)) / 0.1  # of positions, against an edge
    assert elastic.energy(solids, moved) == pytest.approx(elastic.energy(solids, x), rel=1e-12 + 1e3 * rounding)
    g = elastic.gradient(solids, x) @ R.T
    np.testing.assert_allclose(
        elastic.gradient(solids, moved), g, rtol=0, atol=(1e-12 + 1e3 * rounding) * np.abs(g).max()
    )


@every_law
def test_nothing_is_stored_and_nothing_pulls_at_rest(law, solids_of):
    mesh, solids = solids_of(law)
    mu_volume = solids.parameters[0, 0] * solids.volumes.sum()
    assert abs(elastic.energy(solids, mesh.points)) <= 1e-14 * mu_volume
    assert np.abs(elastic.gradient(solids, mesh.points)).max() <= 1e-13 * mu_volume / 0.1


@every_law
def test_small_strain_has_the_lame_parameters(law, solids_of):
    """psi = mu |e|^2 + lam/2 (tr e)^2 to second order: mu and lam mean the same in every law."""
    mesh, solids = solids_of(law)
    mu, lam = solids.parameters[0, 0], 0.0 if law is pl.ARAP else solids.parameters[0, 1]
    e = np.array([[1.0, 0.4, -0.2], [0.4, -0.6, 0.3], [-0.2, 0.3, 0.8]]) * 1e-4
    expected = solids.volumes.sum() * (mu * np.sum(e**2) + lam / 2 * np.trace(e) ** 2)
    assert elastic.energy(solids, mesh.points @ (np.eye(3) + e)) == pytest.approx(expected, rel=1e-3)


WITH_BARRIER = {name: law for name, law in SOLID_LAWS.items() if law_code(law).has_barrier}


def test_which_laws_have_a_barrier():
    assert set(WITH_BARRIER) == {"NeoHookean", "CompressibleNeoHookean", "MooneyRivlin", "Fung"}


@pytest.mark.parametrize("law", WITH_BARRIER.values(), ids=WITH_BARRIER)
@pytest.mark.parametrize("collapse", [0.0, -0.5])
def test_energy_of_a_barrier_is_infinite_for_a_flat_or_inverted_element(law, solids_of, collapse):
    """One vertex pushed through its opposite faces is enough; energy is inf, not NaN."""
    mesh, solids = solids_of(law)
    assert elastic.energy(solids, mesh.points * (1, 1, collapse)) == np.inf


@pytest.mark.parametrize("law", [pl.StableNeoHookean, pl.StVenantKirchhoff])
def test_other_laws_stay_finite_for_inverted_elements(law, solids_of):
    """A mirrored body: stretches 1 and det F = -1, so psi is 2 mu + 2 (lam + mu) for stable neo-Hookean, else 0."""
    mesh, solids = solids_of(law)
    mu, lam = solids.parameters[0]
    psi = 4 * mu + 2 * lam if law is pl.StableNeoHookean else 0.0
    expected = psi * solids.volumes.sum()
    assert elastic.energy(solids, mesh.points * (1, 1, -1)) == pytest.approx(expected, rel=1e-12, abs=1e-12 * mu)
