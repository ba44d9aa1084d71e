"""Laws of materials: one file per law, one formula a file."""

from pliant.materials.arap import ARAP
from pliant.materials.compressible_neo_hookean import CompressibleNeoHookean
from pliant.materials.corotated import Corotated
from pliant.materials.fixed_corotated import FixedCorotated
from pliant.materials.fung import Fung
from pliant.materials.invertible import Invertible
from pliant.materials.law import LameLaw, SolidLaw, lame_parameters, varying_law
from pliant.materials.mooney_rivlin import MooneyRivlin
from pliant.materials.neo_hookean import NeoHookean
from pliant.materials.st_venant_kirchhoff import StVenantKirchhoff
from pliant.materials.stable_neo_hookean import StableNeoHookean
from pliant.materials.yarn_cloth import YarnCloth

SOLID_LAWS: dict[str, type[SolidLaw]] = {
    law.__name__: law
    for law in (
        StableNeoHookean,
        NeoHookean,
        StVenantKirchhoff,
        CompressibleNeoHookean,
        MooneyRivlin,
        Fung,
        Corotated,
        FixedCorotated,
        ARAP,
    )
}

__all__ = [
    "ARAP",
    "SOLID_LAWS",
    "CompressibleNeoHookean",
    "Corotated",
    "FixedCorotated",
    "Fung",
    "Invertible",
    "LameLaw",
    "MooneyRivlin",
    "NeoHookean",
    "SolidLaw",
    "StVenantKirchhoff",
    "StableNeoHookean",
    "YarnCloth",
    "lame_parameters",
    "varying_law",
]
