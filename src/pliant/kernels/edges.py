"""Quadratic energy on edges: the part mu/2 |F|^2 of a law is a constant graph Laplacian, one weight an edge.

    E = -1/2 sum_edges w_ij |x_i - x_j|^2,   w_ij = sum_tets V mu b_i . b_j

Seen from vertex i its Hessian is the constant -sum_j w_ij, kept a vertex as `diagonal`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.lanes import gather3, load, width_of
from pliant.lanes.vectors import add_scaled, dot, physics, subtract

OTHER_END = np.array([[1], [0]])


@physics
def add_edges(p, x, xi, f, edges):
    """Add the force on the vertices of pack p. Differences, not positions: nothing cancels far from the origin."""
    width = width_of(xi[0])
    for k in range(edges.start[p], edges.start[p + 1]):
        xj = gather3(x, edges.others, k * width, xi[0])
        f = add_scaled(f, load(edges.constants, k * width, xi[0]), subtract(xi, xj))
    return f


@physics
def edge_energy(p, x, xi, energy, edges):
    """Add the energy of the edges at the vertices of pack p, were they at xi."""
    width = width_of(xi[0])
    for k in range(edges.start[p], edges.start[p + 1]):
        d = subtract(xi, gather3(x, edges.others, k * width, xi[0]))
        energy = energy - 0.5 * load(edges.constants, k * width, xi[0]) * dot(d, d)
    return energy


def edge_weights(tets, gradients, weights, indptr, indices):
    """Edges (e, 2) and their weights (e,) from tets (m, 4), shape-function gradients (m, 4, 3), V mu (m,) and the
    sorted neighbour lists of the vertices."""
    values = _sum_pairs(tets, gradients, weights, indptr, indices)
    owners = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    once = owners < indices
    return np.stack([owners[once], indices[once]], 1), values[once]


@njit(cache=True)
def _sum_pairs(tets, gradients, weights, indptr, indices):
    """Weight of every neighbour pair i < j, at j's place in the list of i."""
    values = np.zeros(len(indices))
    for t in range(tets.shape[0]):
        for a in range(4):
            for b in range(4):
                i, j = tets[t, a], tets[t, b]
                if i >= j:
                    continue
                low, high = indptr[i], indptr[i + 1] - 1
                while low < high:
                    middle = (low + high) // 2
                    if indices[middle] < j:
                        low = middle + 1
                    else:
                        high = middle
                g, k = gradients[t, a], gradients[t, b]
                values[low] += weights[t] * (g[0] * k[0] + g[1] * k[1] + g[2] * k[2])
    return values
