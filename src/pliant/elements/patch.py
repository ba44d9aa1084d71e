"""Patches of tets that share one mean deformation gradient: solids that neither lock in volume nor in bending.

    E = sum_P (1 - a) V_P psi(F_P) + sum_tets a V psi_s(F),    F_P = sum_{tets of P} V F / V_P = sum_i x_i b_i^T

A linear tet has constant strain, and near Poisson's ratio 1/2 each would have to keep its volume: three tets out of
four more constraints than vertices can meet. A patch of about six tets, at most eight vertices, has one such
constraint. It is the uniform strain of Flanagan and Belytschko (1981), for patches as of de Souza Neto et al. (2005);
the tets themselves, with the part a of the energy, stop the motions that a mean does not see, as Puso and Solberg
(2006) stabilise nodal averages. psi_s is the law with its volume term reduced so that Lame's lam is at most mu, and psi
has what is missing, so that under a homogeneous deformation the energy is that of the law, exactly where the volume
term enters linearly: patches pass the patch test.

F_P is linear in the positions as that of a tet, with more corners; patches with fewer than eight vertices repeat one
with b = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pliant.elements.block import Block, Invariance
from pliant.elements.element import ConstraintForm, Element, View
from pliant.elements.law_block import add_law, rest_unless
from pliant.elements.patch_measure import CORNERS, patch_deformation
from pliant.elements.solids import TET, Solids
from pliant.elements.tet import invariant_gradients, invariants, left_cauchy_green
from pliant.errors import SolverError
from pliant.lanes.vectors import add_identity, dot, physics
from pliant.materials import SolidLaw
from pliant.materials.volume_part import with_lam

STABILISATION = 0.15  # a
STAR_STABILISATION = 0.25  # of a tet and one on each of its faces, as cells of boxes are


@dataclass(frozen=True)
class Patches(Block):
    """Patches (m, 8) of tets of one law."""

    invariance = Invariance.RIGID

    law: type[SolidLaw]
    gradients: np.ndarray  # (m, 8, 3) of the mean [1/m]
    volumes: np.ndarray  # (m,) (1 - a) V_P [m^3]
    parameters: np.ndarray  # (m, p) of psi

    @property
    def key(self) -> tuple[type, ...]:
        return type(self), self.law


@dataclass(frozen=True)
class PatchTets(Solids):
    """The tets (m, 4) of patches; volumes are a V, parameters those of psi_s."""

    patch: np.ndarray  # (m,) patches by number, of all bodies before joining of one body
    given: np.ndarray  # (m, p) parameters of the law itself
    stabilisation: np.ndarray  # (m,) a


@physics
def patch_energy(a, b, c, d, e, f, g, ba, bb, bc, bd, be, bf, bg, volume, parameters, density):
    """V psi [J]; corners relative to the vertex with their gradients; density(I, II, J, *parameters) of the law."""
    F, _ = patch_deformation((a, b, c, d, e, f, g), (ba, bb, bc, bd, be, bf, bg))
    return volume * density(*rest_unless(volume > 0.0, *invariants(F, left_cauchy_green(F))), *parameters)


@physics
def add_patch(force, H, a, b, c, d, e, f, g, ba, bb, bc, bd, be, bf, bg, volume, parameters, derivatives):
    """Add the force on the vertex and its block; derivatives(I, II, J, *parameters) of the law, None where zero."""
    F, own = patch_deformation((a, b, c, d, e, f, g), (ba, bb, bc, bd, be, bf, bg))
    B = left_cauchy_green(F)
    first, second = derivatives(*rest_unless(volume > 0.0, *invariants(F, B)), *parameters)
    gradients = invariant_gradients(F, B, own)
    force, H, diagonal = add_law(force, H, volume * 0.0, first, second, volume, B, dot(own, own), gradients)
    return force, add_identity(H, diagonal)


def patch_blocks(solids: Solids, patch: np.ndarray) -> tuple[Patches, PatchTets]:
    """The two blocks of a body's tets, of which `patch` (m,) says the patch; patches have at most eight vertices."""
    count = int(patch.max()) + 1
    a, law = np.where(_stars(solids.elements, patch, count), STAR_STABILISATION, STABILISATION), solids.law
    of_tets, of_patches = with_lam(law, solids.parameters, a[patch])
    means = _means(solids.elements, solids.gradients, solids.volumes, of_patches, patch, count)
    rest = (solids.elements, law, solids.gradients, a[patch] * solids.volumes)
    return (
        Patches(means.elements, law, means.gradients, (1 - a) * means.volumes, means.parameters),
        PatchTets(*rest, of_tets, patch, solids.parameters, a[patch]),
    )


def patches_of_left(patches: Patches, tets: PatchTets, patch: np.ndarray) -> Patches:
    """Patches as means of those of their tets that are left, one of each at least; patch (t,): row of each tet's."""
    a = np.empty(len(patches.elements))
    a[patch] = tets.stabilisation
    _, of_patches = with_lam(tets.law, tets.given, tets.stabilisation)
    rest = (tets.elements, tets.gradients, tets.volumes / tets.stabilisation)
    means = _means(*rest, of_patches, patch, len(a))
    arrays = {"gradients": means.gradients, "volumes": (1 - a) * means.volumes, "parameters": means.parameters}
    return replace(patches, elements=means.elements, **arrays)


class _Means(NamedTuple):
    """Of patches."""

    elements: np.ndarray  # (m, 8)
    gradients: np.ndarray  # (m, 8, 3) [1/m]
    volumes: np.ndarray  # (m,) V_P [m^3]
    parameters: np.ndarray  # (m, p)


def _means(elements, gradients, volumes, parameters, patch, count) -> _Means:
    """Of tets (t, 4) with gradients (t, 4, 3), volumes (t,) and parameters (t, p), by their patches (t,)."""
    whole = np.bincount(patch, volumes, count)
    pairs, place = np.unique(np.column_stack([np.repeat(patch, 4), elements.ravel()]), axis=0, return_inverse=True)
    first = np.searchsorted(pairs[:, 0], np.arange(count + 1))
    corner = np.arange(len(pairs)) - first[pairs[:, 0]]
    corners = np.repeat(pairs[first[:-1], 1][:, None], CORNERS, axis=1)
    corners[pairs[:, 0], corner] = pairs[:, 1]
    weighted = (volumes / whole[patch])[:, None, None] * gradients
    sums = np.zeros((count, CORNERS, 3))
    np.add.at(sums, (pairs[place.ravel(), 0], corner[place.ravel()]), weighted.reshape(-1, 3))
    means = np.stack([np.bincount(patch, volumes * p, count) / whole for p in parameters.T], axis=1)
    return _Means(corners, sums, whole, means)


def _stars(elements: np.ndarray, patch: np.ndarray, count: int) -> np.ndarray:
    """(count,) whether a patch is one tet and one on each of its faces, as the cells of `shapes.box` are: four vertices
    of four tets, four of one. elements (t, 4), patch (t,): of its tets.
    """
    pairs, many = np.unique(np.column_stack([np.repeat(patch, 4), elements.ravel()]), axis=0, return_counts=True)
    inner, outer = (np.bincount(pairs[many == n, 0], minlength=count) for n in (4, 1))
    return (inner == 4) & (outer == 4) & (np.bincount(pairs[:, 0], minlength=count) == CORNERS)


def _refuse(block: Patches, solver: str) -> ConstraintForm:
    raise SolverError(f'{solver} does not support element="patch": use VBD or Newton, or element="linear".')


def _seen_from(corner: int) -> tuple[int, ...]:
    return tuple((corner + i) % CORNERS for i in range(CORNERS))


PATCH = Element(
    Patches,
    "patches",
    corners=CORNERS,
    corner_numbers=("gradients",),
    numbers=("volumes",),
    views=(View(tuple(_seen_from(corner) for corner in range(CORNERS)), add_patch, patch_energy),),
    has_law=True,
    constraint_form=_refuse,
    path="patches",
)
PATCH_TET = Element(PatchTets, "tets of patches", corners=4, has_law=True, path="weighted tets", damping=TET.damping)
