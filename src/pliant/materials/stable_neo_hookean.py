"""Neo-Hookean elasticity that stays finite when an element is squeezed flat or turned inside out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from pliant.arguments import is_finite_number
from pliant.errors import MaterialError
from pliant.materials.law import LameLaw


@dataclass(frozen=True)
class StableNeoHookean(LameLaw):
    """psi = mu/2 (I - 3) - mu (J - 1) + l/2 (J - 1)^2 with l = lam + mu.

    Deviation: the papers write their coefficient l as lambda.  The linearised law then has Lame's lambda l - mu, so
    the same two numbers would mean another material than in every other law.  Here lam is Lame's; `from_coefficients`
    takes the papers' numbers.
    """

    source = "Smith, de Goes, Kim 2018, without the logarithm; VBD (Chen et al. 2024), Section 5"

    @staticmethod
    def energy_density(I, II, J, mu, lam):
        return mu / 2 * (I - 3) - mu * (J - 1) + (lam + mu) / 2 * (J - 1) ** 2

    @classmethod
    def from_coefficients(cls, mu: float, l: float) -> Self:
        """The papers' own numbers [Pa], as in Table 1 of the VBD paper."""
        if not (is_finite_number(mu) and mu > 0):
            raise MaterialError(f"StableNeoHookean: the coefficient mu is {mu!r}: give a positive number [Pa].")
        if not (is_finite_number(l) and l > mu / 3):
            raise MaterialError(
                f"StableNeoHookean: the coefficient l is {l!r}: it must be above mu / 3 = {mu / 3!r} [Pa]."
            )
        return cls(mu, l - mu)
