"""Arrays at cache lines."""

import numpy as np
import pytest

from pliant.lanes.aligned import aligned, aligned_zeros


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint32])
def test_begin_at_a_cache_line_with_the_same_numbers(dtype) -> None:
    for count in (1, 7, 1000):
        zeros = aligned_zeros(count, dtype)
        assert zeros.ctypes.data % 64 == 0
        assert zeros.dtype == dtype
        np.testing.assert_array_equal(zeros, np.zeros(count))
    numbers = np.arange(24.0).reshape(2, 3, 4).swapaxes(0, 2)
    copy = aligned(numbers, dtype)
    assert copy.ctypes.data % 64 == 0
    np.testing.assert_array_equal(copy, numbers.ravel())
