"""Forces with which pins, prescribed motions, lines and planes hold vertices.

Energies, loads and inertia of a vertex sum to zero. What they leave, g = dG/dx, along the directions that are held is
what the hold gives: R = g - P g with P onto the free directions.
"""

from __future__ import annotations

import numpy as np

from pliant.energies.potential import IncrementalPotential
from pliant.model import CARRIED


def reactions(problem: IncrementalPotential, x: np.ndarray, g: np.ndarray | None = None) -> np.ndarray:
    """(n, 3) [N] on the vertices, zero where they are free; g: dG/dx at x (n, 3), if it is known."""
    g = problem.gradient(x) if g is None else g
    held = (problem.model.subspace < 3) & (problem.model.subspace != CARRIED)
    return np.where(held[:, None], g - problem.project(g), 0.0)
