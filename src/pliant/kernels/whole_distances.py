"""How far forces would take bodies as wholes (solvers.contract.whole_bodies)."""

from __future__ import annotations

import math

import numpy as np

from pliant.lanes.entry import entry
from pliant.lanes.inner import inner

SIX = ((0, 1, 2), (1, 3, 4), (2, 4, 5))  # where the entries of a symmetric 3x3 matrix are in its six numbers


@entry(nogil=True, error_model="numpy")
def whole_distances(part, vertices, weights, forces, blocks, x, middle, balance, moments, thin, out):
    """(k,) [m] root mean square over each part of the rigid motion e of (M + K) e = f.

    part (n,): that of each vertex, -1 for none. Contacts: vertices and signed weights (c, 4), forces (c, 3) [N] and
    blocks (c, 6) [N/m] on a vertex of weight 1; their other sides are held. middle (k, 4): centres and inertia;
    balance (k, 6): force and torque without contacts, which are added; moments (k, 3, 3) of inertia, to which the part
    `thin` of their trace is added. 0 where numbers are not finite or a part has no moments.
    """
    count = len(middle)
    stiffness = np.zeros((count, 6, 6))
    for k in range(count):
        trace = thin * (moments[k, 0, 0] + moments[k, 1, 1] + moments[k, 2, 2])
        for a in range(3):
            stiffness[k, a, a] = middle[k, 3]
            for b in range(3):
                stiffness[k, 3 + a, 3 + b] = moments[k, a, b] + (trace if a == b else 0.0)
    inertia = stiffness.copy()
    for c in range(len(vertices)):
        add_side(c, part[vertices[c, 0]], part, vertices, weights, forces, blocks, x, middle, balance, stiffness)
        if part[vertices[c, 3]] != part[vertices[c, 0]]:
            add_side(c, part[vertices[c, 3]], part, vertices, weights, forces, blocks, x, middle, balance, stiffness)
    e = np.empty(6)
    for k in range(count):
        out[k] = 0.0
        if moments[k, 0, 0] + moments[k, 1, 1] + moments[k, 2, 2] > 0.0 and solve_six(stiffness[k], balance[k], e):
            square = 0.0
            for a in range(6):
                for b in range(6):
                    square += e[a] * inertia[k, a, b] * e[b]
            out[k] = math.sqrt(square / middle[k, 3])


@inner(error_model="numpy")
def add_side(c, k, part, vertices, weights, forces, blocks, x, middle, balance, stiffness):
    """Add force, torque and stiffness of contact c to part k, by its vertices there."""
    if k < 0:
        return
    total, r0, r1, r2 = 0.0, 0.0, 0.0, 0.0
    for i in range(4):
        v = vertices[c, i]
        if part[v] == k:
            w = weights[c, i]
            total += w
            r0 += w * (x[v, 0] - middle[k, 0])
            r1 += w * (x[v, 1] - middle[k, 1])
            r2 += w * (x[v, 2] - middle[k, 2])
    f0, f1, f2 = forces[c, 0], forces[c, 1], forces[c, 2]
    balance[k, 0] += total * f0
    balance[k, 1] += total * f1
    balance[k, 2] += total * f2
    balance[k, 3] += r1 * f2 - r2 * f1
    balance[k, 4] += r2 * f0 - r0 * f2
    balance[k, 5] += r0 * f1 - r1 * f0
    turn = ((0.0, r2, -r1), (-r2, 0.0, r0), (r1, -r0, 0.0))
    for a in range(3):
        for b in range(3):
            stiffness[k, a, b] += total * total * blocks[c, SIX[a][b]]
            for d in range(3):
                crossed = total * blocks[c, SIX[a][d]] * turn[d][b]
                stiffness[k, a, 3 + b] += crossed
                stiffness[k, 3 + b, a] += crossed
                for g in range(3):
                    stiffness[k, 3 + a, 3 + b] += turn[d][a] * blocks[c, SIX[d][g]] * turn[g][b]


@inner(error_model="numpy")
def solve_six(A, b, e):
    """e = A^-1 b of a positive definite matrix (6, 6), which is overwritten; whether there is one."""
    for i in range(6):
        for j in range(i + 1):
            value = A[i, j]
            for k in range(j):
                value -= A[i, k] * A[j, k]
            if i > j:
                A[i, j] = value / A[j, j]
            elif value > 0.0 and value < math.inf:
                A[i, i] = math.sqrt(value)
            else:
                return False
    for i in range(6):
        e[i] = b[i]
        for k in range(i):
            e[i] -= A[i, k] * e[k]
        e[i] /= A[i, i]
    for i in range(5, -1, -1):
        for k in range(i + 1, 6):
            e[i] -= A[k, i] * e[k]
        e[i] /= A[i, i]
    return math.isfinite(e[0] + e[1] + e[2] + e[3] + e[4] + e[5])
