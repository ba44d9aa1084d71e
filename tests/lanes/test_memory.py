"""Loads, stores and gathers move the right numbers, from any offset, and touch nothing else."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

relaxed = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@relaxed
@given(seed=st.integers(0, 2**32 - 1), start=st.integers(0, 7), first=st.integers(0, 9))
def test_gather_load_and_store_of_positions(kernels, seed: int, start: int, first: int) -> None:
    """gather3 is positions[indices], load3 is a slice, and store3 writes that slice and leaves the rest."""
    w, rng = kernels.width, np.random.default_rng(seed)
    positions = rng.normal(size=(30, 4)).astype(kernels.dtype)
    indices = rng.integers(0, 30, 24).astype(np.uint32)
    gathered, loaded = np.empty(3 * w, kernels.dtype), np.empty(3 * w, kernels.dtype)
    stored = np.full((30, 4), np.nan, kernels.dtype)
    kernels.module.copy(positions, indices, start, first, gathered, loaded, stored)
    np.testing.assert_array_equal(gathered.reshape(3, w), positions[indices[start : start + w], :3].T)
    np.testing.assert_array_equal(loaded.reshape(3, w), positions[first : first + w, :3].T)
    np.testing.assert_array_equal(stored[first : first + w, :3], positions[first : first + w, :3])
    assert np.isnan(stored[:first]).all()
    assert np.isnan(stored[first + w :]).all()
    if w > 1:  # a plain float leaves the fourth number alone
        np.testing.assert_array_equal(stored[first : first + w, 3], 0)


def test_loads_and_stores_need_no_alignment(kernels) -> None:
    """Arrays that begin at an odd element give the same results as their copies."""
    a = np.linspace(0.5, 2, 33).astype(kernels.dtype)[1:]
    shifted = kernels.results("transcendental", 2, a.copy())
    out = np.zeros(65, kernels.dtype)[1:]
    kernels.module.transcendental(a, out)
    np.testing.assert_array_equal(out.reshape(2, -1), shifted)
