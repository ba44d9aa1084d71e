"""Triangles of yarn cloth in vertex block descent: one list of corners, one of wings.

An entry has the five other vertices in the order of elements.yarn_strains, turned so that the vertex itself is corner
0 or the wing opposite to corner 0, and eight numbers: b_1, b_2, A and where there are wings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.elements.yarn_views import add_yarn_corner, add_yarn_wing, yarn_energy
from pliant.kernels.lists import Incidences, list_constant, other
from pliant.kernels.term_source import TermSource, import_lines
from pliant.lanes import number
from pliant.lanes.vectors import physics

NUMBERS = 8


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


@physics
def yarn_at_corner(x, xi, lists, k):
    """Corners relative to the vertex itself, corner 0, and the numbers of entry k."""
    zero = number(0.0, xi[0])
    corners = (
        (zero, zero, zero),
        other(x, xi, lists, k, 0, 5),
        other(x, xi, lists, k, 1, 5),
        other(x, xi, lists, k, 2, 5),
        other(x, xi, lists, k, 3, 5),
        other(x, xi, lists, k, 4, 5),
    )
    return corners, _numbers(lists, k, zero)


@physics
def yarn_at_wing(x, xi, lists, k):
    """The same for the wing opposite to corner 0."""
    zero = number(0.0, xi[0])
    corners = (
        other(x, xi, lists, k, 0, 5),
        other(x, xi, lists, k, 1, 5),
        other(x, xi, lists, k, 2, 5),
        (zero, zero, zero),
        other(x, xi, lists, k, 3, 5),
        other(x, xi, lists, k, 4, 5),
    )
    return corners, _numbers(lists, k, zero)


@physics
def _numbers(lists, k, like):
    return (
        (list_constant(lists, k, 0, NUMBERS, like), list_constant(lists, k, 1, NUMBERS, like)),
        (list_constant(lists, k, 2, NUMBERS, like), list_constant(lists, k, 3, NUMBERS, like)),
        list_constant(lists, k, 4, NUMBERS, like),
        (
            list_constant(lists, k, 5, NUMBERS, like),
            list_constant(lists, k, 6, NUMBERS, like),
            list_constant(lists, k, 7, NUMBERS, like),
        ),
    )


def _loop(which: int, at: str, line: str) -> tuple[str, ...]:
    return (
        f"for k in range(list{which}_K.start[p], list{which}_K.start[p + 1]):",
        f"    c_K, (b1_K, b2_K, area_K, present_K) = {at}(x, xi, list{which}_K, k)",
        f"    {line}",
    )


_ARGUMENTS = "c_K, b1_K, b2_K, area_K, present_K, table_K"

#: Where all vertices are summed, a triangle's energy is that of its corners; alone, a wing has the whole of it too.
YARN_SOURCE = TermSource(
    name="yarn cloth",
    imports=import_lines(add_yarn_corner, add_yarn_wing, yarn_at_corner, yarn_at_wing, yarn_energy),
    tables=("list0_K", "list1_K", "table_K"),
    force=(
        *_loop(0, "yarn_at_corner", f"f, H = add_yarn_corner(f, H, {_ARGUMENTS})"),
        *_loop(1, "yarn_at_wing", f"f, H = add_yarn_wing(f, H, {_ARGUMENTS})"),
    ),
    energy=(
        *_loop(0, "yarn_at_corner", f"energy = energy + SHARE_OF_3 * yarn_energy({_ARGUMENTS})"),
        *_loop(1, "yarn_at_wing", f"energy = energy + (2.0 * SHARE_OF_2 - 1.0) * yarn_energy({_ARGUMENTS})"),
    ),
)
