"""What an element is, in one object: lists, kernels, reference, constraint rows, matrices and tests follow from it.

An element has `corners` vertices and numbers of its own, which are fields of its block (elements.block).  Its energy is
given in one of two ways, or in both:

    measure   a scalar C of its corners with energy k/2 C^2.  Alone it is enough: vertex block descent then solves with
              the block k dC dC^T (Gauss-Newton), Newton's method with exact derivatives, XPBD and GPBD with C as their
              constraint.
    views     what each corner feels, written out: force and block.  Faster, and free to keep more of the Hessian.

Everything is a lane function (lanes.functions): it runs in lanes, on floats, on NumPy arrays and on numbers that carry
derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pliant.elements.block import Block
from pliant.lanes.functions import LaneFunction

Array = np.ndarray


@dataclass(frozen=True)
class View:
    """An element as some of its corners see it; they share a list in vertex block descent.

    orders: permutations of the corners, the vertex itself first, then the others as the functions take them.
    add(f, H, *others, *numbers): adds the force on the vertex [N] and its block [N/m]; others are relative to it.
    energy(*others, *numbers): E [J].
    Functions of damping take the others at the start of the step, relative to the vertex then, after the others.
    is_absolute: whether both take the position of the vertex itself, before the others.

    Numbers are those of the other corners, in their order, then those of the element.  In padding all positions are
    that of the vertex and all numbers zero; both functions must then add nothing.
    """

    orders: tuple[tuple[int, ...], ...]
    add: LaneFunction
    energy: LaneFunction
    is_absolute: bool = False


class ConstraintForm(NamedTuple):
    """A block as constraint solvers see it: scalars C with energy k/2 C^2."""

    measure: LaneFunction
    elements: Array  # (m, k)
    numbers: tuple[Array, ...]  # (m,) or (m, c): what the measure takes after the corners


@dataclass(frozen=True)
class Element:
    """One kind of element.

    measure(corners, *numbers): C, its derivatives at the corners and k.  Numbers are those of all corners, then those
        of the element; where all numbers are zero, k must be zero.
    """

    block: type[Block]
    name: str  # for messages
    corners: int
    numbers: tuple[str, ...] = ()  # fields of the block, (m,) or (m, c)
    corner_numbers: tuple[str, ...] = ()  # fields of the block, (m, corners) or (m, corners, c)
    measure: LaneFunction | None = None
    views: tuple[View, ...] = ()
    orders: tuple[tuple[tuple[int, ...], ...], ...] = ()  # of a measure alone: corners that see the same share a list
    has_law: bool = False  # whether views end with a law's parameters and functions
    diagonal: str = (
        ""  # the number that is a constant multiple of the identity in every corner's block, left out by `add`
    )
    curvature: LaneFunction | None = (
        None  # as measure: d2C at pairs of corners i <= j, nine numbers each (lanes.blocks)
    )
    blocks: LaneFunction | None = None  # of corners, those before (of damping) and numbers: d2E at such pairs [N/m]
    hessian: Callable[..., Array] | None = (
        None  # where neither is: exact, of corners (m, k, 3) and numbers: (m, 3 k, 3 k); None: forces differentiated
    )
    constraint_form: Callable[[Any, str], ConstraintForm] | None = None  # of a block, for a solver's name; may refuse
    laplacian: Callable[[Any], Array] | None = (
        None  # (m, k, k) constant stiffness [N/m]; None: the Hessian's at the start
    )
    projection: Callable[[Any], Array] | None = None  # (m, k, k) of projective dynamics [N/m]; None: it has none
    places: tuple[str, ...] = ()  # numbers that are points in space, (m, 3), and move with the origin
    changes: bool = False  # whether its numbers change from step to step (Block.over)
    path: str = "lists"  # which of vertex block descent's tables and loops it takes
    sees_previous: bool = False  # damping: functions take corners at the start of the step too (the block's `previous`)
    damping: Callable[[Any, float], Block] | None = None  # of a block and k_d [s], where no measure gives it

    @property
    def lists(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """Orders of the corners, list by list."""
        if self.views:
            return tuple(view.orders for view in self.views)
        return self.orders or tuple((_turned(self.corners, corner),) for corner in range(self.corners))

    def numbers_of(self, block: Any, part: slice = slice(None)) -> list[Array]:
        """Numbers of the elements, in the order of `numbers`."""
        return [getattr(block, name)[part] for name in self.numbers]

    def corner_numbers_of(self, block: Any, part: slice = slice(None)) -> list[Array]:
        """Numbers of the elements' corners, in the order of `corner_numbers`."""
        return [getattr(block, name)[part] for name in self.corner_numbers]

    def seen(self, k: int, order: tuple[int, ...]) -> tuple[int, ...]:
        """Whose corner numbers the functions of list k take, for one of its orders: corners in the order of arguments.

        A view takes those of the others.  The measure takes all, where a corner that shares a list plays the part of
        the list's first one.
        """
        if self.views:
            return order[1:]
        first = self.lists[k][0]
        return tuple(order[first.index(corner)] for corner in range(self.corners))


def _turned(corners: int, first: int) -> tuple[int, ...]:
    """Corners from one on, in their order."""
    return tuple((first + i) % corners for i in range(corners))


def as_arguments(values: Array) -> Any:
    """Numbers (m,) as they are, (m, c) as a tuple of c: how a lane function takes them."""
    return values if values.ndim == 1 else tuple(values[:, i] for i in range(values.shape[1]))


def vectors(points: Array) -> tuple[Array, Array, Array]:
    """Vectors (m, 3) as three arrays."""
    return points[:, 0], points[:, 1], points[:, 2]
