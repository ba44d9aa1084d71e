"""Piecewise cubic functions of one and two variables as rows of one table, which lane functions look up.

A function is given by knots, values and slopes (Hermite), in two variables also by twists.  Each piece is a cubic about
a knot; beyond the last knots it is linear, constant or zero.  An axis is cut into buckets of one width, each of which
has at most one break, so that a piece is found without a search:

    row of a bucket:  break, number of the piece below it, centres of the pieces below and above

Axes of curvatures have breaks half-way between knots too, and each half its own knot as centre: near a knot the
difference of two values is then free of cancellation.

Functions of one variable are brought to one axis with the knots of all of them, so that its piece is found once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

LINEAR, CONSTANT, ZERO = 0, 1, 2  # beyond the last knots
NEVER = 1e30  # a break that no argument reaches
MOST_BUCKETS = 16384
ONE_KNOT = 1e-12  # of an axis: knots of two functions that are no further apart are one

Array = np.ndarray


class SplineTable(NamedTuple):
    """All functions of a material, as lane functions take them."""

    numbers: Array  # flat: of each axis its start, 1 / width, last bucket and first row; then of functions
    rows: Array  # flat (rows, 4)


@dataclass(frozen=True)
class Axis:
    """Where one variable is cut."""

    knots: Array  # (n,) ascending
    breaks: Array  # (k,)
    centres: Array  # (k + 1,) of the pieces
    start: float
    inverse_width: float
    buckets: Array  # (b, 4)


def make_axis(knots: Array, halved: bool) -> Axis:
    """Halved: with a break half-way between knots."""
    middles = 0.5 * (knots[1:] + knots[:-1])
    if halved:
        breaks = np.sort(np.concatenate([knots, middles]))
        centres = np.repeat(knots, 2)
    else:
        breaks, centres = knots, np.concatenate([knots[:1], knots])
    width = np.diff(breaks).min() * (1 - 1e-6)
    start = breaks[0] - 0.5 * width
    count = int((breaks[-1] - start) / width) + 1
    edges = start + width * np.arange(count)
    below = np.searchsorted(breaks, edges)  # breaks before each bucket
    following = np.append(breaks, NEVER)[below]
    inside = following < edges + width
    piece_above = np.minimum(below + 1, len(breaks))
    buckets = np.column_stack(
        [np.where(inside, following, NEVER), below, centres[below], centres[np.where(inside, piece_above, below)]]
    )
    return Axis(knots, breaks, centres, float(start), float(1 / width), buckets)


def bucket_count(knots: Array) -> float:
    """How many buckets an axis would need."""
    return float(2 * (knots[-1] - knots[0]) / np.diff(knots).min())


def pieces(axis: Axis, values: Array, slopes: Array, beyond: int, halved: bool) -> Array:
    """Coefficients (pieces, 4, ...) of powers of the distance to each centre; values, slopes (n, ...) at the knots."""
    none = np.zeros_like(values[:1])
    outside = {
        LINEAR: lambda k: (values[k : k + 1], slopes[k : k + 1], none, none),
        CONSTANT: lambda k: (values[k : k + 1], none, none, none),
        ZERO: lambda k: (none, none, none, none),
    }[beyond]
    first, last = np.stack(outside(0), axis=1), np.stack(outside(len(values) - 1)[:4], axis=1)
    steps = np.diff(axis.knots).reshape(-1, *[1] * (values.ndim - 1))
    left = _hermite(values[:-1], slopes[:-1], values[1:], slopes[1:], steps)
    if halved:
        right = _hermite(values[1:], slopes[1:], values[:-1], slopes[:-1], -steps)
        inner = np.stack([left, right], axis=1).reshape(-1, *left.shape[1:])
    else:
        inner = left
    return np.concatenate([first, inner, last])


def _hermite(p: Array, m: Array, other_p: Array, other_m: Array, step: Array) -> Array:
    """Coefficients (k, 4, ...) of cubics about one knot, from values and slopes there and at another, a step away."""
    rise = (other_p - p) / step
    return np.stack([p, m, (3 * rise - 2 * m - other_m) / step, (m + other_m - 2 * rise) / step**2], axis=1)


def surface_pieces(axes: tuple[Axis, Axis], hermite: tuple[Array, ...], beyond: int, halved: bool) -> Array:
    """Coefficients (pieces of v, pieces of u, powers of v, powers of u).

    hermite: values, slopes by u, slopes by v and twists at the knots, (knots of v, knots of u).  Axis v may be halved.
    """
    u, v = axes
    p, mu, mv, muv = (array.T for array in hermite)  # u first
    along_u = [pieces(u, value, slope, beyond, False) for value, slope in ((p, mu), (mv, muv))]  # (U, 4, knots of v)
    values, slopes = (np.moveaxis(part, 2, 0) for part in along_u)  # (knots of v, U, 4)
    return pieces(v, values, slopes, beyond, halved).transpose(0, 2, 1, 3)


def common_knots(all_knots: list[Array]) -> Array:
    """Those of several functions of one variable."""
    knots = np.unique(np.concatenate(all_knots))
    return knots[np.append(True, np.diff(knots) > ONE_KNOT * (knots[-1] - knots[0]))]


def on_axis(coefficients: Array, own: Axis, axis: Axis) -> Array:
    """Pieces (pieces of `own`, 4, ...) as pieces of an axis that has all its knots."""
    inside = 0.5 * (axis.breaks[1:] + axis.breaks[:-1])
    samples = np.concatenate([axis.breaks[:1] - 1, inside, axis.breaks[-1:] + 1])
    piece = np.searchsorted(own.breaks, samples)
    shift = (axis.centres - own.centres[piece]).reshape(-1, *[1] * (coefficients.ndim - 2))
    p, m, c, d = np.moveaxis(coefficients[piece], 1, 0)
    moved = (p + shift * (m + shift * (c + shift * d)), m + shift * (2 * c + 3 * shift * d), c + 3 * shift * d, d)
    return np.stack(moved, axis=1)


def surface_on_axes(coefficients: Array, own: tuple[Axis, Axis], axes: tuple[Axis, Axis]) -> Array:
    """The same of coefficients (pieces of v, pieces of u, powers of v, powers of u)."""
    along_v = on_axis(coefficients.swapaxes(1, 2), own[1], axes[1]).swapaxes(1, 2)
    moved = on_axis(along_v.transpose(1, 3, 0, 2), own[0], axes[0])
    return moved.transpose(2, 0, 3, 1)


class TableWriter:
    """Collects axes and functions in the order in which lane functions know them."""

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.rows: list[Array] = []
        self.row_count = 0

    def add_axis(self, axis: Axis) -> None:
        """Four numbers."""
        first = self._add(axis.buckets)
        self.numbers += [axis.start, axis.inverse_width, len(axis.buckets) - 1.0, first]

    def add_function(self, coefficients: Array) -> None:
        """Two numbers: the first row, and how many rows a piece of v takes.

        The four rows of a polynomial lie in one cache line, in single precision, if the table begins at one.
        """
        self._add(np.zeros((-self.row_count % 4, 4)))
        first = self._add(coefficients.reshape(-1, 4))
        self.numbers += [first, 4.0 * coefficients.shape[1]]

    def _add(self, rows: Array) -> float:
        first = self.row_count
        self.rows.append(rows)
        self.row_count += len(rows)
        return float(first)

    def table(self) -> SplineTable:
        """In double precision."""
        return SplineTable(np.array(self.numbers), np.ascontiguousarray(np.concatenate(self.rows)).reshape(-1))
