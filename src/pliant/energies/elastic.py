"""Elastic energy of tets, and of patches of tets, and its derivatives, for any law, in double precision: the plain
NumPy truth that kernels must equal.

    E = sum V psi(I, II, J);   dE/dx_i = V P b_i  with  P = 2 psi_I F + 4 psi_II F F^T F + psi_J cof F.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pliant.energies.invariants import tet_invariants
from pliant.energies.scatter import chunks, sum_at_vertices, sum_blocks_at_vertices
from pliant.materials import SolidLaw
from pliant.materials.calculus import law_code
from pliant.model import Solids
from pliant.model.blocks import Patches

_LEVI_CIVITA = np.zeros((3, 3, 3))
_LEVI_CIVITA[[0, 1, 2], [1, 2, 0], [2, 0, 1]] = 1
_LEVI_CIVITA[[0, 1, 2], [2, 0, 1], [1, 2, 0]] = -1


def deformation_gradients(solids: Solids | Patches, x: np.ndarray) -> np.ndarray:
    """F (m, 3, 3); from differences, so that nothing cancels far from the origin."""
    corner = x[solids.elements]
    return np.einsum("mja,mjc->mac", corner[:, 1:] - corner[:, :1], solids.gradients[:, 1:], optimize=True)


def invariants(F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """I = |F|^2, II = |F^T F|^2, J = det F."""
    C = np.einsum("mac,mad->mcd", F, F)
    return np.einsum("mcc->m", C), np.einsum("mcd,mcd->m", C, C), np.linalg.det(F)


def cofactors(F: np.ndarray) -> np.ndarray:
    """dJ/dF; defined for flat elements too."""
    return np.stack([np.cross(F[:, 1], F[:, 2]), np.cross(F[:, 2], F[:, 0]), np.cross(F[:, 0], F[:, 1])], axis=1)


def energy(solids: Solids | Patches, x: np.ndarray) -> float:
    """[J]; infinite where a law with a barrier meets an inverted element."""
    return float(np.sum(energies(solids, x)))


def energies(solids: Solids | Patches, x: np.ndarray) -> np.ndarray:
    """(m,) [J] of each element."""
    return solids.volumes * densities(solids, x)


def densities(solids: Solids | Patches, x: np.ndarray) -> np.ndarray:
    """psi (m,) [J/m^3]."""
    return law_densities(solids.law, tet_invariants(solids.elements, solids.gradients, x), solids.parameters)


def law_densities(law: type[SolidLaw], invariants: Iterable[np.ndarray], parameters: np.ndarray) -> np.ndarray:
    """psi (m,) [J/m^3] of invariants I, II, J (m,) and parameters (m, p) of a law."""
    code = law_code(law)
    I, II, J = invariants
    if not code.has_barrier:
        return code.functions.energy_density(I, II, J, *parameters.T) + np.zeros(len(J))
    inside = J > 0
    psi = code.functions.energy_density(I, II, np.where(inside, J, 1.0), *parameters.T)
    return np.where(inside, psi, np.inf)


def gradient(solids: Solids | Patches, x: np.ndarray) -> np.ndarray:
    """dE/dx (n, 3) [N]."""
    F = deformation_gradients(solids, x)
    first, _ = _derivatives(solids, F)
    P = 2 * first[0][:, None, None] * F
    P += 4 * first[1][:, None, None] * np.einsum("mab,mcb,mcd->mad", F, F, F, optimize=True)
    P += first[2][:, None, None] * cofactors(F)
    nodal = np.einsum("m,mac,mjc->mja", solids.volumes, P, solids.gradients, optimize=True)
    return sum_at_vertices(solids.elements, nodal, len(x))


def element_hessians(solids: Solids | Patches, x: np.ndarray, part: slice) -> np.ndarray:
    """d2E/dx_i dx_j of some elements (k, corners, 3, corners, 3) [N/m]."""
    b, V = solids.gradients[part], solids.volumes[part]
    stiffness = _density_hessians(solids, x, part)
    return np.einsum("m,mic,macbd,mjd->miajb", V, b, stiffness, b, optimize=True)


def vertex_blocks(solids: Solids | Patches, x: np.ndarray) -> np.ndarray:
    """d2E/dx_i^2 (n, 3, 3) [N/m]."""
    blocks = np.zeros((len(x), 3, 3))
    for part in chunks(len(solids.elements)):
        own = np.einsum("miaib->miab", element_hessians(solids, x, part))
        blocks += sum_blocks_at_vertices(solids.elements[part], own, len(x))
    return blocks


def _derivatives(
    solids: Solids | Patches, F: np.ndarray, part: slice = slice(None)
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """First and second derivatives of psi by I, II, J, zeros written out."""
    I, II, J = invariants(F)
    functions = law_code(solids.law).functions
    with np.errstate(invalid="ignore", divide="ignore"):
        first, second = functions.derivatives(I, II, J, *solids.parameters[part].T)
    zeros = np.zeros(len(F))
    return [zeros if d is None else d + zeros for d in first], [zeros if d is None else d + zeros for d in second]


def _density_hessians(solids: Solids | Patches, x: np.ndarray, part: slice) -> np.ndarray:
    """d2psi/dF2 (k, 3, 3, 3, 3), indices F_ac F_bd in the order a c b d."""
    corner = x[solids.elements[part]]
    F = np.einsum("mja,mjc->mac", corner[:, 1:] - corner[:, :1], solids.gradients[part, 1:], optimize=True)
    (psi_I, psi_II, psi_J), second = _derivatives(solids, F, part)
    eye = np.eye(3)
    B, C = np.einsum("mac,mbc->mab", F, F), np.einsum("mac,mad->mcd", F, F)
    H = 2 * np.einsum("m,ab,cd->macbd", psi_I, eye, eye)
    H += 4 * np.einsum("m,ab,mcd->macbd", psi_II, eye, C, optimize=True)
    H += 4 * np.einsum("m,mad,mbc->macbd", psi_II, F, F, optimize=True)
    H += 4 * np.einsum("m,mab,cd->macbd", psi_II, B, eye, optimize=True)
    H += np.einsum("m,abe,cdf,mef->macbd", psi_J, _LEVI_CIVITA, _LEVI_CIVITA, F, optimize=True)
    G = [2 * F, 4 * np.einsum("mab,mbd->mad", B, F), cofactors(F)]
    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    for (i, j), value in zip(pairs, second, strict=True):
        if not value.any():
            continue
        product = np.einsum("m,mac,mbd->macbd", value, G[i], G[j], optimize=True)
        H += product if i == j else product + product.transpose(0, 3, 4, 1, 2)
    return H
