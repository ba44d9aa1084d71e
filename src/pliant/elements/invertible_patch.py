"""Patches of tets (elements.patch) whose law is converted where they are crushed or inverted (elements.conversion).

    E = sum_P (1 - a) V_P W(F_P, l_P) + sum_tets a V W_s(F, l)

Patches convert by the smallest stretch of their mean F_P, tets by that of their own F, each with an l of its own.  So
tets that are inverted within an upright patch are turned back by the part a of the energy, which is theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from pliant.elements.conversion import Converted, add_projective
from pliant.elements.element import View
from pliant.elements.law_block import add_law, rest_unless
from pliant.elements.patch import PATCH, PATCH_TET, Patches, PatchTets, patch_blocks
from pliant.elements.patch_measure import patch_deformation
from pliant.elements.solids import Solids
from pliant.elements.tet import invariant_gradients, invariants, left_cauchy_green
from pliant.lanes import count
from pliant.lanes.vectors import add_identity, dot, physics
from pliant.materials.stretch import trace_of_stretch


@dataclass(frozen=True)
class InvertiblePatches(Converted, Patches):
    """Patches of one law that is converted by their mean."""


@dataclass(frozen=True)
class InvertiblePatchTets(Converted, PatchTets):
    """The tets of patches, with the law converted tet by tet."""


@physics
def invertible_patch_energy(a, b, c, d, e, f, g, ba, bb, bc, bd, be, bf, bg, volume, l, parameters, density):
    """V W [J]; the last of the parameters is the projective stiffness [Pa]."""
    F, _ = patch_deformation((a, b, c, d, e, f, g), (ba, bb, bc, bd, be, bf, bg))
    I, II, J = invariants(F, left_cauchy_green(F))
    kept = volume * (1.0 - l)
    energy = kept * density(*rest_unless(kept > 0.0, I, II, J), *parameters[:-1])
    return energy + volume * l * parameters[-1] * (I - 2.0 * trace_of_stretch(I, II, J) + 3.0)


@physics
def add_invertible_patch(force, H, a, b, c, d, e, f, g, ba, bb, bc, bd, be, bf, bg, volume, l, parameters, derivatives):
    """Add the force on the vertex and its block; of the projective energy its constant matrix (Equation 19)."""
    F, own = patch_deformation((a, b, c, d, e, f, g), (ba, bb, bc, bd, be, bf, bg))
    B = left_cauchy_green(F)
    kept = volume * (1.0 - l)
    first, second = derivatives(*rest_unless(kept > 0.0, *invariants(F, B)), *parameters[:-1])
    gradients = invariant_gradients(F, B, own)
    force, H, diagonal = add_law(force, H, kept * 0.0, first, second, kept, B, dot(own, own), gradients)
    if count(l > 0.0) > 0:
        force, diagonal = add_projective(force, diagonal, F, own, volume * l * parameters[-1], volume > 0.0)
    return force, add_identity(H, diagonal)


def invertible_patch_blocks(
    solids: Solids, patch: np.ndarray, conversion: np.ndarray
) -> tuple[InvertiblePatches, InvertiblePatchTets]:
    """The two blocks of a body's tets, of which `patch` (m,) says the patch; conversion: (m, 4) of the tets."""
    patches, tets = patch_blocks(solids, patch)
    count, weights = len(patches.elements), np.bincount(patch, solids.volumes)
    means = np.stack([np.bincount(patch, solids.volumes * c, count) / weights for c in conversion.T], axis=1)
    return (
        InvertiblePatches(*_values(patches), means, np.zeros(count)),
        InvertiblePatchTets(*_values(tets), conversion, np.zeros(len(patch))),
    )


def _values(block: Patches | PatchTets) -> list[Any]:
    return [getattr(block, field.name) for field in fields(block)]


INVERTIBLE_PATCH = replace(
    PATCH,
    block=InvertiblePatches,
    name="invertible patches",
    numbers=("volumes", "interpolants"),
    views=(View(PATCH.views[0].orders, add_invertible_patch, invertible_patch_energy),),
    path="invertible patches",
)
INVERTIBLE_PATCH_TET = replace(
    PATCH_TET, block=InvertiblePatchTets, name="invertible tets of patches", path="invertible tets"
)
