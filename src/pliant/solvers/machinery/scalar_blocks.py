"""Blocks of elements with one constraint of linear compliance, as constraint solvers see them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.elements.element import ConstraintForm
from pliant.elements.registry import element_of
from pliant.errors import SolverError
from pliant.kernels.element_packs import spread_over_packs
from pliant.model import Model
from pliant.solvers.machinery.projection_tables import Constraints, Layout, movable


def scalar_constraints(layout: Layout, block: Any, solver: str, relaxation: float, jacobi: bool) -> Constraints:
    """A block whose element has a constraint form; any other is refused."""
    form, damped, element = _form_of(block, solver), layout.is_damped, element_of(block)
    moving = movable(layout, form.elements)
    elements = form.elements[moving]
    placed = layout.place(elements, relaxation, jacobi)
    last = [placed.share]
    if damped:
        last += [placed.of_elements(layout.model.damping[elements[:, 0]] / layout.h)]

    def spread(numbers: tuple[np.ndarray, ...]) -> np.ndarray:
        columns = [placed.of_elements(values[moving]) for values in numbers]  # (m,) or (m, c)
        return spread_over_packs(placed.packs, np.column_stack(columns + last), layout.dtype)

    def refresh(model: Model) -> None:
        changed = next(own for own in model.blocks if own.key == block.key)
        constraints.numbers[:] = spread(_form_of(changed, solver).numbers)

    sizes = [0 if values.ndim == 1 else values.shape[1] for values in form.numbers]
    flags = (damped, layout.is_constrained)
    source = layout.sources.scalar(element.name, form.measure, elements.shape[1], sizes, *flags)
    multipliers = np.zeros(placed.packs.element.size, layout.dtype)
    constraints = Constraints(source, placed.packs, placed.corners, spread(form.numbers), multipliers)
    if element.changes:
        constraints.refresh = refresh
    return constraints


def _form_of(block: Any, solver: str) -> ConstraintForm:
    """The element's own form, or its measure with its numbers."""
    element = element_of(block)
    if element.constraint_form is not None:
        return element.constraint_form(block, solver)
    if element.measure is None:
        raise SolverError(f"{solver} has no form for {element.name}: build them of springs, or use pl.VBD.")
    of_corners = [values[:, corner] for values in element.corner_numbers_of(block) for corner in range(element.corners)]
    return ConstraintForm(element.measure, block.elements, (*of_corners, *element.numbers_of(block)))
