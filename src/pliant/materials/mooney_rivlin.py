"""Mooney-Rivlin elasticity, for rubber."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.errors import MaterialError
from pliant.materials.functions import cube_root
from pliant.materials.law import LameLaw, Parameter


@dataclass(frozen=True)
class MooneyRivlin(LameLaw):
    """psi = s_0 (J^(-2/3) I - 3) + s_2 (J^(-4/3) (I^2 - II)/2 - 3) + kappa/2 (1/J - 1)^2.

    With s_2 = share mu/2, s_0 = (1 - share) mu/2 and the bulk modulus kappa = lam + 2 mu / 3.

    share: the part of the shear modulus that the second invariant carries; 0 is CompressibleNeoHookean.
    Deviation: the paper's volume term s_1 (III^(-1/2) - 1) is not stress-free at rest; it needs the square.
    """

    share: Parameter = 0.25

    source = "Wang and Yang 2016, Equation 14; Macosko 1994"
    units: ClassVar[dict[str, str]] = {"mu": "Pa", "lam": "Pa", "share": "1"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.all(self.share >= 0) and np.all(self.share <= 1)):
            raise MaterialError(f"MooneyRivlin: share is {self.share!r}: it must lie between 0 and 1.")

    @staticmethod
    def energy_density(I, II, J, mu, lam, share):
        third = cube_root(J)
        kappa = lam + 2 * mu / 3
        first, second = I / third**2 - 3, (I**2 - II) / (2 * third**4) - 3
        return mu / 2 * ((1 - share) * first + share * second) + kappa / 2 * (1 / J - 1) ** 2
