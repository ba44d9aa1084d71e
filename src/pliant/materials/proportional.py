"""Whether a law's energy is proportional to its parameters, psi(s p) = s psi(p), as of moduli times measures."""

from __future__ import annotations

import numpy as np

from pliant.materials.calculus import LawCode

FACTOR = 0.37  # s
STRETCHES = np.array([[1.0, 1.0, 1.0], [1.3, 0.9, 0.8], [0.7, 0.8, 1.1], [1.6, 1.2, 1.1], [0.95, 1.02, 1.0]])
ROUNDING = 1e-12  # relative


def is_proportional(code: LawCode, parameters: np.ndarray) -> bool:
    """Of a law with parameters (m, p), at some stretches; the least, mean and greatest of each stand for all."""
    squares, count = STRETCHES**2, len(STRETCHES)
    measures = squares.sum(axis=1), (squares**2).sum(axis=1), STRETCHES.prod(axis=1)
    density = code.functions.energy_density
    with np.errstate(all="ignore"):
        for p in (parameters.min(axis=0), parameters.mean(axis=0), parameters.max(axis=0)):
            whole, part = (np.broadcast_to(density(*measures, *(s * p)), count) for s in (1.0, FACTOR))
            size = np.abs(whole).max() + np.abs(p).max()
            if not np.all(np.abs(part - FACTOR * whole) <= ROUNDING * size):
                return False
    return True
