"""Neo-Hookean elasticity with a logarithmic barrier: no finite force turns an element inside out."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.materials.functions import log
from pliant.materials.law import LameLaw


@dataclass(frozen=True)
class NeoHookean(LameLaw):
    """psi = mu/2 (I - 3) - mu log J + lam/2 (log J)^2, infinite at J = 0 and undefined below."""

    source = "GPBD (Chaudhary et al.), Equation 20; Sifakis and Barbic 2012"

    @staticmethod
    def energy_density(I, II, J, mu, lam):
        return mu / 2 * (I - 3) - mu * log(J) + lam / 2 * log(J) ** 2
