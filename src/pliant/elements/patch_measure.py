"""The mean deformation gradient of a patch of tets (elements.patch), seen from one of its vertices."""

from __future__ import annotations

from pliant.elements.tet import (
    deformation_gradient,
    invariant_gradients,
    invariants,
    left_cauchy_green,
    limit_volume_loss,
)
from pliant.lanes import number, select
from pliant.lanes.vectors import dot, physics

CORNERS = 8


@physics
def patch_deformation(others, gradients):
    """F of a patch, seen from a vertex, and the vertex's own gradient."""
    a, b, c, d, e, f, g = others
    ba, bb, bc, bd, be, bf, bg = gradients
    own = (
        -(ba[0] + bb[0] + bc[0] + bd[0] + be[0] + bf[0] + bg[0]),
        -(ba[1] + bb[1] + bc[1] + bd[1] + be[1] + bf[1] + bg[1]),
        -(ba[2] + bb[2] + bc[2] + bd[2] + be[2] + bf[2] + bg[2]),
    )
    first, second = deformation_gradient(a, b, c, ba, bb, bc), deformation_gradient(d, e, f, bd, be, bf)
    F = (
        _row_sum(first[0], second[0], g[0], bg),
        _row_sum(first[1], second[1], g[1], bg),
        _row_sum(first[2], second[2], g[2], bg),
    )
    return F, own


@physics
def _row_sum(first, second, s, b):
    return (first[0] + second[0] + s * b[0], first[1] + second[1] + s * b[1], first[2] + second[2] + s * b[2])


@physics
def bound_patch(step, dx, others, gradients, volume, l):
    """`step`, or less if a patch that keeps part of its law would lose more than a part of its volume on the way dx of
    one vertex, in which J is linear.
    """
    F, own = patch_deformation(others, gradients)
    B = left_cauchy_green(F)
    _, _, J = invariants(F, B)
    _, _, slope = invariant_gradients(F, B, own)
    is_kept = (volume > number(0.0, volume)) & (l < number(1.0, volume))
    return select(is_kept, limit_volume_loss(step, J, -dot(slope, dx)), step)
