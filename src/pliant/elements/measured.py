"""What a corner feels of an element that is given by a measure C alone: E = k/2 C^2.

force = -k C dC/dx_i,   block = k dC/dx_i dC/dx_i^T   (Gauss-Newton: never indefinite)
"""

from __future__ import annotations

from pliant.lanes import number, select
from pliant.lanes.blocks import add_block, add_dyad
from pliant.lanes.vectors import add_scaled, add_square, physics


@physics
def add_measured(f, H, c, gradient, k):
    """Add force and block; nothing where k = 0, whatever C is there: in padding it may have no value."""
    zero = number(0.0, k)
    there = k != zero
    g = (select(there, gradient[0], zero), select(there, gradient[1], zero), select(there, gradient[2], zero))
    return add_scaled(f, -(k * select(there, c, zero)), g), add_square(H, k, g)


@physics
def measured_gradient(c, k, gradient):
    """dE/dx_i [N] = k C dC/dx_i; nothing where k = 0."""
    zero = number(0.0, k)
    there = k != zero
    s = select(there, k * c, zero)
    return (
        s * select(there, gradient[0], zero),
        s * select(there, gradient[1], zero),
        s * select(there, gradient[2], zero),
    )


@physics
def measured_energy(measured):
    """k/2 C^2 [J] of what a measure gives."""
    c, _, k = measured
    zero = number(0.0, k)
    c = select(k != zero, c, zero)
    return 0.5 * k * c * c


@physics
def measured_block(c, k, gi, gj, second):
    """k (dC_i dC_j^T + C d2C_ij) [N/m], of two corners; nothing where k = 0."""
    zero = number(0.0, k)
    there = k != zero
    c, s = select(there, c, zero), select(there, k, zero)
    block = add_dyad((zero, zero, zero, zero, zero, zero, zero, zero, zero), (s * gi[0], s * gi[1], s * gi[2]), gj)
    return add_block(block, s * c, second)
