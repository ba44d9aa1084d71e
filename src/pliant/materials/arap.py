"""As rigid as possible: projective dynamics' elasticity, each tet pulled towards a rotation of its rest shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from pliant.errors import MaterialError
from pliant.materials.law import Parameter, SolidLaw, lame_parameters


@dataclass(frozen=True)
class ARAP(SolidLaw):
    """psi = mu |F - R|^2 = mu (I - 2 tr S + 3) = mu sum_i (s_i - 1)^2, with F = R S and the principal stretches s_i.

    It has one parameter. At rest it is linear elasticity with the shear modulus mu and Lame's lambda 0: Young's modulus
    2 mu, Poisson's ratio 0.
    """

    mu: Parameter  # shear modulus [Pa]

    lam: ClassVar[float] = 0.0  # Lame's first parameter at rest [Pa]
    source = "Wang and Yang 2016, Equation 16, times mu; Bouaziz et al. 2014"
    units: ClassVar[dict[str, str]] = {"mu": "Pa"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.any(self.mu <= 0):
            raise MaterialError(f"ARAP: mu is {self.mu!r}: the shear modulus must be positive [Pa].")

    @classmethod
    def from_young(cls, youngs_modulus: Parameter, poissons_ratio: Parameter = 0.0) -> Self:
        """The law whose linearisation has this Young's modulus [Pa]; its Poisson's ratio is 0."""
        mu, _ = lame_parameters(youngs_modulus, poissons_ratio)
        if np.any(poissons_ratio != 0):
            raise MaterialError(
                f"ARAP: poissons_ratio is {poissons_ratio!r}: this law has Poisson's ratio 0; "
                "choose Corotated for another."
            )
        return cls(mu)

    @staticmethod
    def energy_density(I, II, J, S, mu):
        return mu * (I - 2 * S + 3)

    @staticmethod
    def projection_weight(mu):
        """w [Pa] of the projection form w/2 |F - R|^2."""
        return 2 * mu
