"""A bar pulled along one axis, its sides free: stretch and stress against formulas of the principal stretches."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq

from pliant.materials import SOLID_LAWS
from pliant.materials.calculus import law_code

MU, LAM = 2.0, 5.0


def _stable_neo_hookean(l1: float, l2: float, l3: float) -> float:
    J = l1 * l2 * l3
    return MU * l1 - MU * l2 * l3 + (LAM + MU) * (J - 1) * l2 * l3


def _neo_hookean(l1: float, l2: float, l3: float) -> float:
    return MU * (l1 - 1 / l1) + LAM * np.log(l1 * l2 * l3) / l1


def _st_venant_kirchhoff(l1: float, l2: float, l3: float) -> float:
    trace = (l1**2 + l2**2 + l3**2 - 3) / 2
    return l1 * (MU * (l1**2 - 1) + LAM * trace)


# dpsi/dl1, written by hand from the papers' formulas in principal stretches l1, l2, l3
NOMINAL_STRESS: dict[str, Callable[[float, float, float], float]] = {
    "StableNeoHookean": _stable_neo_hookean,
    "NeoHookean": _neo_hookean,
    "StVenantKirchhoff": _st_venant_kirchhoff,
}


def pliants_stresses(name: str, l1: float, l2: float) -> tuple[float, float]:
    """P_11 and P_22 of F = diag(l1, l2, l2) from the derivatives Pliant generates."""
    squares = np.array([l1, l2, l2]) ** 2
    first, _ = law_code(SOLID_LAWS[name]).functions.derivatives(
        squares.sum(), (squares**2).sum(), l1 * l2 * l2, MU, LAM
    )
    psi_I, psi_II, psi_J = (0.0 if d is None else d for d in first)
    return (
        2 * psi_I * l1 + 4 * psi_II * l1**3 + psi_J * l2 * l2,
        2 * psi_I * l2 + 4 * psi_II * l2**3 + psi_J * l1 * l2,
    )


def test_every_law_has_a_formula() -> None:
    """A new law needs its line above."""
    assert set(NOMINAL_STRESS) == set(SOLID_LAWS)


@pytest.mark.parametrize("name", NOMINAL_STRESS)
@pytest.mark.parametrize("stretch", [0.7, 0.9, 1.0, 1.1, 1.5, 1.8])
def test_uniaxial_stretch(name: str, stretch: float) -> None:
    """With the lateral stretch that frees the sides, P_22 vanishes and P_11 is the formula's."""
    formula = NOMINAL_STRESS[name]
    lateral = brentq(lambda l2: formula(l2, stretch, l2), 0.4, 1.4, xtol=1e-14)
    along, across = pliants_stresses(name, stretch, lateral)
    assert abs(across) < 1e-11
    np.testing.assert_allclose(along, formula(stretch, lateral, lateral), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", NOMINAL_STRESS)
def test_small_pull_gives_young_and_poisson(name: str) -> None:
    """P_11 = E strain and lateral strain = -nu strain, to first order."""
    strain = 1e-6
    lateral = brentq(lambda l2: NOMINAL_STRESS[name](l2, 1 + strain, l2), 0.9, 1.1, xtol=1e-16)
    E, nu = MU * (3 * LAM + 2 * MU) / (LAM + MU), LAM / (2 * (LAM + MU))
    np.testing.assert_allclose((lateral - 1) / strain, -nu, rtol=1e-4)
    np.testing.assert_allclose(pliants_stresses(name, 1 + strain, lateral)[0] / strain, E, rtol=1e-4)
