"""What a law of a solid is: one energy density of the invariants of the deformation gradient F, and its parameters.

I = |F|^2 = tr F^T F,   II = |F^T F|^2,   J = det F;   at rest I = 3, II = 3, J = 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

import numpy as np

from pliant.arguments import is_finite_number
from pliant.errors import MaterialError

LARGEST = 1e30  # of parameters: beyond it their squares and products leave the numbers that single precision has

#: A parameter of a law: one number, or one per element (m,).
Parameter = float | np.ndarray


def lame_parameters(youngs_modulus: Parameter, poissons_ratio: Parameter) -> tuple[Any, Any]:
    """Lame's mu and lambda [Pa] of linear elasticity."""
    E, nu = as_parameter(youngs_modulus), as_parameter(poissons_ratio)
    if not (are_numbers(E) and np.all(E > 0)):
        raise MaterialError(f"youngs_modulus is {E!r}: give a positive number of pascal below {LARGEST:g}.")
    if not (are_numbers(nu) and np.all(nu > -1) and np.all(nu < 0.5)):
        raise MaterialError(
            f"poissons_ratio is {nu!r}: it must lie between -1 and 0.5, both excluded (rubber: 0.49, foam: 0.1 to 0.3)."
        )
    return E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))


def as_parameter(value: Any) -> Any:
    """An array (m,) of numbers as one that does not change; anything else as it is."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "fiu":
        return value
    array = value.astype(float)
    array.setflags(write=False)
    return array


def are_numbers(value: object) -> bool:
    """Whether it is a number below LARGEST, or an array (m,) of them."""
    if isinstance(value, np.ndarray):
        is_real = value.ndim == 1 and value.size > 0 and value.dtype.kind in "fiu"
        return is_real and bool((np.abs(value) < LARGEST).all())
    return is_finite_number(value) and abs(value) < LARGEST


@dataclass(frozen=True)
class SolidLaw:
    """Base of isotropic hyperelastic laws: a frozen dataclass whose fields are the parameters.

    A parameter is one number, or an array (m,) with one for each element of the mesh: a material that varies within a
    body.

    A law adds nothing but `energy_density`, written in arithmetic and `materials.functions`, and its `source`.
    Derivatives, compiled kernels and tests come from that one formula.
    """

    source: ClassVar[str] = ""
    units: ClassVar[dict[str, str]] = {}
    energy_density: ClassVar[Callable]  # energy_density(I, II, J, *parameters) [J/m^3 of the body at rest]

    def __post_init__(self) -> None:
        for parameter in self.parameter_names():
            object.__setattr__(self, parameter, as_parameter(getattr(self, parameter)))
        for parameter, value in zip(self.parameter_names(), self.parameters, strict=True):
            if not are_numbers(value):
                unit = f" [{self.units[parameter]}]" if parameter in self.units else ""
                raise MaterialError(
                    f"{type(self).__name__}: {parameter} is {value!r}: give a number{unit} below {LARGEST:g}."
                )
        sizes = {len(value) for value in self.parameters if isinstance(value, np.ndarray)}
        if len(sizes) > 1:
            raise MaterialError(
                f"{type(self).__name__}: its parameters have {' and '.join(map(str, sorted(sizes)))} values: give one "
                "number, or as many as the mesh has elements."
            )

    @classmethod
    def parameter_names(cls) -> tuple[str, ...]:
        """In the order of the arguments of `energy_density` after the invariants."""
        return tuple(one.name for one in fields(cls) if one.init)

    @property
    def parameters(self) -> tuple[Any, ...]:
        """Values in the order of the density's arguments."""
        return tuple(getattr(self, name) for name in self.parameter_names())

    @property
    def element_count(self) -> int | None:
        """How many elements its parameters are given for; None: they are the same for all."""
        return next((len(value) for value in self.parameters if isinstance(value, np.ndarray)), None)

    def of_elements(self, m: int) -> np.ndarray:
        """Parameters (m, p) of m elements: moduli [Pa], or numbers without unit, as the law has them."""
        return np.column_stack([np.broadcast_to(np.asarray(value, float), (m,)) for value in self.parameters])


@dataclass(frozen=True)
class LameLaw(SolidLaw):
    """Base of laws with Lame's parameters: `mu` and `lam` [Pa] of linear elasticity at rest, for every law."""

    mu: Parameter  # shear modulus [Pa]
    lam: Parameter  # Lame's first parameter [Pa]
    is_of_solid: bool = field(default=False, init=False, repr=False, compare=False)  # made by from_young: a sheet of
    # it is in plane stress (materials.plane_stress)

    units: ClassVar[dict[str, str]] = {"mu": "Pa", "lam": "Pa"}

    def __post_init__(self) -> None:
        super().__post_init__()
        name, bulk = type(self).__name__, self.lam + 2 * self.mu / 3
        if np.any(self.mu <= 0):
            raise MaterialError(f"{name}: mu is {self.mu!r}: the shear modulus must be positive [Pa].")
        if np.any(bulk <= 0):
            raise MaterialError(
                f"{name}: the bulk modulus lam + 2 mu / 3 is {bulk!r}: lam must be above -2 mu / 3 [Pa]."
            )

    @classmethod
    def from_young(cls, youngs_modulus: Parameter, poissons_ratio: Parameter, **others: Parameter) -> Self:
        """The law whose linearisation has this Young's modulus [Pa] and Poisson's ratio; others: further parameters.

        In a sheet it is a law of plane stress: pulled strips have this Young's modulus [N/m] and Poisson's ratio.
        """
        law = cls(*lame_parameters(youngs_modulus, poissons_ratio), **others)
        object.__setattr__(law, "is_of_solid", True)
        return law


def varying_law(laws: Sequence[SolidLaw]) -> SolidLaw:
    """One law for many elements, from a law for each; all must be of one class."""
    kinds = {type(law) for law in laws}
    if len(kinds) != 1 or not issubclass(next(iter(kinds)), SolidLaw):
        names = ", ".join(sorted(kind.__name__ for kind in kinds)) or "none"
        raise MaterialError(f"the materials of a body's elements are {names}: give laws of one class, one per element.")
    if any(law.element_count is not None for law in laws):
        raise MaterialError("a law in a list of materials has parameters per element: give it one number each.")
    kind = next(iter(kinds))
    return kind(*np.array([law.parameters for law in laws], float).T)
