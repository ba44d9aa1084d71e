"""Fixed co-rotated elasticity: Hooke's shear after the rotation is taken out, and the true change of volume."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.materials.law import LameLaw


@dataclass(frozen=True)
class FixedCorotated(LameLaw):
    """psi = mu |S - 1|^2 + lam/2 (J - 1)^2 = mu (I - 2 tr S + 3) + lam/2 (J - 1)^2, with F = R S.

    Unlike the co-rotated law, whose lam/2 (tr S - 3)^2 lets volume vanish under shear, it resists every change of
    volume.
    """

    source = "Stomakhin et al. 2012, Equation 4"

    @staticmethod
    def energy_density(I, II, J, S, mu, lam):
        return mu * (I - 2 * S + 3) + lam / 2 * (J - 1) ** 2
