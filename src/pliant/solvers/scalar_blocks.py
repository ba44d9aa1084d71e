"""Blocks of elements with one constraint of linear compliance, as constraint solvers see them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.errors import SolverError
from pliant.kernels.element_packs import spread_over_packs
from pliant.kernels.scalar_constraints import scalar_source
from pliant.model import Block, Hinges, Joints, Pairs, Springs
from pliant.solvers.projection_tables import Constraints, Layout, movable, relaxations


class Kind(NamedTuple):
    """What a kind of element is called, the function that measures its constraint, and the numbers it needs."""

    name: str
    measure: str
    numbers: tuple[str, ...]  # fields of the block


KINDS: dict[type[Block], Kind] = {
    Springs: Kind("springs", "spring_measure", ("stiffness", "lengths", "compression")),
    Hinges: Kind("hinges", "hinge_measure", ("angles", "stiffness")),
    Joints: Kind("joints", "joint_measure", ("angles", "stiffness")),
}


def scalar_constraints(layout: Layout, block: Any, solver: str, relaxation: float, jacobi: bool) -> Constraints:
    """A block of springs, hinges or joints; any other kind is refused."""
    if type(block) not in KINDS:
        raise SolverError(_refusal(block, solver))
    kind, damped = KINDS[type(block)], layout.is_damped
    moving = movable(layout, block.elements)
    elements = block.elements[moving]
    packs, corners = layout.pack(elements)
    share = relaxations(layout, elements, relaxation, jacobi)
    columns = [*(getattr(block, name)[moving] for name in kind.numbers), share]
    if damped:
        columns += [layout.model.damping[elements[:, 0]] / layout.h]
    numbers = spread_over_packs(packs, np.column_stack(columns), layout.dtype)
    source = scalar_source(kind.name, kind.measure, elements.shape[1], len(kind.numbers), damped, layout.is_constrained)
    return Constraints(source, packs, corners, numbers, np.zeros(packs.element.size, layout.dtype))


def _refusal(block: Block, solver: str) -> str:
    if isinstance(block, Pairs):
        return (
            f"{solver} cannot carry quadratic bending or attachments, whose weights may be negative: give the cloth "
            'bending=0 or bending_model="dihedral", or use pl.VBD.'
        )
    return f"{solver} has no form for {type(block).__name__.lower()}: build them of springs, or use pl.VBD."
