"""Which scenes Newton's method ends the steps of, and where it stops."""

from __future__ import annotations

import numpy as np

from pliant.elements.spring import Springs
from pliant.model import Model
from pliant.solvers.contract.stiffness_ratio import bodies_of_vertices

LARGEST_NEWTON = 2000  # blocks of unknowns whose Hessian is factorised
LARGEST_ROPE = 20_000  # the same in scenes of springs, whose factors are sparse


def is_small(model: Model) -> bool:
    """Whether the Hessian of a model is factorised in no more time than some hundred iterations take."""
    blocks = int(model.is_free.sum())
    if model.carried is not None:
        blocks += 2 * model.carried.count - int(model.is_free[model.carried.points].sum())
    only_springs = all(isinstance(block, Springs) for block in model.blocks)
    return blocks <= (LARGEST_ROPE if only_springs else LARGEST_NEWTON)


def sufficient_residual(model: Model, tolerance: float) -> float:
    """Residual [m/s^2] of a scene at which every body has an error of at most `tolerance`; 0 without gravity.

    A body of mass m in a scene of mass M has at most sqrt(M / m) times the residual of the scene, and its error is at
    most its residual over gravity (contract.error).
    """
    body, free = bodies_of_vertices(model), model.is_free
    masses = np.bincount(body[free & (body >= 0)], model.mass[free & (body >= 0)])
    masses = masses[masses > 0]
    gravity = np.linalg.norm(model.gravity[free], axis=1)
    if not len(masses) or not gravity.any():
        return 0.0
    return tolerance * float(gravity[gravity > 0].min() * np.sqrt(masses.min() / masses.sum()))
