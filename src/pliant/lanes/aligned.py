"""Arrays that begin at a cache line: numbers that lanes read at once then lie in one line, not in two."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.lanes.host import CACHE_LINE


def aligned_zeros(count: int, dtype: Any) -> np.ndarray:
    """Zeros (count,)."""
    size = np.dtype(dtype).itemsize
    room = np.zeros(count * size + CACHE_LINE, np.uint8)
    first = -room.ctypes.data % CACHE_LINE
    return room[first : first + count * size].view(dtype)


def aligned(array: np.ndarray, dtype: Any) -> np.ndarray:
    """A flat copy."""
    copy = aligned_zeros(array.size, dtype)
    copy.reshape(array.shape)[...] = array
    return copy
