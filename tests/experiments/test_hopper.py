"""Beverloo's law: what runs out of a silo grows with the power 5/2 of the effective opening."""

import numpy as np
import pytest
from experiments.francu.hopper import OPENINGS, D, fit, outflow

pytestmark = pytest.mark.slow


def test_the_fit_finds_the_law():
    openings = np.array(OPENINGS) * D
    k, exponent = fit(openings, 3.0 * (openings - 1.4 * D) ** 2.5, D)
    assert k == pytest.approx(1.4, rel=1e-9)
    assert exponent == pytest.approx(2.5, rel=1e-9)


def test_outflow_follows_beverloos_law():
    """Exponent 2.5 within 5 % over four openings from 10 to 14.5 diameters, k between 1 and 2.2 (1.4 for most)."""
    found = [outflow(ratio) for ratio in OPENINGS]
    k, exponent = fit(np.array(OPENINGS) * D, np.array([rate for rate, _ in found]), found[0][1])
    assert exponent == pytest.approx(2.5, rel=0.05)
    assert 1.0 < k < 2.2
