"""What the material feels in each tet: stored energy and stress, for pictures and result files.

    sigma = P F^T / J = (2 psi_I B + 4 psi_II B^2) / J + psi_J 1,    B = F F^T
    von Mises: sqrt(3/2 s : s),  s = sigma - tr(sigma) / 3 1

The derivatives of psi are the ones generated from the law; the tensors are formed in compiled loops, because results
are written while the simulation runs.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pliant.materials.calculus import law_code
from pliant.model import Solids


def cauchy_stress(solids: Solids, x: np.ndarray) -> np.ndarray:
    """sigma (m, 6) [Pa] at positions x (n, 3) [m], as xx, yy, zz, yz, xz, xy; not finite where a tet is flat."""
    B, invariants = _strains_of(solids, x)
    psi_I, psi_II, psi_J = _first_derivatives(solids, invariants)
    sigma = np.empty_like(B)
    _form_stress(B, invariants[2], psi_I, psi_II, psi_J, sigma)
    return sigma


def densities_and_von_mises(solids: Solids, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """psi (m,) [J/m^3], infinite where a law with a barrier meets an inverted tet, and von Mises stress (m,) [Pa]."""
    B, invariants = _strains_of(solids, x)
    code = law_code(solids.law)
    with np.errstate(invalid="ignore", divide="ignore"):
        psi = np.broadcast_to(code.functions.density(*invariants, *solids.parameters.T), len(B))
    if code.has_barrier:
        psi = np.where(invariants[2] > 0, psi, np.inf)
    psi_I, psi_II, _ = _first_derivatives(solids, invariants)
    equivalent = np.empty(len(B))
    _form_von_mises(B, invariants[2], psi_I, psi_II, equivalent)
    return psi, equivalent


def _strains_of(solids: Solids, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """B = F F^T (m, 6) in the order of stresses, and I, II, J (3, m)."""
    B, invariants = np.empty((len(solids.tets), 6)), np.empty((3, len(solids.tets)))
    _strains(x, solids.tets, solids.gradients, B, invariants)
    return B, invariants


def _first_derivatives(solids: Solids, invariants: np.ndarray) -> list[np.ndarray]:
    """psi_I, psi_II, psi_J (m,) [Pa]."""
    with np.errstate(invalid="ignore", divide="ignore"):
        first, _ = law_code(solids.law).functions.derivatives(*invariants, *solids.parameters.T)
    m = invariants.shape[1]
    return [np.zeros(m) if d is None else np.array(np.broadcast_to(d, m)) for d in first]


@njit(cache=True, nogil=True)
def _strains(x, tets, gradients, B, invariants):
    """From differences, so that nothing cancels far from the origin."""
    for t in range(len(tets)):
        i, j, k, l = tets[t, 0], tets[t, 1], tets[t, 2], tets[t, 3]
        ax, ay, az = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        bx, by, bz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
        cx, cy, cz = x[l, 0] - x[i, 0], x[l, 1] - x[i, 1], x[l, 2] - x[i, 2]
        g = gradients[t]
        a0, a1, a2 = g[1, 0], g[1, 1], g[1, 2]
        b0, b1, b2 = g[2, 0], g[2, 1], g[2, 2]
        c0, c1, c2 = g[3, 0], g[3, 1], g[3, 2]
        x0, x1, x2 = ax * a0 + bx * b0 + cx * c0, ax * a1 + bx * b1 + cx * c1, ax * a2 + bx * b2 + cx * c2
        y0, y1, y2 = ay * a0 + by * b0 + cy * c0, ay * a1 + by * b1 + cy * c1, ay * a2 + by * b2 + cy * c2
        z0, z1, z2 = az * a0 + bz * b0 + cz * c0, az * a1 + bz * b1 + cz * c1, az * a2 + bz * b2 + cz * c2
        xx, yy, zz = x0 * x0 + x1 * x1 + x2 * x2, y0 * y0 + y1 * y1 + y2 * y2, z0 * z0 + z1 * z1 + z2 * z2
        yz, xz, xy = y0 * z0 + y1 * z1 + y2 * z2, x0 * z0 + x1 * z1 + x2 * z2, x0 * y0 + x1 * y1 + x2 * y2
        B[t, 0], B[t, 1], B[t, 2], B[t, 3], B[t, 4], B[t, 5] = xx, yy, zz, yz, xz, xy
        invariants[0, t] = xx + yy + zz
        invariants[1, t] = xx * xx + yy * yy + zz * zz + 2 * (yz * yz + xz * xz + xy * xy)
        invariants[2, t] = x0 * (y1 * z2 - y2 * z1) - x1 * (y0 * z2 - y2 * z0) + x2 * (y0 * z1 - y1 * z0)


@njit(cache=True, nogil=True, error_model="numpy")
def _form_stress(B, J, psi_I, psi_II, psi_J, sigma):
    for t in range(len(B)):
        own, share = _isochoric(B, t, 2 * psi_I[t] / J[t], 4 * psi_II[t] / J[t]), psi_J[t]
        sigma[t, 0], sigma[t, 1], sigma[t, 2] = own[0] + share, own[1] + share, own[2] + share
        sigma[t, 3], sigma[t, 4], sigma[t, 5] = own[3], own[4], own[5]


@njit(cache=True, nogil=True, error_model="numpy")
def _form_von_mises(B, J, psi_I, psi_II, equivalent):
    """The pressure-like psi_J has no share in it."""
    for t in range(len(B)):
        xx, yy, zz, yz, xz, xy = _isochoric(B, t, 2 * psi_I[t] / J[t], 4 * psi_II[t] / J[t])
        shear = yz * yz + xz * xz + xy * xy
        equivalent[t] = math.sqrt(0.5 * ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2) + 3 * shear)


@njit(inline="always")
def _isochoric(B, t, p, q):
    """p B + q B^2 of tet t."""
    xx, yy, zz, yz, xz, xy = B[t, 0], B[t, 1], B[t, 2], B[t, 3], B[t, 4], B[t, 5]
    return (
        p * xx + q * (xx * xx + xy * xy + xz * xz),
        p * yy + q * (xy * xy + yy * yy + yz * yz),
        p * zz + q * (xz * xz + yz * yz + zz * zz),
        p * yz + q * (xy * xz + yy * yz + yz * zz),
        p * xz + q * (xx * xz + xy * yz + xz * zz),
        p * xy + q * (xx * xy + xy * yy + xz * yz),
    )
