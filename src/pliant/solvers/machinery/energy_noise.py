"""How far differences of energies can be trusted: their terms are as large as stiffness times length squared, however
small the sum.
"""

from __future__ import annotations

import numpy as np

from pliant.model import Model

NOISE = 16.0  # machine epsilons of the energies' terms within which a difference of two energies means nothing


def typical_edge(model: Model) -> float:
    """Root mean square of the elements' first edges at the start [m]; 0 without elements, as of rigid bodies alone."""
    corners = [block.elements for block in model.blocks if block.elements.shape[1] > 1]
    edges = [model.positions[elements[:, 1]] - model.positions[elements[:, 0]] for elements in corners]
    if not edges:
        return 0.0
    return float(np.sqrt(np.mean(np.sum(np.concatenate(edges) ** 2, axis=1))))
