"""Moduli of sheets from those of the material they are made of."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from pliant.errors import MaterialError
from pliant.materials.law import LameLaw

AnyLame = TypeVar("AnyLame", bound=LameLaw)


def plane_stress(material: AnyLame) -> AnyLame:
    """The law for a thin sheet of a material whose faces are free, so that it thins when it is pulled.

        scene.add_cloth(mesh, pl.plane_stress(pl.StableNeoHookean.from_young(E * thickness, nu)), ...)

    A sheet of a law keeps its third stretch at 1, as between rigid walls (plane strain), and is too stiff: by 10 % at
    Poisson's ratio 0.3, by 25 % at 0.45. With lam replaced by 2 mu lam / (lam + 2 mu) a strip that is pulled has
    Young's modulus and Poisson's ratio of the material at small strains (Timoshenko and Goodier, Section 10).
    """
    if not isinstance(material, LameLaw):
        raise MaterialError(
            f"plane_stress: the material is {material!r}: give a law with mu and lam, such as "
            "pl.StableNeoHookean.from_young(1e3, 0.3)."
        )
    mu, lam = material.mu, material.lam
    return replace(material, lam=2 * mu * lam / (lam + 2 * mu))
