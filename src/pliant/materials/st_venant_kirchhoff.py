"""St. Venant-Kirchhoff: Hooke's law for Green's strain."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.materials.law import LameLaw


@dataclass(frozen=True)
class StVenantKirchhoff(LameLaw):
    """psi = mu tr E^2 + lam/2 (tr E)^2 with Green's strain E = (F^T F - 1) / 2; tr E = (I - 3)/2, tr E^2 = (II - 2 I +
    3)/4.

    It weakens when compressed beyond about 58 % and does not see inversion: choose it for moderate strain.
    """

    source = "Wang and Yang 2016, Equation 12 (with Lame's 1/8 in place of their 1/2)"

    @staticmethod
    def energy_density(I, II, J, mu, lam):
        return mu / 4 * (II - 2 * I + 3) + lam / 8 * (I - 3) ** 2
