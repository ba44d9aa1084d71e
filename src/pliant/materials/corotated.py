"""Co-rotated linear elasticity: Hooke's law after the rotation is taken out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.materials.law import LameLaw


@dataclass(frozen=True)
class Corotated(LameLaw):
    """psi = mu |S - 1|^2 + lam/2 (tr S - 3)^2 = mu (I - 2 tr S + 3) + lam/2 (tr S - 3)^2, with F = R S."""

    source = "Mueller and Gross 2004; Sifakis and Barbic 2012, Section 3.4"

    @staticmethod
    def energy_density(I, II, J, S, mu, lam):
        return mu * (I - 2 * S + 3) + lam / 2 * (S - 3) ** 2

    @staticmethod
    def projection_weight(mu, lam):
        """w [Pa] of the projection form w/2 |F - R|^2, which the law has without lam; NaN where it has none."""
        return np.where(lam == 0, 2 * mu, np.nan)
