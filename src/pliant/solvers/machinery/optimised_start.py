"""The start that goes along the velocity as far as lowers the potential most (Wang and Yang 2016, Equation 10)."""

from __future__ import annotations

import numpy as np

from pliant.energies import IncrementalPotential

REACH = 1e-4  # of h: over which the curvature along the velocity is measured


def optimised_reach(problem: IncrementalPotential, v: np.ndarray) -> float:
    """d [s] that minimises G(x_t) + d v . g + 1/2 d^2 v . H v over the vertices that move; 0 where that has no minimum.

    v: (n, 3) velocities [m/s]. H v is the difference of two gradients.
    """
    v = problem.project(v)
    x, step = problem.x_prev, REACH * problem.h
    slope = float(np.sum(v * problem.gradient(x)))
    change = problem.gradient(x + step * v) - problem.gradient(x - step * v)
    curvature = float(np.sum(v * change)) / (2 * step)
    return -slope / curvature if curvature > 0 else 0.0
