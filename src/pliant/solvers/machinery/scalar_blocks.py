"""Blocks of elements with one constraint of linear compliance, as constraint solvers see them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.errors import SolverError
from pliant.kernels.element_packs import spread_over_packs
from pliant.kernels.scalar_constraints import scalar_source
from pliant.model import Attachments, Block, Bounds, Dampers, Fibres, Hinges, Joints, Pairs, Springs
from pliant.solvers.machinery.projection_tables import Constraints, Layout, movable


class Kind(NamedTuple):
    """What a kind of element is called, and the function that measures its constraint."""

    name: str
    measure: str


KINDS: dict[type[Block], Kind] = {
    Springs: Kind("springs", "spring_measure"),
    Attachments: Kind("springs", "spring_measure"),
    Hinges: Kind("hinges", "hinge_measure"),
    Joints: Kind("joints", "joint_measure"),
    Fibres: Kind("threads", "fibre_measure"),
    Bounds: Kind("walls", "wall_measure"),
}


def scalar_constraints(layout: Layout, block: Any, solver: str, relaxation: float, jacobi: bool) -> Constraints:
    """A block of springs, hinges, joints, threads, walls or links of vertices; any other kind is refused."""
    refusal = _refusal(block, solver)
    if refusal:
        raise SolverError(refusal)
    kind, damped = KINDS[type(block)], layout.is_damped
    elements, numbers = _elements_and_numbers(block)
    moving = movable(layout, elements)
    elements, numbers = elements[moving], numbers[moving]
    placed = layout.place(elements, relaxation, jacobi)
    columns = [placed.of_elements(numbers), placed.share]
    if damped:
        columns += [placed.of_elements(layout.model.damping[elements[:, 0]] / layout.h)]
    spread = spread_over_packs(placed.packs, np.column_stack(columns), layout.dtype)
    shape = (elements.shape[1], numbers.shape[1])
    source = scalar_source(kind.name, kind.measure, *shape, damped, layout.is_constrained)
    memory = np.zeros(placed.packs.element.size, layout.dtype)
    return Constraints(source, placed.packs, placed.corners, spread, memory)


def _elements_and_numbers(block: Any) -> tuple[np.ndarray, np.ndarray]:
    """Elements (m, k) and, in the order of its measure, the numbers of each."""
    if isinstance(block, Springs):
        return block.elements, np.column_stack([block.lengths, block.compression, block.stiffness])
    if isinstance(block, Attachments):  # springs of rest length zero
        return block.elements, np.column_stack([0 * block.weights, 1 + 0 * block.weights, block.weights])
    if isinstance(block, Fibres):
        return block.elements, np.column_stack([block.slopes, block.stiffness])
    if isinstance(block, Bounds):
        return _walls(block)
    return block.elements, np.column_stack([block.angles, block.stiffness])


def _walls(block: Bounds) -> tuple[np.ndarray, np.ndarray]:
    """A wall for every finite bound of a vertex: its outward normal, its place and the stiffness."""
    vertices, walls = [], []
    for axis in range(3):
        for bounds, sign in ((block.lower, -1.0), (block.upper, 1.0)):
            finite = np.flatnonzero(np.isfinite(bounds[:, axis]))
            normal = np.tile(sign * np.eye(3)[axis], (len(finite), 1))
            walls.append(np.column_stack([normal, sign * bounds[finite, axis], block.stiffness[finite]]))
            vertices.append(block.elements[finite])
    return np.concatenate(vertices), np.concatenate(walls)


def _refusal(block: Block, solver: str) -> str:
    """Why the solver cannot take a block; nothing if it can."""
    if isinstance(block, Dampers):
        return f"{solver} cannot carry viscosity: set viscosity=0, or use pl.VBD."
    if isinstance(block, Attachments):
        if (block.weights > 0).all():
            return ""
        return (
            f"{solver} cannot carry links to points inside edges, faces or tets, whose pairs of vertices have negative "
            "weights: attach vertices to vertices, or use pl.VBD."
        )
    if isinstance(block, Pairs):
        return (
            f"{solver} cannot carry quadratic bending, whose weights may be negative: give the cloth bending=0 or "
            'bending_model="dihedral", or use pl.VBD.'
        )
    if type(block) not in KINDS:
        return f"{solver} has no form for {type(block).__name__.lower()}: build them of springs, or use pl.VBD."
    return ""
