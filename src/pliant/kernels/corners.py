"""What constraints do at each of their corners. Rows are positions and h^2 / m, zero for vertices that are held."""

from __future__ import annotations

from pliant.kernels.term_source import import_lines
from pliant.lanes import number, select
from pliant.lanes.vectors import dot, physics, subtract


@physics
def unheld(g, hold):
    """A gradient without the directions in which its corner is held; hold: unit vector and 1 for a line, 2 for a
    plane, zero for a free corner.
    """
    along, on_line = dot(g, hold), hold[3] == 1.0
    keep = select(on_line, number(0.0, along), number(1.0, along))
    part = select(on_line, along, -along)
    return (keep * g[0] + part * hold[0], keep * g[1] + part * hold[1], keep * g[2] + part * hold[2])


@physics
def drift(g, row, started):
    """The corner's part of grad C . (x - x_t): how far the constraint has moved since the start of the step."""
    return dot(g, subtract(row, started))


@physics
def inner(row, a, b):
    """The corner's part of the inner product h^2 / m  a . b."""
    return row[3] * dot(a, b)


@physics
def moved(row, s, g):
    """Correction h^2 / m  s g."""
    k = row[3] * s
    return (k * g[0], k * g[1], k * g[2])


IMPORT = import_lines(drift, inner, moved, unheld)


def each_corner(corners: int, text: str, join: str = ", ") -> str:
    """The text for every corner, with its number in place of #."""
    return join.join(text.replace("#", str(i)) for i in range(corners))


def gradient_lines(names: tuple[str, ...], corners: int, damped: bool, constrained: bool, rate: str) -> list[str]:
    """Lines that take held directions out of gradients and compute, for each, how strongly damping resists (drag)."""
    lines = []
    if constrained:
        lines += [f"{g} = ({each_corner(corners, f'unheld({g}[#], holds[#])')},)" for g in names]
    if not damped:
        return [*lines, "rate = zero()", *(f"drag_{g} = zero()" for g in names)]
    lines += [f"rate = {rate}"]
    return lines + [
        f"drag_{g} = rate * ({each_corner(corners, f'drift({g}[#], r[#], started[#])', ' + ')})" for g in names
    ]
