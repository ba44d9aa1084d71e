"""Laws of materials: one file a law, one formula a file."""

from pliant.materials.law import SolidLaw, lame_parameters
from pliant.materials.neo_hookean import NeoHookean
from pliant.materials.st_venant_kirchhoff import StVenantKirchhoff
from pliant.materials.stable_neo_hookean import StableNeoHookean

SOLID_LAWS: dict[str, type[SolidLaw]] = {law.__name__: law for law in (StableNeoHookean, NeoHookean, StVenantKirchhoff)}

__all__ = ["SOLID_LAWS", "NeoHookean", "SolidLaw", "StVenantKirchhoff", "StableNeoHookean", "lame_parameters"]
