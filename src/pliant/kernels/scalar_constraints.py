"""Elements with one constraint C of linear compliance, energy k/2 C^2, given by their measure (elements.element).

The multiplier follows XPBD's Equation 18, written with the stiffness k = 1 / compliance so that a slack rope (k = 0)
lets go:   delta lambda = -(k (C + drag) + lambda) / (1 + k (1 + rate) (g, g)),   g = grad C.
"""

from __future__ import annotations

from pliant.kernels.corners import IMPORT, each_corner, gradient_lines
from pliant.kernels.element_lists import structured
from pliant.kernels.projection_source import ConstraintSource
from pliant.kernels.term_source import import_lines
from pliant.lanes.functions import LaneFunction
from pliant.lanes.vectors import physics


def scalar_source(
    name: str, measure: LaneFunction, corners: int, sizes: list[int], damped: bool, constrained: bool
) -> ConstraintSource:
    """measure(r, *numbers): of the rows r and the element's numbers, gives C, g and k.

    sizes: of its numbers, 0 for one that stands alone, else how many are in a tuple.  After its numbers an element has
    the relaxation and, if damped, k_d / h.
    """
    numbers = sum(max(size, 1) for size in sizes)
    count = numbers + (2 if damped else 1)

    def load(i: int) -> str:
        return f"load(numbers_K, (p * {count} + {i}) * WIDTH, zero())"

    lines = [
        f"c, g, k = {measure.__name__}_K({', '.join(['r', *structured(sizes, load)])})",
        *gradient_lines(("g",), corners, damped, constrained, load(numbers + 1)),
        f"gg = {each_corner(corners, 'inner(r[#], g[#], g[#])', ' + ')}",
        "multiplier = load(accumulated_K, p * WIDTH, zero())",
        f"change = {load(numbers)} * multiplier_step(c + drag_g, k, (1.0 + rate) * gg, multiplier)",
        "store(accumulated_K, p * WIDTH, multiplier + change)",
        f"d = ({each_corner(corners, 'moved(r[#], change, g[#])')},)",
    ]
    imports = "\n".join([import_lines(measure, suffix="_K"), import_lines(multiplier_step), IMPORT])
    return ConstraintSource(name, corners, imports, ("numbers_K", "accumulated_K"), tuple(lines))


@physics
def multiplier_step(c, k, gg, multiplier):
    return -(k * c + multiplier) / (1.0 + k * gg)
