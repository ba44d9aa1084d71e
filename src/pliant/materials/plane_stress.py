"""Moduli of sheets from those of the material they are made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from pliant.errors import MaterialError
from pliant.materials.law import LameLaw

AnyLame = TypeVar("AnyLame", bound=LameLaw)


def plane_stress(material: AnyLame) -> AnyLame:
    """The law for a thin sheet of a material whose faces are free, so that it thins when it is pulled.

        scene.add_cloth(mesh, pl.plane_stress(pl.StableNeoHookean(mu, lam)), ...)

    A sheet of a law keeps its third stretch at 1, as between rigid walls (plane strain), and is too stiff: by 10 % at
    Poisson's ratio 0.3, by 25 % at 0.45. With lam replaced by 2 mu lam / (lam + 2 mu) a strip that is pulled has
    Young's modulus and Poisson's ratio of the material at small strains (Timoshenko and Goodier, Section 10).

    Sheets do this by themselves with laws that `from_young` made; what this function gives is taken as it is.
    """
    if not isinstance(material, LameLaw):
        raise MaterialError(
            f"plane_stress: the material is {material!r}: give a law with mu and lam, such as "
            "pl.StableNeoHookean(mu=400.0, lam=600.0)."
        )
    mu, lam = material.mu, material.lam
    poisson = lam / (2 * (lam + mu))
    if np.any(poisson <= -0.5):
        raise MaterialError(
            f"plane_stress: Poisson's ratio is {np.min(poisson):.3g}: sheets need one above -0.5. Give mu and lam of "
            "the sheet itself."
        )
    return replace(material, lam=2 * mu * lam / (lam + 2 * mu))


def law_of_sheet(material: Any) -> Any:
    """What a sheet is made of: laws by Young's modulus and Poisson's ratio in plane stress, all others as they are."""
    return plane_stress(material) if isinstance(material, LameLaw) and material.is_of_solid else material
