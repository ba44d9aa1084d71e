"""Energies of elements and their derivatives in double precision, from their lane functions called with NumPy arrays.

Everywhere: x (n, 3) [m], a block, and which part of its elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from pliant.elements.differentials import jacobian, variables
from pliant.elements.element import Element, as_arguments, vectors
from pliant.elements.measure_rates import measured_change
from pliant.elements.measured import add_measured, measured_block, measured_energy
from pliant.lanes.vectors import subtract

Array = np.ndarray
ALL = slice(None)
NO_FORCE, NO_BLOCK = (0.0,) * 3, (0.0,) * 6


def energies(element: Element, block: Any, x: Array, part: slice = ALL) -> Array:
    """E (m,) [J]."""
    corners = x[block.elements[part]]
    if not element.views:
        return measured_energy(_measured(element, block, _by_corner(corners), part)) + np.zeros(len(corners))
    view = element.views[0]
    return view.energy(*_view_arguments(element, 0, view.orders[0], _by_corner(corners), block, part))


def gradients(element: Element, block: Any, x: Array, part: slice = ALL) -> Array:
    """dE/dx (m, k, 3) [N]."""
    return -_forces_and_blocks(element, block, x, part)[0]


def vertex_blocks(element: Element, block: Any, x: Array, part: slice = ALL) -> Array:
    """What each corner solves with in vertex block descent (m, k, 3, 3) [N/m]."""
    blocks = _forces_and_blocks(element, block, x, part)[1]
    if element.diagonal:
        blocks += getattr(block, element.diagonal)[part][:, None, None, None] * np.eye(3)
    return blocks


def hessians(element: Element, block: Any, x: Array, part: slice = ALL) -> Array:
    """d2E/dx2 (m, 3 k, 3 k) [N/m], exact: from the element's own functions, or its forces differentiated."""
    corners = x[block.elements[part]]
    if element.blocks is not None:
        before = [_by_corner(block.previous[part])] if element.sees_previous else []
        own = element.blocks(_by_corner(corners), *before, *measure_arguments(element, block, part))
        return _matrices(own, *corners.shape[:2])
    if element.curvature is not None:
        return _curved_hessians(element, block, corners, part)
    if element.hessian is None:
        return differentiated_hessians(element, block, x, part)
    before = [block.previous[part]] if element.sees_previous else []
    numbers = (*before, *element.corner_numbers_of(block, part), *element.numbers_of(block, part))
    return element.hessian(corners, *numbers)


def _curved_hessians(element: Element, block: Any, corners: Array, part: slice) -> Array:
    """k (dC dC^T + C d2C)."""
    assert element.curvature is not None
    points = _by_corner(corners)
    c, g, k = _measured(element, block, points, part)
    second = element.curvature(points, *curvature_arguments(element, measure_arguments(element, block, part)))
    pairs = combinations_with_replacement(range(element.corners), 2)
    own = [measured_block(c, k, g[i], g[j], second[number]) for number, (i, j) in enumerate(pairs)]
    return _matrices(own, *corners.shape[:2])


def curvature_arguments(element: Element, arguments: Sequence[Any]) -> Sequence[Any]:
    """What `curvature` takes after the corners, of what a measure takes: damping has a rate beside these."""
    return arguments[0] if element.sees_previous else arguments


def _matrices(blocks: Sequence[Any], m: int, k: int) -> Array:
    """(m, 3 k, 3 k) of blocks of pairs of corners i <= j."""
    H = np.zeros((m, k, 3, k, 3))
    for (i, j), block in zip(combinations_with_replacement(range(k), 2), blocks, strict=True):
        for a in range(3):
            for b in range(3):
                H[:, i, a, j, b] = H[:, j, b, i, a] = block[3 * a + b]
    return H.reshape(m, 3 * k, 3 * k)


def differentiated_hessians(element: Element, block: Any, x: Array, part: slice = ALL) -> Array:
    """d2E/dx2 (m, 3 k, 3 k) [N/m]: the derivatives of what the lane functions give as forces."""
    corners = variables(x[block.elements[part]])
    m, rows = len(block.elements[part]), [(0.0, 0.0, 0.0)] * element.corners
    for corner, (force, _) in _seen_by_corners(element, block, corners, part).items():
        rows[corner] = force
    return -jacobian([component for row in rows for component in row], m, 3 * element.corners)


def measure_arguments(element: Element, block: Any, part: slice = ALL) -> list[Any]:
    """What a measure takes after the corners."""
    of_corners = [
        as_arguments(values[:, corner])
        for values in element.corner_numbers_of(block, part)
        for corner in range(element.corners)
    ]
    return of_corners + [as_arguments(values) for values in element.numbers_of(block, part)]


def _forces_and_blocks(element: Element, block: Any, x: Array, part: slice) -> tuple[Array, Array]:
    """(m, k, 3) and (m, k, 3, 3)."""
    corners = _by_corner(x[block.elements[part]])
    m, k = len(block.elements[part]), element.corners
    forces, blocks = np.zeros((m, k, 3)), np.zeros((m, k, 3, 3))
    for corner, (f, H) in _seen_by_corners(element, block, corners, part).items():
        for a in range(3):
            forces[:, corner, a] = f[a]
        for number, (a, b) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
            blocks[:, corner, a, b] = blocks[:, corner, b, a] = H[number]
    return forces, blocks


def _seen_by_corners(element: Element, block: Any, corners: tuple, part: slice) -> dict[int, tuple[Any, Any]]:
    """Force and block of each corner, as tuples of three and six."""
    if not element.views:
        c, gradients, k = _measured(element, block, corners, part)
        return {i: add_measured(NO_FORCE, NO_BLOCK, c, g, k) for i, g in enumerate(gradients)}
    return {
        order[0]: view.add(NO_FORCE, NO_BLOCK, *_view_arguments(element, number, order, corners, block, part))
        for number, view in enumerate(element.views)
        for order in view.orders
    }


def _measured(element: Element, block: Any, corners: tuple, part: slice) -> tuple[Any, Any, Any]:
    """C, its derivatives at the corners and k; of damping the change of C."""
    assert element.measure is not None
    arguments = measure_arguments(element, block, part)
    if not element.sees_previous:
        return element.measure(corners, *arguments)
    return measured_change(element.measure, corners, _by_corner(block.previous[part]), *arguments)


def _by_corner(corners: Array) -> tuple[tuple[Array, Array, Array], ...]:
    return tuple(vectors(corners[:, i]) for i in range(corners.shape[1]))


def _view_arguments(
    element: Element, number: int, order: tuple[int, ...], corners: tuple, block: Any, part: slice
) -> list[Any]:
    """What the functions of a view take: positions relative to the vertex itself, numbers of corners and element."""
    own = corners[order[0]]
    arguments = [own] if element.views[number].is_absolute else []
    arguments += [subtract(corners[other], own) for other in order[1:]]
    if element.sees_previous:
        before = _by_corner(block.previous[part])
        arguments += [subtract(before[other], before[order[0]]) for other in order[1:]]
    seen = element.seen(number, order)
    of_corners = element.corner_numbers_of(block, part)
    arguments += [as_arguments(values[:, corner]) for values in of_corners for corner in seen]
    return arguments + [as_arguments(values) for values in element.numbers_of(block, part)]
