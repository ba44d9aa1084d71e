"""A law from a user's own function of the invariants.

@pl.material
def gent(I, II, J, mu, jm, kappa):
    return -mu * jm / 2 * log(1 - (I - 3) / jm) - mu * log(J) + kappa / 2 * (J - 1) ** 2

scene.add_solid(mesh, gent(mu=1e5, jm=30.0, kappa=1e6))
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import make_dataclass

from pliant.errors import MaterialError
from pliant.materials.calculus import law_code
from pliant.materials.law import SolidLaw


def material(density: Callable) -> type[SolidLaw]:
    """Turn density(I, II, J, parameters...) into a law that every solver can use.

    density: energy in joule a cubic metre of the body at rest, as a function of I = |F|^2, II = |F^T F|^2, J = det F and
        the law's parameters, in arithmetic and `pl.functions` (log, exp, sqrt, cube_root).
    The law must be free of stress at rest and resist shear and compression; this is checked for the values of the
    parameters when a material is made of it.
    """
    name = density.__name__
    parameters = list(inspect.signature(density).parameters)
    if parameters[:3] != ["I", "II", "J"]:
        raise MaterialError(f"{name}: its arguments are ({', '.join(parameters)}); they must begin with I, II, J.")
    law = make_dataclass(
        name,
        [(parameter, float) for parameter in parameters[3:]],
        bases=(_UserLaw,),
        frozen=True,
        namespace={
            "density": staticmethod(density),
            "source": "user",
            "__doc__": density.__doc__,
            "__module__": density.__module__,
        },
    )
    law_code(law)  # says now what cannot be differentiated
    return law


class _UserLaw(SolidLaw):
    """A law whose moduli are known only with its parameters."""

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        stress, shear, bulk = rest_properties(type(self), self.parameters)
        scale = max(abs(shear), abs(bulk))
        given = ", ".join(f"{k} = {v!r}" for k, v in zip(self.parameter_names(), self.parameters, strict=True))
        if not abs(stress) <= 1e-9 * scale:
            raise MaterialError(
                f"{name}({given}) is under stress at rest: 2 psi_I + 4 psi_II + psi_J = {stress:.6g} Pa at I = II = 3, J = 1; "
                "it must be zero. Add a term of J that balances it, such as -mu log(J)."
            )
        for what, value in (("shear", shear), ("bulk", bulk)):
            if not value > 0:
                raise MaterialError(
                    f"{name}({given}) has the {what} modulus {value:.6g} Pa at rest; it must be positive."
                )


def rest_properties(law: type[SolidLaw], parameters: tuple[float, ...]) -> tuple[float, float, float]:
    """Stress, shear modulus and bulk modulus at rest [Pa], from the derivatives of the density.

    Along F = diag(e^a, e^-a, 1) the energy is 2 mu a^2, along F = e^a it is 9/2 kappa a^2.
    """
    first, second = law_code(law).functions.derivatives(3.0, 3.0, 1.0, *parameters)
    I, II, J = (d or 0.0 for d in first)
    I_I, I_II, I_J, II_II, II_J, J_J = (d or 0.0 for d in second)
    curvature = 12 * I + 48 * II + 9 * J + 36 * I_I + 144 * II_II + 9 * J_J + 2 * (72 * I_II + 18 * I_J + 36 * II_J)
    return 2 * I + 4 * II + J, 2 * I + 8 * II, curvature / 9
