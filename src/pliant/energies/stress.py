"""What the material feels in each tet: stored energy and stress, for pictures and result files.

    sigma = P F^T / J = (2 psi_I B + 4 psi_II B^2) / J + psi_J 1,    B = F F^T
    von Mises: sqrt(3/2 s : s),  s = sigma - tr(sigma) / 3 1 = p b + q c,  p = 2 psi_I / J,  q = 4 psi_II / J,
    b and c the deviators of B and B^2; so it needs no more of a tet than p, q and the products b : b, b : c, c : c.

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
    m = len(solids.tets)
    code = law_code(solids.law)
    products = 3 if _depends_on_second(solids) else 1
    invariants, shears = np.empty((3, m)), np.zeros((products, m))
    _invariants_and_shears(x, solids.tets, solids.gradients, invariants, shears)
    with np.errstate(invalid="ignore", divide="ignore"):
        psi = np.broadcast_to(code.functions.density(*invariants, *solids.parameters.T), m)
    if code.has_barrier:
        psi = np.where(invariants[2] > 0, psi, np.inf)
    psi_I, psi_II, _ = _first_derivatives(solids, invariants)
    equivalent = np.empty(m)
    _form_von_mises(shears, invariants[2], psi_I, psi_II, equivalent)
    return psi, equivalent


def _strains_of(solids: Solids, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """B = F F^T (m, 6) in the order of stresses, and I, II, J (3, m)."""
    B, invariants = np.empty((len(solids.tets), 6)), np.empty((3, len(solids.tets)))
    _strains(x, solids.tets, solids.gradients, B, invariants)
    return B, invariants


def _depends_on_second(solids: Solids) -> bool:
    """Whether the law has a derivative by II."""
    first, _ = law_code(solids.law).functions.derivatives(3.0, 3.0, 1.0, *solids.parameters[:1].T)
    return first[1] is not None


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
        B[t, 0], B[t, 1], B[t, 2], B[t, 3], B[t, 4], B[t, 5], invariants[2, t] = _strain(x, tets, gradients, t)
        invariants[0, t], invariants[1, t] = _first_two(B[t, 0], B[t, 1], B[t, 2], B[t, 3], B[t, 4], B[t, 5])


@njit(cache=True, nogil=True)
def _invariants_and_shears(x, tets, gradients, invariants, shears):
    """I, II, J (3, m), and of the deviators b of B, c of B^2 the products b : b, b : c, c : c (3, m) or the first."""
    for t in range(len(tets)):
        xx, yy, zz, yz, xz, xy, invariants[2, t] = _strain(x, tets, gradients, t)
        invariants[0, t], invariants[1, t] = _first_two(xx, yy, zz, yz, xz, xy)
        third = (xx + yy + zz) / 3
        shears[0, t] = (xx - third) ** 2 + (yy - third) ** 2 + (zz - third) ** 2
        shears[0, t] += 2 * (yz * yz + xz * xz + xy * xy)
        if len(shears) == 1:
            continue
        # B^2
        uu, vv, ww = xx * xx + xy * xy + xz * xz, xy * xy + yy * yy + yz * yz, xz * xz + yz * yz + zz * zz
        vw, uw, uv = xy * xz + yy * yz + yz * zz, xx * xz + xy * yz + xz * zz, xx * xy + xy * yy + xz * yz
        square_third = (uu + vv + ww) / 3
        xx, yy, zz = xx - third, yy - third, zz - third
        uu, vv, ww = uu - square_third, vv - square_third, ww - square_third
        shears[1, t] = xx * uu + yy * vv + zz * ww + 2 * (yz * vw + xz * uw + xy * uv)
        shears[2, t] = uu * uu + vv * vv + ww * ww + 2 * (vw * vw + uw * uw + uv * uv)


@njit(inline="always")
def _first_two(xx, yy, zz, yz, xz, xy):
    """I and II from B."""
    return xx + yy + zz, xx * xx + yy * yy + zz * zz + 2 * (yz * yz + xz * xz + xy * xy)


@njit(inline="always")
def _strain(x, tets, gradients, t):
    """xx, yy, zz, yz, xz, xy of B, and J, of tet t."""
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
    J = x0 * (y1 * z2 - y2 * z1) - x1 * (y0 * z2 - y2 * z0) + x2 * (y0 * z1 - y1 * z0)
    return xx, yy, zz, yz, xz, xy, J


@njit(cache=True, nogil=True, error_model="numpy")
def _form_stress(B, J, psi_I, psi_II, psi_J, sigma):
    for t in range(len(B)):
        own, share = _isochoric(B, t, 2 * psi_I[t] / J[t], 4 * psi_II[t] / J[t]), psi_J[t]
        sigma[t, 0], sigma[t, 1], sigma[t, 2] = own[0] + share, own[1] + share, own[2] + share
        sigma[t, 3], sigma[t, 4], sigma[t, 5] = own[3], own[4], own[5]


@njit(cache=True, nogil=True, error_model="numpy")
def _form_von_mises(shears, J, psi_I, psi_II, equivalent):
    """The pressure-like psi_J has no share in it."""
    for t in range(len(J)):
        p, q = 2 * psi_I[t] / J[t], 4 * psi_II[t] / J[t]
        square = p * p * shears[0, t]
        if len(shears) > 1:
            square += 2 * p * q * shears[1, t] + q * q * shears[2, t]
        equivalent[t] = math.sqrt(0.0 if square < 0.0 else 1.5 * square)  # not a number stays so


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
