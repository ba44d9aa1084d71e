"""What a law of a solid is: one energy density of the invariants of the deformation gradient F, and its parameters.

I = |F|^2 = tr F^T F,   II = |F^T F|^2,   J = det F;   at rest I = 3, II = 3, J = 1.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar, Self

from pliant.errors import MaterialError


def lame_parameters(youngs_modulus: float, poissons_ratio: float) -> tuple[float, float]:
    """Lame's mu and lambda [Pa] of linear elasticity."""
    E, nu = youngs_modulus, poissons_ratio
    if not (is_number(E) and E > 0):
        raise MaterialError(f"youngs_modulus is {E!r}: give a positive number of pascal.")
    if not (is_number(nu) and -1 < nu < 0.5):
        raise MaterialError(
            f"poissons_ratio is {nu!r}: it must lie between -1 and 0.5, both excluded (rubber: 0.49, foam: 0.1 to 0.3)."
        )
    return E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))


def is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True)
class SolidLaw:
    """Base of isotropic hyperelastic laws: a frozen dataclass whose fields are the parameters.

    A law adds nothing but `energy_density`, written in arithmetic and `materials.functions`, and its `source`.
    Derivatives, compiled kernels and tests come from that one formula.
    """

    source: ClassVar[str] = ""
    units: ClassVar[dict[str, str]] = {}
    energy_density: ClassVar[Callable]  # energy_density(I, II, J, *parameters) [J/m^3 of the body at rest]

    def __post_init__(self) -> None:
        for parameter, value in zip(self.parameter_names(), self.parameters, strict=True):
            if not is_number(value):
                unit = f" [{self.units[parameter]}]" if parameter in self.units else ""
                raise MaterialError(f"{type(self).__name__}: {parameter} is {value!r}: give a finite number{unit}.")

    @classmethod
    def parameter_names(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls))

    @property
    def parameters(self) -> tuple[float, ...]:
        """Values in the order of the density's arguments."""
        return tuple(getattr(self, name) for name in self.parameter_names())


@dataclass(frozen=True)
class LameLaw(SolidLaw):
    """Base of laws with Lame's parameters: `mu` and `lam` [Pa] of linear elasticity at rest, for every law."""

    mu: float  # shear modulus [Pa]
    lam: float  # Lame's first parameter [Pa]

    units: ClassVar[dict[str, str]] = {"mu": "Pa", "lam": "Pa"}

    def __post_init__(self) -> None:
        super().__post_init__()
        name, bulk = type(self).__name__, self.lam + 2 * self.mu / 3
        if self.mu <= 0:
            raise MaterialError(f"{name}: mu is {self.mu!r}: the shear modulus must be positive [Pa].")
        if bulk <= 0:
            raise MaterialError(
                f"{name}: the bulk modulus lam + 2 mu / 3 is {bulk!r}: lam must be above -2 mu / 3 [Pa]."
            )

    @classmethod
    def from_young(cls, youngs_modulus: float, poissons_ratio: float, **others: float) -> Self:
        """The law whose linearisation has this Young's modulus [Pa] and Poisson's ratio; others: further parameters."""
        return cls(*lame_parameters(youngs_modulus, poissons_ratio), **others)
