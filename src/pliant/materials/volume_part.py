"""A law's volume term divided between two copies of it, for elements that take it from a mean (elements.patch)."""

from __future__ import annotations

import numpy as np

from pliant.materials.rest_moduli import lame_parameters_at_rest

CHANGE = 0.5  # of a parameter, by which its part in lam is measured


def with_lam(law: type, parameters: np.ndarray, part: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Parameters (m, p) of two copies of a law: with Lame's lam at rest of at most mu, and so that the part of the
    first, one number or (m,), and 1 - part of the second have the lam of the law. The same twice where no parameter
    belongs to lam alone.
    """
    lam, mu = lame_parameters_at_rest(law, parameters)
    k, slope = _volume_parameter(law, parameters, lam, mu)
    first, second = parameters.copy(), parameters.copy()
    if k is None:
        return first, second
    reduced = np.minimum(lam, mu)
    first[:, k] += (reduced - lam) / slope
    second[:, k] += part / (1 - part) * (lam - reduced) / slope
    return first, second


def _volume_parameter(
    law: type, parameters: np.ndarray, lam: np.ndarray, mu: np.ndarray
) -> tuple[int | None, np.ndarray]:
    """The parameter on which lam depends linearly and mu does not, and dlam/dp (m,)."""
    for k in range(parameters.shape[1]):
        changed = [parameters.copy(), parameters.copy()]
        changed[0][:, k] *= 1 - CHANGE
        changed[1][:, k] *= 1 + CHANGE
        (less, mu_less), (more, mu_more) = (lame_parameters_at_rest(law, p) for p in changed)
        scale = np.abs(lam) + mu
        width = 2 * CHANGE * parameters[:, k]
        slope = (more - less) / np.where(width == 0, np.inf, width)  # a parameter that is zero has no part in lam
        is_alone = np.abs(mu_less - mu) + np.abs(mu_more - mu) <= 1e-9 * scale
        is_linear = np.abs(more + less - 2 * lam) <= 1e-9 * scale
        if np.all(is_alone & is_linear & (slope > 0)):
            return k, slope
    return None, np.ones(len(lam))
