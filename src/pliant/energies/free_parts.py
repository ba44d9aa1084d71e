"""Parts of a scene on which nothing acts as wholes but inertia, fields and contacts."""

from __future__ import annotations

import numpy as np

from pliant.elements.block import Invariance
from pliant.energies.potential import IncrementalPotential


def free_parts(problem: IncrementalPotential, part: np.ndarray) -> np.ndarray:
    """(k,) bool of parts: elements neither hold them nor join them to others, and none of their vertices is held.

    part: (n,) of each vertex, -1 for those of none.
    """
    model = problem.model
    is_free = np.ones(int(part.max(initial=-1)) + 1, bool)
    is_free[part[(part >= 0) & ((model.subspace < 3) | (model.damping > 0))]] = False
    for block in problem.blocks:
        of_corner = part[block.elements]
        leaves = (of_corner != of_corner[:, :1]).any(axis=1) | (block.invariance is not Invariance.RIGID)
        touched = of_corner[leaves]
        is_free[touched[touched >= 0]] = False
    return is_free
