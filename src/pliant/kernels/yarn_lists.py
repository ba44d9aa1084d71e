"""Triangles of yarn cloth in vertex block descent: one list of those around a vertex, each with the one across.

An entry has a triangle, turned so that the vertex itself is corner 0, and the triangle across the opposite edge, turned
so that the vertex is wing 0: seven other vertices, and fifteen numbers: of both b_1, b_2, A and where there are wings.
Where there is no triangle across, its numbers are zero.

Splines cost most.  A sweep evaluates them once per triangle, at the start of an iteration, and knows psi by its Taylor
polynomial of second order in the strains from then on (decision 0059); strains and their derivatives are always those
of now.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.elements.yarn_strains import yarn_strains
from pliant.elements.yarn_views import (
    add_known_around,
    add_yarn_corner,
    add_yarn_wing,
    of_wing,
    taylor,
    yarn_energy,
)
from pliant.kernels.lists import Incidences, list_constant, other, place_in_lists
from pliant.kernels.packs import Packs
from pliant.kernels.term_source import TermSource, import_lines
from pliant.lanes import absolute, count, gather3, number, rounding, width_of
from pliant.lanes.aligned import aligned, aligned_zeros
from pliant.lanes.rows import gather4_beyond, store4
from pliant.lanes.vectors import JACOBI_SWEEPS, add_square, jacobi_sweep, magnitude, physics, subtract

NUMBERS, AROUND, OTHERS = 8, 15, 7
KNOWN, WING = 32, 8  # of KNOWN 28 are used: with 32 a row lies in two cache lines


def yarn_incidences(block: Any) -> tuple[Incidences, Incidences]:
    """As corners and as wings see it."""
    corners, wings = [], []
    for k in range(3):
        turn = [k, (k + 1) % 3, (k + 2) % 3]
        around = block.elements[:, [*turn, *(3 + i for i in turn)]]
        present = block.present[:, turn]
        numbers = np.column_stack([block.gradients[:, turn[1]], block.gradients[:, turn[2]], block.areas, present])
        there = present[:, 0] > 0
        corners.append(Incidences(around[:, 0], around[:, 1:], numbers))
        wings.append(Incidences(around[there, 3], around[there][:, [0, 1, 2, 4, 5]], numbers[there]))
    return _joined(corners), _joined(wings)


def _joined(parts: list[Incidences]) -> Incidences:
    return Incidences(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def yarn_around(block: Any) -> tuple[Incidences, np.ndarray, np.ndarray]:
    """Triangles as corners see them, each with the one across; the numbers of both: 3 triangle + corner.

    Wings are mutual: a corner that has a triangle across is a wing of it.
    """
    corners, wings = yarn_incidences(block)
    m, n = len(block.elements), int(block.elements.max()) + 1
    triangle, turn = np.tile(np.arange(m), 3), np.repeat(np.arange(3), m)
    both = np.flatnonzero(block.present.T.ravel() > 0)  # also of the wings
    edges = corners.others[both, 0] * n + corners.others[both, 1]
    keys = wings.others[:, 2] * n + wings.others[:, 1]  # the neighbour has the edge the other way round
    order = np.argsort(keys, kind="stable")
    place = order[np.minimum(np.searchsorted(keys[order], edges), len(keys) - 1)]
    if not (np.array_equal(keys[place], edges) and np.array_equal(wings.owner[place], corners.owner[both])):
        raise ValueError("wings of yarn cloth are not neighbours of each other")
    others = np.column_stack([corners.others, corners.owner, corners.owner])
    numbers = np.column_stack([corners.constants, np.zeros((3 * m, AROUND - NUMBERS))])
    others[both, 5:] = wings.others[place, 3:]
    numbers[both, NUMBERS:] = wings.constants[place][:, [0, 1, 2, 3, 4, 6, 7]]
    across = np.zeros(3 * m, np.int64)
    across[both] = (3 * triangle + turn)[both[place]]
    return Incidences(corners.owner, others, numbers), 3 * triangle + turn, across


@physics
def yarn_at(x, xi, lists, k):
    """Of entry k the triangle's corners, relative to the vertex itself, and numbers; then those of the one across."""
    zero = number(0.0, xi[0])
    own = (zero, zero, zero)
    x1, x2 = other(x, xi, lists, k, 0, OTHERS), other(x, xi, lists, k, 1, OTHERS)
    w0, w1 = other(x, xi, lists, k, 2, OTHERS), other(x, xi, lists, k, 3, OTHERS)
    w2, v1 = other(x, xi, lists, k, 4, OTHERS), other(x, xi, lists, k, 5, OTHERS)
    v2 = other(x, xi, lists, k, 6, OTHERS)
    theirs = (
        (list_constant(lists, k, 8, AROUND, zero), list_constant(lists, k, 9, AROUND, zero)),
        (list_constant(lists, k, 10, AROUND, zero), list_constant(lists, k, 11, AROUND, zero)),
        list_constant(lists, k, 12, AROUND, zero),
        (
            number(1.0, zero),
            list_constant(lists, k, 13, AROUND, zero),
            list_constant(lists, k, 14, AROUND, zero),
        ),
    )
    return (own, x1, x2, w0, w1, w2), _numbers(lists, k, AROUND, zero), (w0, x2, x1, own, v1, v2), theirs


@physics
def _numbers(lists, k, count, like):
    """Of a triangle: the first ones of `count`."""
    return (
        (list_constant(lists, k, 0, count, like), list_constant(lists, k, 1, count, like)),
        (list_constant(lists, k, 2, count, like), list_constant(lists, k, 3, count, like)),
        list_constant(lists, k, 4, count, like),
        (
            list_constant(lists, k, 5, count, like),
            list_constant(lists, k, 6, count, like),
            list_constant(lists, k, 7, count, like),
        ),
    )


class YarnTriangleLists(NamedTuple):
    """Triangles in packs of lanes, and which of them each entry of the lists of corners and of wings is."""

    corners: np.ndarray  # flat (packs, 6, width) rows of corners and wings
    constants: np.ndarray  # flat (packs, NUMBERS, width)
    at_corners: np.ndarray  # flat (entries, width) where `known` has the triangles of the list
    at_wings: np.ndarray  # flat (entries, width) where `wings` has those across
    known: np.ndarray  # flat (triangles, KNOWN): psi' - psi'' s, psi'', one number to fill a row of four
    wings: np.ndarray  # flat (triangles, 3, WING): of_wing, one number to fill a row of four


def triangle_lists(block: Any, around: Any, packs: Packs, dtype: Any) -> YarnTriangleLists:
    """Room for what is known of triangles, in the order of the block; around: yarn_around of it."""
    m, width = len(block.elements), packs.width
    count = -(-m // width)
    rows = count * width
    chosen = np.minimum(np.arange(rows), m - 1).reshape(count, width)
    numbers = np.column_stack([block.gradients[:, 1], block.gradients[:, 2], block.areas, block.present])
    corners = packs.row_of_vertex[block.elements][chosen].swapaxes(1, 2)
    constants = numbers[chosen].swapaxes(1, 2)
    incidences, own, across = around
    return YarnTriangleLists(
        aligned(corners, np.uint32),
        aligned(constants, dtype),
        _numbers_of_entries(packs, incidences.owner, KNOWN * (own // 3)),
        _numbers_of_entries(packs, incidences.owner, WING * across),
        aligned_zeros(rows * KNOWN, dtype),
        aligned_zeros(rows * 3 * WING, dtype),
    )


def _numbers_of_entries(packs: Packs, owner: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Numbers (i,) of incidences in the places that build_lists gives them; zero in padding."""
    start, entry, lane = place_in_lists(packs, owner)
    placed = np.zeros((start[-1], packs.width))
    placed[entry, lane] = numbers
    return aligned(placed, np.uint32)


@physics
def measure_yarn(x, t, triangles, table, like):
    """Evaluate splines of the triangles of pack t, and keep what corners and wings need of them."""
    width = width_of(like)
    base = gather3(x, triangles.corners, t * 6 * width, like)
    zero = number(0.0, like)
    corners = (
        (zero, zero, zero),
        subtract(gather3(x, triangles.corners, (t * 6 + 1) * width, like), base),
        subtract(gather3(x, triangles.corners, (t * 6 + 2) * width, like), base),
        subtract(gather3(x, triangles.corners, (t * 6 + 3) * width, like), base),
        subtract(gather3(x, triangles.corners, (t * 6 + 4) * width, like), base),
        subtract(gather3(x, triangles.corners, (t * 6 + 5) * width, like), base),
    )
    b1, b2, _, present = _numbers(triangles, t, NUMBERS, like)
    s, _ = yarn_strains(corners, b1, b2, present)
    r, h = taylor(table, s)
    k, first = triangles.known, KNOWN * t * width
    store4(k, first, KNOWN, r[0], r[1], r[2], r[3])
    store4(k, first + 4, KNOWN, r[4], r[5], h[0], h[1])
    store4(k, first + 8, KNOWN, h[2], h[3], h[4], h[5])
    store4(k, first + 12, KNOWN, h[6], h[7], h[8], h[9])
    store4(k, first + 16, KNOWN, h[10], h[11], h[12], h[13])
    store4(k, first + 20, KNOWN, h[14], h[15], h[16], h[17])
    store4(k, first + 24, KNOWN, h[18], h[19], h[20], zero)
    b0, first = (-(b1[0] + b2[0]), -(b1[1] + b2[1])), 3 * WING * t * width
    store_wing(triangles.wings, first, of_wing(b0, b1, b2, r, h))
    store_wing(triangles.wings, first + WING, of_wing(b1, b2, b0, r, h))
    store_wing(triangles.wings, first + 2 * WING, of_wing(b2, b0, b1, r, h))


@physics
def store_wing(wings, first, known):
    w, slope = known
    store4(wings, first, 3 * WING, w[0], w[1], w[2], w[3])
    store4(wings, first + 4, 3 * WING, w[4], w[5], slope, slope)


@physics
def known_at_corner(triangles, k, like):
    """What add_known_corner needs of the triangles of entry k."""
    kept, places, at = triangles.known, triangles.at_corners, k * width_of(like)
    a, b = gather4_beyond(kept, places, at, 0, like), gather4_beyond(kept, places, at, 4, like)
    c, d = gather4_beyond(kept, places, at, 8, like), gather4_beyond(kept, places, at, 12, like)
    e, f = gather4_beyond(kept, places, at, 16, like), gather4_beyond(kept, places, at, 20, like)
    g = gather4_beyond(kept, places, at, 24, like)
    return a + b[:2], b[2:] + c + d + e + f + g[:3]


@physics
def known_at_wing(triangles, k, like):
    """What add_known_wing needs of the triangles across of entry k."""
    kept, places, at = triangles.wings, triangles.at_wings, k * width_of(like)
    a, b = gather4_beyond(kept, places, at, 0, like), gather4_beyond(kept, places, at, 4, like)
    return a + b[:2], b[2]


@physics
def absolute_block(H):
    """absolute_matrix, which is H itself where all its leading minors are positive; rotations end when all lanes are
    diagonal.
    """
    zero = number(0.0, H[0])
    minor = H[0] * H[3] - H[1] * H[1]
    first = H[3] * H[5] - H[4] * H[4]
    det = H[0] * first - H[1] * (H[1] * H[5] - H[2] * H[4]) + H[2] * (H[1] * H[4] - H[2] * H[3])
    fine = ((H[0] > zero) & (minor > zero) & (det > zero)) | (magnitude(H) == zero)
    if count(fine) == width_of(zero):
        return H
    one = number(1.0, zero)
    V = ((one, zero, zero), (zero, one, zero), (zero, zero, one))
    for _ in range(JACOBI_SWEEPS):
        H, V = jacobi_sweep(H, V)
        beside = absolute(H[1]) + absolute(H[2]) + absolute(H[4])
        if count(beside <= rounding(zero) * magnitude(H)) == width_of(zero):
            break
    P = (zero, zero, zero, zero, zero, zero)
    P = add_square(P, absolute(H[0]), V[0])
    P = add_square(P, absolute(H[3]), V[1])
    return add_square(P, absolute(H[5]), V[2])


def _loop(*lines: str) -> tuple[str, ...]:
    return (
        "for k in range(list_K.start[p], list_K.start[p + 1]):",
        "    c_K, own_K, a_K, theirs_K = yarn_at(x, xi, list_K, k)",
        "    b1_K, b2_K, area_K, present_K = own_K",
        "    e1_K, e2_K, size_K, there_K = theirs_K",
        *(f"    {line}" for line in lines),
    )


_OWN, _THEIRS = "c_K, b1_K, b2_K, area_K, present_K, table_K", "a_K, e1_K, e2_K, size_K, there_K, table_K"
_PROJECTED = "H = add_symmetric(H, number(1.0, z), absolute_block(Y_K))"

#: Where all vertices are summed, a triangle's energy is that of its corners; alone, a wing has the whole of it too.
YARN_SOURCE = TermSource(
    name="yarn cloth",
    imports=import_lines(
        add_yarn_corner, add_yarn_wing, add_known_around, yarn_at, yarn_energy, measure_yarn, known_at_corner,
        known_at_wing, absolute_block,
    ),
    tables=("list_K", "triangles_K", "table_K"),
    force=(
        "Y_K = (z, z, z, z, z, z)",
        *_loop(f"f, Y_K = add_yarn_corner(f, Y_K, {_OWN})", f"f, H = add_yarn_wing(f, H, {_THEIRS})"),
        _PROJECTED,
    ),
    swept=(
        "Y_K = (z, z, z, z, z, z)",
        *_loop(
            "known_K, wing_K = known_at_corner(triangles_K, k, z), known_at_wing(triangles_K, k, z)",
            "f, Y_K, H = add_known_around(f, Y_K, H, c_K, own_K, a_K, theirs_K, known_K, wing_K)",
        ),
        _PROJECTED,
    ),
    iteration=(
        f"first_K, last_K = share(0, len(triangles_K.known) // ({KNOWN} * WIDTH), thread, threads)",
        "for t in range(first_K, last_K):",
        "    measure_yarn(x, t, triangles_K, table_K, zero())",
    ),
    energy=_loop(
        f"energy = energy + SHARE_OF_3 * yarn_energy({_OWN})",
        f"energy = energy + (2.0 * SHARE_OF_2 - 1.0) * yarn_energy({_THEIRS})",
    ),
)  # fmt: skip
