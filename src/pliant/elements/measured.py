"""What a corner feels of an element that is given by a measure C alone: E = k/2 C^2.

force = -k C dC/dx_i,   block = k dC/dx_i dC/dx_i^T   (Gauss-Newton: never indefinite)
"""

from __future__ import annotations

from pliant.lanes import number, select
from pliant.lanes.vectors import add_scaled, add_square, physics


@physics
def add_measured(f, H, c, gradient, k):
    """Add force and block; nothing where k = 0, whatever C is there: in padding it may have no value."""
    zero = number(0.0, k)
    there = k != zero
    g = (select(there, gradient[0], zero), select(there, gradient[1], zero), select(there, gradient[2], zero))
    return add_scaled(f, -(k * select(there, c, zero)), g), add_square(H, k, g)


@physics
def measured_energy(measured):
    """k/2 C^2 [J] of what a measure gives."""
    c, _, k = measured
    zero = number(0.0, k)
    c = select(k != zero, c, zero)
    return 0.5 * k * c * c
