"""Which laws are proportional to their parameters."""

import numpy as np
import pytest

import pliant as pl
from pliant.materials.calculus import law_code
from pliant.materials.proportional import is_proportional


@pl.material
def squared(I, II, J, mu, k):
    return mu / 2 * (I - 3) - mu * (J - 1) + k**2 / 2 * (J - 1) ** 2


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (pl.StableNeoHookean.from_young(1e5, 0.3), True),
        (pl.NeoHookean.from_young(1e5, 0.3), True),
        (pl.StVenantKirchhoff.from_young(1e5, 0.3), True),
        (pl.Fung.from_young(1e5, 0.3), False),  # its growth has no unit
        (squared(mu=1e4, k=300.0), False),
    ],
)
def test_laws(law, expected):
    assert is_proportional(law_code(type(law)), law.of_elements(3)) == expected


def test_a_parameter_that_is_zero_somewhere_does_not_hide_the_others():
    parameters = np.array([[1e4, 0.0], [1e4, 300.0], [1e4, 0.0]])
    assert not is_proportional(law_code(type(squared(mu=1e4, k=300.0))), parameters)
