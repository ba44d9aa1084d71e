"""Blocks of elements with one constraint of linear compliance, as constraint solvers see them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.elements.element import ConstraintForm
from pliant.elements.registry import element_of
from pliant.errors import SolverError
from pliant.kernels.element_packs import spread_over_packs
from pliant.kernels.scalar_constraints import scalar_source
from pliant.solvers.machinery.projection_tables import Constraints, Layout, movable


def scalar_constraints(layout: Layout, block: Any, solver: str, relaxation: float, jacobi: bool) -> Constraints:
    """A block whose element has a constraint form; any other is refused."""
    form, damped = _form_of(block, solver), layout.is_damped
    moving = movable(layout, form.elements)
    elements = form.elements[moving]
    numbers = [values[moving] for values in form.numbers]  # (m,) or (m, c)
    placed = layout.place(elements, relaxation, jacobi)
    columns = [*(placed.of_elements(values) for values in numbers), placed.share]
    if damped:
        columns += [placed.of_elements(layout.model.damping[elements[:, 0]] / layout.h)]
    spread = spread_over_packs(placed.packs, np.column_stack(columns), layout.dtype)
    sizes = [0 if values.ndim == 1 else values.shape[1] for values in form.numbers]
    name = element_of(block).name
    source = scalar_source(name, form.measure, elements.shape[1], sizes, damped, layout.is_constrained)
    multipliers = np.zeros(placed.packs.element.size, layout.dtype)
    return Constraints(source, placed.packs, placed.corners, spread, multipliers)


def _form_of(block: Any, solver: str) -> ConstraintForm:
    """The element's own form, or its measure with its numbers."""
    element = element_of(block)
    if element.constraint_form is not None:
        return element.constraint_form(block, solver)
    if element.measure is None:
        raise SolverError(f"{solver} has no form for {element.name}: build them of springs, or use pl.VBD.")
    of_corners = [values[:, corner] for values in element.corner_numbers_of(block) for corner in range(element.corners)]
    return ConstraintForm(element.measure, block.elements, (*of_corners, *element.numbers_of(block)))
