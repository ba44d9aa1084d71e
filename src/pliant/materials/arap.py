"""As rigid as possible: the energy of projective dynamics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pliant.errors import MaterialError
from pliant.materials.law import SolidLaw


@dataclass(frozen=True)
class ARAP(SolidLaw):
    """psi = mu |F - R|^2 = mu (I - 2 tr S + 3) = mu sum_i (s_i - 1)^2. Lame's lambda is zero.

    Deviation: the paper's (16) has no stiffness; mu [Pa] is the shear modulus.
    """

    mu: float  # shear modulus [Pa]

    source = "Wang and Yang 2016, Equation 16; Bouaziz et al. 2014"
    units: ClassVar[dict[str, str]] = {"mu": "Pa"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mu <= 0:
            raise MaterialError(f"ARAP: mu is {self.mu!r}: the shear modulus must be positive [Pa].")

    @staticmethod
    def density(I, II, J, S, mu):
        return mu * (I - 2 * S + 3)
