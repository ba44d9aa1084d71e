"""Starts from which a law with a barrier can be solved."""

from __future__ import annotations

import numpy as np

from pliant.errors import SimulationError
from pliant.kernels.volumes import least_volume_ratio
from pliant.materials.calculus import law_code
from pliant.model import Model
from pliant.model.blocks import Converted

HALVINGS = 12


def keep_volumes_positive(model: Model, x: np.ndarray, start: np.ndarray) -> None:
    """Move `start` back towards x, in place, until no element of a law with a barrier is flat or inverted.

    Such a law has no energy there, so no solver could begin, unless it is converted there (materials.Invertible).
    Held vertices stay where they are prescribed.
    """
    guarded = [s for s in model.solids if not isinstance(s, Converted) and law_code(s.law).has_barrier]
    if not guarded:
        return
    free = model.is_free
    for halving in range(HALVINGS + 1):
        ratio, worst, law = min((*least_volume_ratio(s.tets, s.volumes, start), s.law.__name__) for s in guarded)
        if ratio > 0:
            return
        start[free] = 0.5 * (start[free] + x[free]) if halving < HALVINGS - 1 else x[free]
    raise SimulationError(
        f"{law} has no energy for a flat or inverted element, but tet {worst} has det F = {ratio:.3g} at the start "
        "of the step. Start from a shape without inverted elements, move vertices more slowly, or use StableNeoHookean."
    )
