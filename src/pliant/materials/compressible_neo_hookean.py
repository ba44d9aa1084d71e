"""Neo-Hookean elasticity that separates change of shape from change of volume."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.materials.functions import cube_root
from pliant.materials.law import LameLaw


@dataclass(frozen=True)
class CompressibleNeoHookean(LameLaw):
    """psi = mu/2 (J^(-2/3) I - 3) + kappa/2 (1/J - 1)^2 with the bulk modulus kappa = lam + 2 mu / 3.

    Deviation: the paper's volume term s_1 (III^(-1/2) - 1) is not stress-free at rest; it needs the square.
    """

    source = "Wang and Yang 2016, Equation 13; Ogden 1997"

    @staticmethod
    def energy_density(I, II, J, mu, lam):
        kappa = lam + 2 * mu / 3
        return mu / 2 * (I / cube_root(J) ** 2 - 3) + kappa / 2 * (1 / J - 1) ** 2
