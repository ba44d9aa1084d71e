"""atan2 in a loop that Numba compiles, once for each precision and width, as lane_kernels does."""

from pliant.lanes import load, make_zero, store
from pliant.lanes.angles import atan2
from pliant.lanes.entry import entry

PRECISION, WIDTH = "single", 1
zero = make_zero(PRECISION, WIDTH)


@entry(error_model="numpy")
def angle(y, x, out):
    """Angles of flat arrays."""
    for i in range(0, len(y), WIDTH):
        store(out, i, atan2(load(y, i, zero()), load(x, i, zero())))
