"""Elements whose law is converted where they are crushed or inverted (Wang and Yang 2016, Equations 17 to 19):

    W = (1 - l) psi + l k sum_i (s_i - 1)^2,    l <- min(1, max(0, l - release, (upper - s_3) / (upper - lower)))

with the principal stretches s_1 >= s_2 >= |s_3| of the element's F, s_3 negative where it is inverted.  Tets and
patches of tets have one F each, and so one l each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from pliant.elements.law_block import rest_unless
from pliant.elements.tet import first_invariant_curvature, invariant_gradients, invariants, left_cauchy_green
from pliant.lanes import maximum, minimum, number
from pliant.lanes.vectors import add_scaled, dot, physics
from pliant.materials.stretch import smallest_stretch, trace_and_gradient


@dataclass(frozen=True)
class Converted:
    """What a block of elements with a law has besides, if the law is converted (see materials.Invertible)."""

    conversion: np.ndarray  # (m, 4) lower, upper, release and the projective stiffness [Pa]
    interpolants: np.ndarray  # (m,) l, in [0, 1]: the only array that changes

    @property
    def internal_state_size(self) -> int:
        return len(self.interpolants)

    def with_internal_state(self, internal_state: np.ndarray) -> Self:
        return replace(self, interpolants=internal_state)


def with_stiffness(block: Any) -> np.ndarray:
    """(m, p + 1) parameters of a converted block's law, then the projective stiffness [Pa]."""
    return np.column_stack([block.parameters, block.conversion[:, 3]])


@physics
def interpolant(F, lower, upper, release, before):
    """l of an element with the deformation gradient F, from l before (Equation 17)."""
    s = smallest_stretch(*invariants(F, left_cauchy_green(F)))
    l = maximum((upper - s) / (upper - lower), before - release)
    return minimum(maximum(l, number(0.0, l)), number(1.0, l))


@physics
def add_projective(f, diagonal, F, own, strength, is_element):
    """Add what strength sum_i (s_i - 1)^2 of one element does to one vertex, `own` its shape-function gradient; of the
    Hessian its constant matrix (Equation 19).
    """
    B = left_cauchy_green(F)
    measures = rest_unless(is_element, *invariants(F, B))
    f = _add_projective_force(f, strength, *measures, invariant_gradients(F, B, own))
    return f, diagonal + strength * first_invariant_curvature(dot(own, own))


@physics
def _add_projective_force(f, strength, I, II, J, gradients):
    """Minus the gradient of strength (I - 2 tr S + 3)."""
    q, r, g = gradients
    _, S_I, S_II, S_J = trace_and_gradient(I, II, J)
    f = add_scaled(f, strength * (4.0 * S_I - 2.0), q)
    f = add_scaled(f, strength * (8.0 * S_II), r)
    return add_scaled(f, strength * (2.0 * S_J), g)
