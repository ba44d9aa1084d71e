"""Parameters: bad ones are refused by name and value, and the papers' own numbers are taken."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.errors import MaterialError
from pliant.materials import ARAP, SOLID_LAWS, LameLaw, SolidLaw, StableNeoHookean, lame_parameters
from pliant.materials.calculus import law_code

every_law = pytest.mark.parametrize("law", list(SOLID_LAWS.values()), ids=list(SOLID_LAWS))
LAME_LAWS = {name: law for name, law in SOLID_LAWS.items() if issubclass(law, LameLaw)}
every_lame_law = pytest.mark.parametrize("law", LAME_LAWS.values(), ids=LAME_LAWS)
quick = settings(deadline=None, max_examples=60)
not_finite = st.sampled_from([float("nan"), float("inf"), -float("inf")])
no_number = st.sampled_from(["1e5", "", None, [1.0], 1j])


def refused(parameter: str, value: object, make, *arguments) -> None:
    """A MaterialError whose sentence has the parameter and the value as Python shows it."""
    with pytest.raises(MaterialError) as caught:
        make(*arguments)
    assert parameter in str(caught.value)
    assert repr(value) in str(caught.value)


@every_law
@quick
@given(value=not_finite | no_number | st.floats(max_value=0.0, allow_nan=False))
def test_bad_shear_modulus(law: type[SolidLaw], value: object) -> None:
    """NaN, infinity, zero, negative numbers and strings."""
    refused("mu", value, law, value, *([1.0] if issubclass(law, LameLaw) else []))


@every_lame_law
@quick
@given(value=not_finite | no_number)
def test_bad_first_parameter(law: type[SolidLaw], value: object) -> None:
    """NaN, infinity and strings."""
    refused("lam", value, law, 1.0, value)


@every_lame_law
@quick
@given(mu=st.floats(1e-3, 1e12), below=st.floats(0, 1e3))
def test_negative_bulk_modulus(law: type[SolidLaw], mu: float, below: float) -> None:
    """lam <= -2/3 mu, where a body would grow by itself; just above is accepted."""
    lam = -2 * mu / 3 * (1 + below)
    refused("lam", lam + 2 * mu / 3, law, mu, lam)
    assert law(mu, -2 * mu / 3 * (1 - 1e-6)).mu == mu


@quick
@given(nu=st.floats(max_value=-1.0, allow_nan=False) | st.floats(min_value=0.5, allow_nan=False) | not_finite)
def test_bad_poissons_ratio(nu: float) -> None:
    """Outside (-1, 1/2), the ends included."""
    refused("poissons_ratio", nu, lame_parameters, 1e5, nu)


@quick
@given(E=st.floats(max_value=0.0, allow_nan=False) | not_finite)
def test_bad_youngs_modulus(E: float) -> None:
    """Zero, negative, NaN, infinite."""
    refused("youngs_modulus", E, lame_parameters, E, 0.3)


# Defect of materials.law.lame_parameters: a TypeError of math.isfinite or of < comes out. Remove the mark when it is
# mended.
@pytest.mark.parametrize("value", ["1e5", None, [1.0]])
def test_young_and_poisson_that_are_no_numbers(value: object) -> None:
    """A string is named like any other bad value."""
    refused("youngs_modulus", value, StableNeoHookean.from_young, value, 0.3)
    refused("poissons_ratio", value, StableNeoHookean.from_young, 1e5, value)


@quick
@given(mu=st.floats(1e2, 1e9), ratio=st.floats(0.34, 1e3), seed=st.integers(0, 2**32 - 1))
def test_papers_coefficients(mu: float, ratio: float, seed: int) -> None:
    """from_coefficients(mu, l) is psi = mu/2 (I - 3) - mu (J - 1) + l/2 (J - 1)^2, with Lame's lambda l - mu."""
    l = ratio * mu
    law = StableNeoHookean.from_coefficients(mu, l)
    np.testing.assert_allclose(law.lam + law.mu, l, rtol=1e-12)
    I, J = np.random.default_rng(seed).uniform(0.1, 4, (2, 20))
    psi = law_code(StableNeoHookean).functions.energy_density(I, I * I / 3, J, *law.parameters)
    expected = mu / 2 * (I - 3) - mu * (J - 1) + l / 2 * (J - 1) ** 2
    np.testing.assert_allclose(psi, expected, rtol=1e-9, atol=1e-9 * (mu + l))


@pytest.mark.parametrize("l", [0.0, 1.0, float("nan")])
def test_papers_coefficient_too_small(l: float) -> None:
    """l <= mu/3 is a negative bulk modulus."""
    refused("l", l, StableNeoHookean.from_coefficients, 3.0, l)


def test_arap_has_poissons_ratio_zero() -> None:
    """Another one is refused; Young's modulus is 2 mu."""
    refused("poissons_ratio", 0.3, ARAP.from_young, 1e5, 0.3)
    assert ARAP.from_young(1e5) == ARAP(mu=5e4)
