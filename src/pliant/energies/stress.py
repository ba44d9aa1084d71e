"""What the material feels in each tet: stored energy and stress, for pictures and result files.

    sigma = P F^T / J = (2 psi_I B + 4 psi_II B^2) / J + psi_J 1,    B = F F^T
    von Mises: sqrt(3/2 s : s),  s = sigma - tr(sigma) / 3 1

The derivatives of psi are the ones generated from the law; the tensors are formed in compiled loops, because results are
written while the simulation runs.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pliant.materials.calculus import law_code
from pliant.model import Solids


def cauchy_stress(solids: Solids, x: np.ndarray) -> np.ndarray:
    """sigma (m, 6) [Pa] at positions x (n, 3) [m], as xx, yy, zz, yz, xz, xy; not finite where a tet is flat."""
    B, invariants = np.empty((len(solids.tets), 6)), np.empty((3, len(solids.tets)))
    _strains(x, solids.tets, solids.gradients, B, invariants)
    return _stress(solids, B, invariants)


def von_mises(sigma: np.ndarray) -> np.ndarray:
    """Equivalent stress (m,) [Pa] of stresses (m, 6) [Pa]."""
    equivalent = np.empty(len(sigma))
    _equivalent(sigma, equivalent)
    return equivalent


def densities_and_von_mises(solids: Solids, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """psi (m,) [J/m^3], infinite where a law with a barrier meets an inverted tet, and von Mises stress (m,) [Pa]."""
    B, invariants = np.empty((len(solids.tets), 6)), np.empty((3, len(solids.tets)))
    _strains(x, solids.tets, solids.gradients, B, invariants)
    code = law_code(solids.law)
    with np.errstate(invalid="ignore", divide="ignore"):
        psi = code.functions.density(*invariants, *solids.parameters.T) + np.zeros(len(solids.tets))
    if code.has_barrier:
        psi = np.where(invariants[2] > 0, psi, np.inf)
    return psi, von_mises(_stress(solids, B, invariants))


def _stress(solids: Solids, B: np.ndarray, invariants: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        first, _ = law_code(solids.law).functions.derivatives(*invariants, *solids.parameters.T)
    zeros = np.zeros(len(B))
    psi_I, psi_II, psi_J = (zeros if d is None else d + zeros for d in first)
    sigma = np.empty_like(B)
    _form_stress(B, invariants[2], psi_I, psi_II, psi_J, sigma)
    return sigma


@njit(cache=True, nogil=True)
def _strains(x, tets, gradients, B, invariants):
    """B = F F^T (m, 6) of every tet, and I, II, J (3, m). From differences, so that nothing cancels far away."""
    F = np.empty((3, 3))
    for t in range(len(tets)):
        for a in range(3):
            origin = x[tets[t, 0], a]
            for c in range(3):
                F[a, c] = 0.0
            for j in range(1, 4):
                edge = x[tets[t, j], a] - origin
                for c in range(3):
                    F[a, c] += edge * gradients[t, j, c]
        xx = F[0, 0] ** 2 + F[0, 1] ** 2 + F[0, 2] ** 2
        yy = F[1, 0] ** 2 + F[1, 1] ** 2 + F[1, 2] ** 2
        zz = F[2, 0] ** 2 + F[2, 1] ** 2 + F[2, 2] ** 2
        yz = F[1, 0] * F[2, 0] + F[1, 1] * F[2, 1] + F[1, 2] * F[2, 2]
        xz = F[0, 0] * F[2, 0] + F[0, 1] * F[2, 1] + F[0, 2] * F[2, 2]
        xy = F[0, 0] * F[1, 0] + F[0, 1] * F[1, 1] + F[0, 2] * F[1, 2]
        B[t, 0], B[t, 1], B[t, 2], B[t, 3], B[t, 4], B[t, 5] = xx, yy, zz, yz, xz, xy
        invariants[0, t] = xx + yy + zz
        invariants[1, t] = xx * xx + yy * yy + zz * zz + 2 * (yz * yz + xz * xz + xy * xy)
        invariants[2, t] = (
            F[0, 0] * (F[1, 1] * F[2, 2] - F[1, 2] * F[2, 1])
            - F[0, 1] * (F[1, 0] * F[2, 2] - F[1, 2] * F[2, 0])
            + F[0, 2] * (F[1, 0] * F[2, 1] - F[1, 1] * F[2, 0])
        )


@njit(cache=True, nogil=True, error_model="numpy")
def _form_stress(B, J, psi_I, psi_II, psi_J, sigma):
    for t in range(len(B)):
        xx, yy, zz, yz, xz, xy = B[t, 0], B[t, 1], B[t, 2], B[t, 3], B[t, 4], B[t, 5]
        p, q = 2 * psi_I[t] / J[t], 4 * psi_II[t] / J[t]
        sigma[t, 0] = p * xx + q * (xx * xx + xy * xy + xz * xz) + psi_J[t]
        sigma[t, 1] = p * yy + q * (xy * xy + yy * yy + yz * yz) + psi_J[t]
        sigma[t, 2] = p * zz + q * (xz * xz + yz * yz + zz * zz) + psi_J[t]
        sigma[t, 3] = p * yz + q * (xy * xz + yy * yz + yz * zz)
        sigma[t, 4] = p * xz + q * (xx * xz + xy * yz + xz * zz)
        sigma[t, 5] = p * xy + q * (xx * xy + xy * yy + xz * yz)


@njit(cache=True, nogil=True)
def _equivalent(sigma, equivalent):
    for t in range(len(sigma)):
        xx, yy, zz = sigma[t, 0], sigma[t, 1], sigma[t, 2]
        shear = sigma[t, 3] ** 2 + sigma[t, 4] ** 2 + sigma[t, 5] ** 2
        equivalent[t] = math.sqrt(0.5 * ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2) + 3 * shear)
