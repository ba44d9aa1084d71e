"""Damping of elements that have a scalar measure C: a potential of the change of C over a step.

    D = k_d / (2 h) k (C(x) - C(x_t))^2,   k the element's stiffness at the start of the step

Springs, yarns, hinges and bends of rods need no code of their own: their Element has C, its derivatives and k.  C does
not change when the element is moved or turned, so D damps no rigid motion, and near rest it is Rayleigh's
stiffness-proportional damping.  A rope that is slack at the start of the step has k = 0 and is not damped in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from pliant.elements.block import Block, Invariance, Tearing
from pliant.elements.element import Element
from pliant.lanes.vectors import physics

#: Damping of springs is gone when they break; it does not break by itself.
_TEARING = {Tearing.BREAKS: Tearing.FOLLOWS_SPRINGS}


@dataclass(frozen=True)
class MeasureRates(Block):
    """Elements of another kind (m, k), whose measures resist change. Each kind has a class of its own."""

    energy_name = "damping"
    is_stored = False
    invariance = Invariance.RIGID

    arguments: np.ndarray  # (m, c) numbers that the measure takes
    rates: np.ndarray  # (m,) k_d [s] in a model, k_d / h in a step
    previous: np.ndarray  # (m, k, 3) corners at the start of the step [m]

    def over(self, h: float, x_prev: np.ndarray) -> Self:
        return replace(self, rates=self.rates / h, previous=x_prev[self.elements])


@physics
def measured_change(measure, corners, previous, arguments, rate):
    """C - C(x_t), the derivatives of C at the corners, and k k_d / h: a measure, of corners now and before."""
    c, gradients, _ = measure(corners, *arguments)
    before, _, k = measure(previous, *arguments)
    return c - before, gradients, rate * k


def rate_element(element: Element) -> Element:
    """The damping of a kind of element that has a measure."""
    kind = element.block
    tearing = _TEARING.get(kind.tearing, kind.tearing)
    block = type(f"{kind.__name__}Rates", (MeasureRates,), {"tearing": tearing, "__module__": __name__})
    return Element(
        block,
        f"damping of {element.name}",
        element.corners,
        numbers=("arguments", "rates"),
        measure=element.measure,
        curvature=element.curvature,
        sees_previous=True,
        laplacian=_scaled(element, element.laplacian),
        projection=_scaled(element, element.projection),
    )


def measure_rates(element: Element, rates: type[Block], block: Block, k_d: float) -> Block:
    """The damping, of class `rates`, of a block of such elements; k_d [s]."""
    of_corners = [values[:, i] for values in element.corner_numbers_of(block) for i in range(element.corners)]
    arguments = np.column_stack([*of_corners, *element.numbers_of(block)])
    m = len(block.elements)
    made: Any = rates
    return made(block.elements, arguments, np.full(m, k_d), np.zeros((m, element.corners, 3)))


def _scaled(element: Element, matrix: Callable[[Any], np.ndarray] | None) -> Callable[[Any], np.ndarray] | None:
    """A constant matrix (m, k, k) of a kind of element, k_d / h times."""
    if matrix is None:
        return None
    return lambda rates: rates.rates[:, None, None] * matrix(_as_kind(element, rates))


def _as_kind(element: Element, rates: MeasureRates) -> Any:
    """The elements whose damping it is."""
    fields, first = {}, 0
    for name in element.corner_numbers:
        fields[name] = rates.arguments[:, first : first + element.corners]
        first += element.corners
    for name in element.numbers:
        fields[name] = rates.arguments[:, first]
        first += 1
    made: Any = element.block
    return made(rates.elements, **fields)
