"""A bar pulled along one axis, its sides free: stretch and stress against formulas of the principal stretches."""

import numpy as np
import pytest
from scipy.optimize import brentq

from pliant.materials import SOLID_LAWS, LameLaw, SolidLaw
from pliant.materials.calculus import law_code

MU, LAM = 2.0, 5.0
every_law = pytest.mark.parametrize("name", SOLID_LAWS)


def material(name: str) -> SolidLaw:
    """With the moduli MU and LAM, or with MU alone where the law has no lam."""
    law = SOLID_LAWS[name]
    return law(MU, LAM) if issubclass(law, LameLaw) else law(MU)


def pliants_stresses(name: str, l1: float, l2: float) -> tuple[float, float]:
    """P_11 and P_22 of F = diag(l1, l2, l2) from the derivatives Pliant generates."""
    squares = np.array([l1, l2, l2]) ** 2
    first, _ = law_code(SOLID_LAWS[name]).functions.derivatives(
        squares.sum(), (squares**2).sum(), l1 * l2 * l2, *material(name).parameters
    )
    psi_I, psi_II, psi_J = (0.0 if d is None else d for d in first)
    return (
        2 * psi_I * l1 + 4 * psi_II * l1**3 + psi_J * l2 * l2,
        2 * psi_I * l2 + 4 * psi_II * l2**3 + psi_J * l1 * l2,
    )


def test_every_law_has_a_formula(nominal_stress) -> None:
    """A new law needs its line in tests/conftest.py."""
    assert set(SOLID_LAWS) <= set(nominal_stress)


@every_law
@pytest.mark.parametrize("stretch", [0.7, 0.9, 1.0, 1.1, 1.5, 1.8])
def test_uniaxial_stretch(nominal_stress, name: str, stretch: float) -> None:
    """With the lateral stretch that frees the sides, P_22 vanishes and P_11 is the formula's."""
    formula = nominal_stress[name]
    lateral = brentq(lambda l2: formula(l2, stretch, l2, MU, LAM), 0.4, 1.4, xtol=1e-14)
    along, across = pliants_stresses(name, stretch, lateral)
    assert abs(across) < 1e-11
    np.testing.assert_allclose(along, formula(stretch, lateral, lateral, MU, LAM), rtol=1e-11, atol=1e-11)


@every_law
def test_small_pull_gives_young_and_poisson(nominal_stress, name: str) -> None:
    """P_11 = E strain and lateral strain = -nu strain, to first order."""
    strain = 1e-6
    lateral = brentq(lambda l2: nominal_stress[name](l2, 1 + strain, l2, MU, LAM), 0.9, 1.1, xtol=1e-16)
    lam = material(name).lam
    E, nu = MU * (3 * lam + 2 * MU) / (lam + MU), lam / (2 * (lam + MU))
    np.testing.assert_allclose((lateral - 1) / strain, -nu, rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(pliants_stresses(name, 1 + strain, lateral)[0] / strain, E, rtol=1e-4)
