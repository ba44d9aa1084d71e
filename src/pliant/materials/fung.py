"""Fung's elasticity, for soft tissue that stiffens as it is stretched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.errors import MaterialError
from pliant.materials.functions import cube_root, exp
from pliant.materials.law import LameLaw, Parameter


@dataclass(frozen=True)
class Fung(LameLaw):
    """psi = s_0 k + s_2 (exp(growth k) - 1) + kappa/2 (1/J - 1)^2, k = J^(-2/3) I - 3.

    With s_2 = share mu / (2 growth), s_0 = (1 - share) mu/2 and the bulk modulus kappa = lam + 2 mu / 3.

    share: the part of the shear modulus at rest that the exponential carries; growth: how fast it grows.
    Deviation: the paper's volume term s_1 (III^(-1/2) - 1) is not stress-free at rest; it needs the square.
    """

    share: Parameter = 0.5
    growth: Parameter = 1.0

    source = "Wang and Yang 2016, Equation 15; Fung 1993"
    units: ClassVar[dict[str, str]] = {"mu": "Pa", "lam": "Pa", "share": "1", "growth": "1"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.all(self.share >= 0) and np.all(self.share <= 1)):
            raise MaterialError(f"Fung: share is {self.share!r}: it must lie between 0 and 1.")
        if np.any(self.growth <= 0):
            raise MaterialError(f"Fung: growth is {self.growth!r}: it must be positive.")

    @staticmethod
    def energy_density(I, II, J, mu, lam, share, growth):
        k = I / cube_root(J) ** 2 - 3
        kappa = lam + 2 * mu / 3
        exponential = share / growth * (exp(growth * k) - 1)
        return mu / 2 * ((1 - share) * k + exponential) + kappa / 2 * (1 / J - 1) ** 2
