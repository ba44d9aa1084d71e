"""Numbers that carry their derivatives, through loops that end when they have converged."""

import numpy as np

from pliant.elements.differentials import Dual, jacobian
from pliant.materials.stretch import trace_of_stretch


def test_derivatives_of_a_root_are_those_of_its_equation() -> None:
    """t = tr S solves p(t) = t^4 - 2 I t^2 - 8 J t + 2 II - I^2 = 0: dt = (2 (t^2 + I) dI - 2 dII + 8 t dJ) / p'."""
    s = np.random.default_rng(3).uniform(0.4, 1.8, (3, 20))
    I, II, J = (s**2).sum(axis=0), (s**4).sum(axis=0), s.prod(axis=0)
    t = trace_of_stretch(
        *(Dual(value, np.tile(row[:, None], 20)) for value, row in zip((I, II, J), np.eye(3), strict=True))
    )
    np.testing.assert_allclose(t.value, s.sum(axis=0), rtol=1e-13)
    slope = 4 * (t.value**2 - I) * t.value - 8 * J
    expected = np.stack([2 * (t.value**2 + I), np.full(20, -2.0), 8 * t.value]) / slope
    np.testing.assert_allclose(jacobian([t], 20, 3)[:, 0], expected.T, rtol=1e-9)
