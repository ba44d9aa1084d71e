"""Membrane energy of triangles and its derivatives, for any law, in double precision (see elements.triangle).

    E = A psi(I, II, J);   dE/dx_i = A P b_i  with  P = 2 psi_I F + 4 psi_II F F^T F + psi_J dJ/dF  (3x2).

Everywhere: x (n, 3) [m], triangles (m, 3), gradients b (m, 3, 2) [1/m], areas (m,) [m^2], a law's class and its
parameters (m, p).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.elements.triangle import LEAST_AREA
from pliant.energies.invariants import triangle_invariants
from pliant.materials.calculus import law_code
from pliant.materials.law import SolidLaw

Array = np.ndarray
_CROSS = np.cross(np.eye(3)[:, None], np.eye(3)[None])  # e_a x e_b (3, 3, 3)


class _Measures(NamedTuple):
    """F (m, 3, 2), the unit normal u (m, 3), dn/dF (m, 3, 3, 2) with n first, I, II, J (m,)."""

    F: Array
    u: Array
    dn: Array
    invariants: tuple[Array, Array, Array]


def energy(x: Array, triangles: Array, gradients: Array, areas: Array, law: type[SolidLaw], parameters: Array) -> Array:
    """A psi (m,) [J]; infinite where a law with a barrier meets a triangle without area."""
    code = law_code(law)
    I, II, J = triangle_invariants(triangles, gradients, x)
    inside = J > 0 if code.has_barrier else np.ones(len(J), dtype=bool)
    psi = code.functions.energy_density(I, II, np.where(inside, J, 1.0), *parameters.T)
    return areas * np.where(inside, psi, np.inf)


def gradient(
    x: Array, triangles: Array, gradients: Array, areas: Array, law: type[SolidLaw], parameters: Array
) -> Array:
    """dE/dx (m, 3, 3) [N]."""
    measures = _measures(x, triangles, gradients)
    first, _ = _derivatives(law, parameters, measures)
    P = sum(psi[:, None, None] * G for psi, G in zip(first, _invariant_gradients(measures), strict=True))
    return np.einsum("m,mac,mjc->mja", areas, P, gradients, optimize=True)


def hessian(
    x: Array, triangles: Array, gradients: Array, areas: Array, law: type[SolidLaw], parameters: Array
) -> Array:
    """d2E/dx2 (m, 9, 9) [N/m], exact."""
    stiffness = _density_hessians(law, parameters, _measures(x, triangles, gradients))
    blocks = np.einsum("m,mic,macbd,mjd->miajb", areas, gradients, stiffness, gradients, optimize=True)
    return blocks.reshape(-1, 9, 9)


def vertex_blocks(
    x: Array, triangles: Array, gradients: Array, areas: Array, law: type[SolidLaw], parameters: Array
) -> Array:
    """What a vertex solves with (m, 3, 3, 3) [N/m]: exact but for a negative stiffness along the normal, left out."""
    measures = _measures(x, triangles, gradients)
    stiffness = _density_hessians(law, parameters, measures)
    blocks = np.einsum("m,mic,macbd,mid->miab", areas, gradients, stiffness, gradients, optimize=True)
    normal = np.einsum("ma,miab,mb->mi", measures.u, blocks, measures.u, optimize=True)
    return blocks + np.einsum("mi,ma,mb->miab", np.maximum(-normal, 0), measures.u, measures.u)


def _measures(x: Array, triangles: Array, gradients: Array) -> _Measures:
    """F from differences, so that nothing cancels far from the origin."""
    corner = x[triangles]
    F = np.einsum("mja,mjc->mac", corner[:, 1:] - corner[:, :1], gradients[:, 1:], optimize=True)
    C = np.einsum("mac,mad->mcd", F, F)
    n = np.cross(F[:, :, 0], F[:, :, 1])
    J = np.linalg.norm(n, axis=1)
    dn = np.stack((np.einsum("abk,mb->mka", _CROSS, F[:, :, 1]), np.einsum("bak,mb->mka", _CROSS, F[:, :, 0])), axis=3)
    I, II = np.einsum("mcc->m", C) + 1, np.einsum("mcd,mcd->m", C, C) + 1
    return _Measures(F, n / np.maximum(J, LEAST_AREA)[:, None], dn, (I, II, J))


def _invariant_gradients(measures: _Measures) -> list[Array]:
    """dI/dF, dII/dF, dJ/dF (m, 3, 2)."""
    F = measures.F
    return [2 * F, 4 * np.einsum("mab,mcb,mcd->mad", F, F, F, optimize=True), _area_gradients(measures)]


def _area_gradients(measures: _Measures) -> Array:
    return np.einsum("mk,mkac->mac", measures.u, measures.dn)


def _derivatives(law: type[SolidLaw], parameters: Array, measures: _Measures) -> tuple[list[Array], list[Array]]:
    """First and second derivatives of psi by I, II, J, zeros written out."""
    with np.errstate(invalid="ignore", divide="ignore"):
        first, second = law_code(law).functions.derivatives(*measures.invariants, *parameters.T)
    zeros = np.zeros(len(measures.F))
    return [zeros if d is None else d + zeros for d in first], [zeros if d is None else d + zeros for d in second]


def _density_hessians(law: type[SolidLaw], parameters: Array, measures: _Measures) -> Array:
    """d2psi/dF2 (m, 3, 2, 3, 2)."""
    F = measures.F
    (psi_I, psi_II, psi_J), second = _derivatives(law, parameters, measures)
    eye, eye2 = np.eye(3), np.eye(2)
    B, C = np.einsum("mac,mbc->mab", F, F), np.einsum("mac,mad->mcd", F, F)
    H = 2 * np.einsum("m,ab,cd->macbd", psi_I, eye, eye2)
    H += 4 * np.einsum("m,ab,mcd->macbd", psi_II, eye, C, optimize=True)
    H += 4 * np.einsum("m,mad,mbc->macbd", psi_II, F, F, optimize=True)
    H += 4 * np.einsum("m,mab,cd->macbd", psi_II, B, eye2, optimize=True)
    H += psi_J[:, None, None, None, None] * _area_hessians(measures)
    G = _invariant_gradients(measures)
    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    for (i, j), value in zip(pairs, second, strict=True):
        product = np.einsum("m,mac,mbd->macbd", value, G[i], G[j], optimize=True)
        H += product if i == j else product + product.transpose(0, 3, 4, 1, 2)
    return H


def _area_hessians(measures: _Measures) -> Array:
    """d2J/dF2 of J = |n|: (dn . dn - (u . dn)(u . dn)) / J + u . d2n, with n = F_1 x F_2."""
    u, dn, (_, _, J) = measures.u, measures.dn, measures.invariants
    G = _area_gradients(measures)
    H = np.einsum("mkac,mkbd->macbd", dn, dn, optimize=True) - np.einsum("mac,mbd->macbd", G, G)
    H /= np.maximum(J, LEAST_AREA)[:, None, None, None, None]
    mixed = np.einsum("mk,abk->mab", u, _CROSS)
    H[:, :, 0, :, 1] += mixed
    H[:, :, 1, :, 0] -= mixed
    return H
