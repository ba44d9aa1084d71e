"""Moduli of small strains of any law."""

from __future__ import annotations

import numpy as np

from pliant.materials.calculus import law_code


def lame_parameters_at_rest(law: type, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lame's lam and mu (m,) [Pa] of any isotropic law, from its derivatives at F = 1.

    Along two axes s1, s2: d2psi/ds1^2 = lam + 2 mu, d2psi/ds1 ds2 = lam.
    """
    ones = np.ones(len(parameters))
    first, second = law_code(law).functions.derivatives(3 * ones, 3 * ones, ones, *parameters.T)
    psi_I, psi_II, psi_J = (0 * ones if d is None else d + 0 * ones for d in first)
    slopes = np.array([2.0, 4.0, 1.0])  # dI, dII, dJ by a stretch along an axis
    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    common = 0 * ones
    for (i, j), value in zip(pairs, second, strict=True):
        if value is not None:
            common = common + (1 if i == j else 2) * slopes[i] * slopes[j] * value
    # d2I = 2 and d2II = 12 along one axis, d2J = 1 along two
    lam = common + psi_J
    return lam, (common + 2 * psi_I + 12 * psi_II - lam) / 2
