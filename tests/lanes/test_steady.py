"""Steady calls run the machine code that Numba would choose, and look at arrays that may come from anywhere."""

from typing import NamedTuple

import numpy as np
import pytest

from pliant.kernels.threads import Team
from pliant.lanes.entry import entry
from pliant.lanes.steady import SteadyCalls


class Pair(NamedTuple):
    values: np.ndarray
    factor: float


@entry(nogil=True)
def scaled_sum(thread, threads, barrier, pair, other, out):
    total = 0.0
    for i in range(len(other)):
        total += pair.factor * pair.values[i] * other[i]
    out[thread] = total


@pytest.fixture
def arrays():
    random = np.random.default_rng(0)
    return random.normal(size=6), random.normal(size=(6, 2))


def test_later_calls_go_to_the_machine_code_of_the_first(arrays):
    steady, (values, table) = SteadyCalls(), arrays
    other = table[:, 0].copy()
    arguments = (0, 1, np.zeros(16, np.int64), Pair(values, 2.0), other, np.zeros(1))
    first, second = (steady.point_of(scaled_sum, arguments) for _ in range(2))
    assert first is second is not scaled_sum
    first(*arguments)
    assert arguments[-1][0] == pytest.approx(2.0 * values @ other)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("change", [lambda a: a[::2], lambda a: a[:3].astype(np.float32)], ids=["strided", "single"])
def test_arrays_of_another_kind_are_read_as_what_they_are(arrays, threads, change):
    """Machine code for rows of doubles would read them wrongly."""
    values, table = arrays
    team, out = Team(threads, is_steady=True), np.zeros(threads)
    for other in (table[:, 0].copy(), change(table[:, 1]), table[:, 0].copy()):
        team.run(scaled_sum, Pair(values, 3.0), other, out)
        np.testing.assert_allclose(out, 3.0 * values[: len(other)] @ other, rtol=1e-6)
