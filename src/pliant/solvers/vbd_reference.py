"""Vertex block descent in plain NumPy, one vertex at a time, tagged with the paper's equations. Slow: the fast one
must equal it.
"""

from __future__ import annotations

import numpy as np

from pliant.energies import IncrementalPotential


def vbd_sweep(problem: IncrementalPotential, x: np.ndarray, colours: np.ndarray, psd: bool = False) -> np.ndarray:
    """One iteration of Algorithm 1 (lines 6 to 26) from x (n, 3); colours (n,) give the order. Returns the new
    positions.
    """
    x = x.copy()
    problem.update_internal_state(x)
    problem.refresh_contacts(x)
    for colour in np.unique(colours):
        f = -problem.gradient(
            x
        )  # Equations 8 and 11, all vertices at once: those of one colour do not touch each other
        H = problem.vertex_blocks(x)  # Equations 9 and 10
        for i in np.flatnonzero((colours == colour) & problem.model.is_free).tolist():
            x[i] += local_step(problem, i, f[i], H[i], psd)  # Equation 5
    return x


def local_step(problem: IncrementalPotential, i: int, f: np.ndarray, H: np.ndarray, psd: bool) -> np.ndarray:
    """Equation 7 in the space vertex i moves in (Section 3.4): basis^T H basis s = basis^T f, dx = basis s."""
    if psd:
        m = problem.inertia[i]
        values, vectors = np.linalg.eigh(H - m * np.eye(3))
        H = m * np.eye(3) + vectors @ np.diag(np.maximum(values, 0)) @ vectors.T
    dimension, direction = problem.model.subspace[i], problem.model.directions[i]
    if dimension == 3:
        basis = np.eye(3)
    elif dimension == 1:
        basis = direction[:, None]
    else:
        basis = np.linalg.svd(direction[None])[2][1:].T
    return basis @ np.linalg.solve(basis.T @ H @ basis, basis.T @ f)


def chebyshev_factors(rho: float, n: int) -> list[float]:
    """omega_1 ... omega_n of Equation 19."""
    omegas = [1.0, 2 / (2 - rho**2)]
    while len(omegas) < n:
        omegas.append(4 / (4 - rho**2 * omegas[-1]))
    return omegas[:n]
