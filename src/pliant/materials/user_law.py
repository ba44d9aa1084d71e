"""A law from a user's own function of the invariants.

@pl.material
def gent(I, II, J, mu, jm, kappa):
    return -mu * jm / 2 * log(1 - (I - 3) / jm) - mu * log(J) + kappa / 2 * (J - 1) ** 2

scene.add_solid(mesh, gent(mu=1e5, jm=30.0, kappa=1e6))
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field, make_dataclass
from typing import Any

import numpy as np

from pliant.errors import MaterialError, PliantError
from pliant.materials.calculus import law_code
from pliant.materials.law import SolidLaw

# names that the law itself or its formula uses
RESERVED = (
    "S",
    "energy_density",
    "source",
    "units",
    "parameters",
    "parameter_names",
    "log",
    "exp",
    "sqrt",
    "cube_root",
)


def material(energy_density: Callable) -> type[SolidLaw]:
    """Turn energy_density(I, II, J, parameters...) into a law that every solver can use.

    energy_density: energy in joules per cubic metre of the body at rest, as a function of I = |F|^2, II = |F^T F|^2,
        J = det F and the law's parameters, in arithmetic and `pliant.materials.functions` (log, exp, sqrt, cube_root).
    The law must be free of stress at rest and resist shear and compression; this is checked for the values of the
    parameters when a material is made of it.
    """
    if not inspect.isfunction(energy_density):
        raise MaterialError(
            f"material: {energy_density!r} is no function; decorate one, def law(I, II, J, parameters...)."
        )
    name, arguments = energy_density.__name__, inspect.signature(energy_density).parameters
    if list(arguments)[:3] != ["I", "II", "J"] or len(arguments) == 3:
        raise MaterialError(
            f"{name}: its arguments are ({', '.join(arguments)}); they must be I, II, J and at least one parameter."
        )
    parameters = list(arguments.values())[3:]
    for parameter in parameters:
        if parameter.name in RESERVED:
            raise MaterialError(f"{name}: a parameter cannot be named {parameter.name!r}; choose another name.")
    namespace = {
        "energy_density": staticmethod(energy_density),
        "source": f"{energy_density.__module__}.{name}",
        "__doc__": energy_density.__doc__,
    }
    members = [_field(parameter) for parameter in parameters]
    law = make_dataclass(name, members, bases=(UserLaw,), frozen=True, namespace=namespace)
    law.__module__ = energy_density.__module__
    try:
        law_code(law)
    except PliantError as error:
        raise MaterialError(f"{name}: {error}") from None
    except Exception as error:  # whatever a user's function or SymPy raises
        raise MaterialError(
            f"{name}: its energy density cannot be differentiated ({type(error).__name__}: {error}). Use arithmetic, "
            "powers and pliant.materials.functions (log, exp, sqrt, cube_root), without `if`, NumPy or math."
        ) from None
    return law


def _field(parameter: inspect.Parameter) -> tuple[str, type, Any]:
    """A parameter of the function as a field of the dataclass, with its default if it has one."""
    has_default = parameter.default is not inspect.Parameter.empty
    return parameter.name, float, field(default=parameter.default) if has_default else field()


@dataclass(frozen=True)
class UserLaw(SolidLaw):
    """A law whose moduli are known only with its parameters."""

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            with np.errstate(all="ignore"):
                properties = rest_properties(type(self), self.parameters)
        except ZeroDivisionError:
            properties = (math.nan, math.nan, math.nan)
        for stress, shear, bulk in np.unique(
            np.column_stack(np.broadcast_arrays(*map(np.atleast_1d, properties))), axis=0
        ):
            self._check_rest(float(stress), float(shear), float(bulk))

    def _check_rest(self, stress: float, shear: float, bulk: float) -> None:
        """Of one element [Pa]."""
        if not math.isfinite(stress + shear + bulk):
            raise MaterialError(
                f"{self} has no finite stress or stiffness at rest, I = II = 3, J = 1; change the formula."
            )
        if not abs(stress) <= 1e-9 * max(abs(shear), abs(bulk)):
            raise MaterialError(
                f"{self} is under stress at rest: 2 psi_I + 4 psi_II + psi_J = {stress:.6g} Pa at I = II = 3, J = 1. "
                "It must be zero: add a term of J that balances it, such as -mu log(J)."
            )
        for what, value in (("shear", shear), ("bulk", bulk)):
            if not value > 0:
                raise MaterialError(f"{self} has the {what} modulus {value:.6g} Pa at rest; it must be positive.")


def rest_properties(law: type[SolidLaw], parameters: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """Stress, shear modulus and bulk modulus at rest [Pa], from the derivatives of the energy density.

    Along F = diag(e^a, e^-a, 1) the energy is 2 mu a^2, along F = e^a it is 9/2 kappa a^2.
    """
    first, second = law_code(law).functions.derivatives(3.0, 3.0, 1.0, *parameters)
    I, II, J = (0.0 if d is None else d for d in first)
    I_I, I_II, I_J, II_II, II_J, J_J = (0.0 if d is None else d for d in second)
    curvature = 12 * I + 48 * II + 9 * J + 36 * I_I + 144 * II_II + 9 * J_J + 2 * (72 * I_II + 18 * I_J + 36 * II_J)
    return 2 * I + 4 * II + J, 2 * I + 8 * II, curvature / 9
