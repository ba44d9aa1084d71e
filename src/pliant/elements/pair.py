"""Weighted pairs of vertices: any constant quadratic energy that neither moving nor turning a body changes.

    E = 1/2 sum_ij Q_ij x_i . x_j  with symmetric Q whose rows sum to zero
      = 1/2 sum_pairs w_ij |x_i - x_j|^2,   w_ij = -Q_ij   [N/m]   (each pair i < j once)

so that a pair with w > 0 pulls together.  Quadratic bending, attachments and viscosity are such energies.
Seen from vertex i:  force = sum_j w_ij (x_j - x_i),   block = sum_j w_ij Identity = Q_ii Identity,
exact and, since Q is positive semidefinite, never negative.
"""

from __future__ import annotations

from pliant.lanes.vectors import add_scaled, dot, physics


@physics
def pair_energy(r, weight):
    """The pair's part of E [J]; r = x_j - x_i."""
    return 0.5 * weight * dot(r, r)


@physics
def add_pair_force(f, r, weight):
    """Add the force on vertex i; r = x_j - x_i, weight w_ij [N/m]. Its block is w_ij times the identity."""
    return add_scaled(f, weight, r)
