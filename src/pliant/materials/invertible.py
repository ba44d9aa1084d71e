"""A law that lets go where an element is crushed or inverted: Wang and Yang's invertible model conversion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.arguments import is_finite_number
from pliant.errors import MaterialError
from pliant.materials.law import SolidLaw
from pliant.materials.user_law import rest_properties


@dataclass(frozen=True)
class Invertible:
    """Any law of solids, converted to projective dynamics' as-rigid-as-possible one in tets, and patches of tets,
    that are nearly flat or inverted (Wang and Yang 2016, Equations 17 to 19):

        W = (1 - l) psi + l k sum_i (s_i - 1)^2,    l <- min(1, max(0, l - release, (upper - s_3) / (upper - lower)))

    with the principal stretches s_1 >= s_2 >= |s_3|, s_3 negative where the tet is inverted.  Each tet remembers its l
    from iteration to iteration and from step to step.  It is brought up to date once at the start of an iteration and
    does not change within it, so that each iteration lowers one potential; where no tet is below `upper`, l falls to
    zero and the law is psi alone.  psi is not evaluated where l = 1, so that a law with a barrier can be wrapped.

    lower, upper: stretches at which a tet is wholly converted, and not at all.  Tets of a law with a barrier resist
        their neighbours' turning back until they convert: for whole bodies inside out take lower=0.5, upper=0.8, with
        element="patch" 0.6 and 0.9.
    release: fall of l per iteration, without unit, as a tet that has recovered returns to the law.
    stiffness: k [Pa]; None: the shear modulus of the law at rest.  A low one leaves elements inverted, a high one makes
        them swing between the two models (Wang and Yang, Section 6).
    """

    law: SolidLaw
    lower: float = 0.05
    upper: float = 0.15
    release: float = 0.05
    stiffness: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.law, SolidLaw):
            raise MaterialError(f"Invertible: the law is {self.law!r}: give a law, such as pl.NeoHookean(1e5, 1e6).")
        if not (is_finite_number(self.lower) and is_finite_number(self.upper) and self.lower < self.upper < 1):
            raise MaterialError(
                f"Invertible: lower is {self.lower!r} and upper {self.upper!r}: give lower < upper < 1, both stretches."
            )
        if not (is_finite_number(self.release) and 0 < self.release <= 1):
            raise MaterialError(f"Invertible: release is {self.release!r}: it must lie between 0, excluded, and 1.")
        if self.stiffness is not None and not (is_finite_number(self.stiffness) and self.stiffness > 0):
            raise MaterialError(f"Invertible: stiffness is {self.stiffness!r}: give a positive number [Pa].")

    @property
    def conversion(self) -> tuple[float, float, float, Any]:
        """lower, upper, release and stiffness [Pa], which may be one per element."""
        shear = rest_properties(type(self.law), self.law.parameters)[1]
        return self.lower, self.upper, self.release, shear if self.stiffness is None else self.stiffness

    def of_elements(self, m: int) -> np.ndarray:
        """The conversion (m, 4) of m elements: lower, upper, release and stiffness [Pa]."""
        return np.column_stack([np.broadcast_to(np.asarray(value, float), (m,)) for value in self.conversion])
