"""SIMD numbers for Numba. A physics function written in plain arithmetic runs on floats and on lanes alike."""

from pliant.lanes import arithmetic  # noqa: F401  (registers + - * / and comparisons)
from pliant.lanes.loops import repeat
from pliant.lanes.math import (
    absolute,
    count,
    exp,
    first_lane,
    lane_least,
    lane_sum,
    log,
    maximum,
    minimum,
    narrow,
    number,
    rounding,
    select,
    sqrt,
    widen,
)
from pliant.lanes.memory import gather3, load, load3, prefetch_row, store, store3, width_of
from pliant.lanes.reciprocal import inverse_sqrt, reciprocal
from pliant.lanes.roots import inverse_cube_root
from pliant.lanes.types import make_zero

__all__ = [
    "absolute",
    "count",
    "exp",
    "first_lane",
    "gather3",
    "inverse_cube_root",
    "inverse_sqrt",
    "lane_least",
    "lane_sum",
    "load",
    "load3",
    "log",
    "make_zero",
    "maximum",
    "minimum",
    "narrow",
    "number",
    "prefetch_row",
    "reciprocal",
    "repeat",
    "rounding",
    "select",
    "sqrt",
    "store",
    "store3",
    "widen",
    "width_of",
]
