"""The energy of yarn cloth and its derivatives in double precision (see elements.yarn_strains).

    E = A psi(s),   dE/dx = A S^T psi',   d2E/dx2 = A (S^T psi'' S + sum_k psi'_k d2s_k/dx2),   S = ds/dx (6 x 18)

S is written out; the second derivatives of the strains are those of S by numbers that carry derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.elements.differentials import jacobian, variables
from pliant.elements.element import vectors
from pliant.elements.yarn_strains import yarn_strains
from pliant.elements.yarn_triangle import YarnTriangles
from pliant.elements.yarn_views import add_yarn_corner, add_yarn_wing, weighted
from pliant.energies.scatter import sum_at_vertices, sum_blocks_at_vertices

Array = np.ndarray
ALL = slice(None)


def energy(block: YarnTriangles, x: Array) -> float:
    """[J]."""
    return float(np.sum(energies(block, x)))


def energies(block: YarnTriangles, x: Array) -> Array:
    """(m,) [J] of each triangle."""
    s, _ = strains(block, x)
    return block.areas * block.material.energy_density(s)


def gradient(block: YarnTriangles, x: Array) -> Array:
    """dE/dx (n, 3) [N]."""
    s, S = strains(block, x)
    first, _ = block.material.derivatives(s)
    own = np.einsum("m,mk,mkia->mia", block.areas, first, S, optimize=True)
    return sum_at_vertices(block.elements, own, len(x))


def element_hessians(block: YarnTriangles, x: Array, part: slice = ALL) -> Array:
    """(m, 6, 3, 6, 3) [N/m], exact."""
    s, S = strains(block, x, part)
    first, second = block.material.derivatives(s)
    areas, m = block.areas[part], len(s)
    _, d = yarn_strains(variables(x[block.elements[part]]), *_numbers(block, part))
    held = tuple(first[:, k] for k in range(6))
    forces = [weighted(held, tuple(d[k][i] for k in range(6))) for i in range(6)]
    bent = jacobian([component for force in forces for component in force], m, 18)
    J = S.reshape(m, 6, 18)
    hessians = np.einsum("mki,mkl,mlj->mij", J, second, J, optimize=True) + bent
    return (areas[:, None, None] * hessians).reshape(m, 6, 3, 6, 3)


def vertex_blocks(block: YarnTriangles, x: Array) -> Array:
    """What vertex block descent solves with (n, 3, 3) [N/m]."""
    own = forces_and_blocks(block, x)[1]
    corners = sum_blocks_at_vertices(block.elements[:, :3], own[:, :3], len(x))
    values, vectors = np.linalg.eigh(corners)
    absolute = np.einsum("nik,nk,njk->nij", vectors, np.abs(values), vectors)
    return absolute + sum_blocks_at_vertices(block.elements[:, 3:], own[:, 3:], len(x))


def forces_and_blocks(block: YarnTriangles, x: Array) -> tuple[Array, Array]:
    """Forces (m, 6, 3) [N] on corners and wings, and their blocks (m, 6, 3, 3) [N/m]; those of corners may be
    indefinite.
    """
    m, corners = len(block.elements), _corners(x[block.elements])
    forces, blocks = np.zeros((m, 6, 3)), np.zeros((m, 6, 3, 3))
    none, table = ((0.0,) * 3, (0.0,) * 6), block.material.table()
    for k in range(3):
        turn = [k, (k + 1) % 3, (k + 2) % 3]
        seen = tuple(corners[i] for i in (*turn, *(3 + i for i in turn)))
        b = [as_pair(block.gradients[:, i]) for i in turn[1:]]
        numbers = (*b, block.areas, tuple(block.present[:, turn].T), table)
        for i, add in ((k, add_yarn_corner), (3 + k, add_yarn_wing)):
            f, H = add(*none, seen, *numbers)
            here = block.present[:, k] if i > 2 else np.ones(m)
            forces[:, i] = np.stack(f, axis=1) * here[:, None]
            full = np.stack([H[j] + np.zeros(m) for j in (0, 1, 2, 1, 3, 4, 2, 4, 5)], axis=1).reshape(m, 3, 3)
            blocks[:, i] = full * here[:, None, None]
    return forces, blocks


def strains(block: YarnTriangles, x: Array, part: slice = ALL) -> tuple[Array, Array]:
    """s (m, 6) and S (m, 6, 6, 3) [1/m]: of each strain by each corner and wing."""
    s, d = yarn_strains(_corners(x[block.elements[part]]), *_numbers(block, part))
    zero = np.zeros(len(block.elements[part]))
    S = np.stack([np.stack([np.stack([c + zero for c in at], axis=1) for at in own], axis=1) for own in d], axis=1)
    return np.stack(s, axis=1), S


def as_pair(values: Array) -> tuple[Array, Array]:
    """(m, 2) as two arrays."""
    return values[:, 0], values[:, 1]


def _numbers(block: YarnTriangles, part: slice) -> tuple[Any, ...]:
    b, present = block.gradients[part], block.present[part]
    return as_pair(b[:, 1]), as_pair(b[:, 2]), (present[:, 0], present[:, 1], present[:, 2])


def _corners(x: Array) -> tuple[tuple[Array, Array, Array], ...]:
    return tuple(vectors(x[:, i]) for i in range(x.shape[1]))
