"""Numbers go to rows and lanes and come back unchanged."""

import numpy as np
import pytest

from pliant.kernels.packs import spread
from pliant.kernels.transfer import from_rows, to_lanes, to_rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_round_trip(example, dtype) -> None:
    """from_rows(to_rows(values)) is values; all lanes of a wide pack hold its vertex; padding is left alone."""
    packs = example.packs
    values = np.random.default_rng(14).normal(size=(len(packs.row_of_vertex), 3)).astype(dtype).astype(float)
    rows = np.full((len(packs.vertex_of_row), 4), 7, dtype)
    to_rows(values, packs.vertex_of_row, packs.is_wide, packs.width, rows)
    back = np.empty_like(values)
    from_rows(rows, packs.row_of_vertex, back)
    np.testing.assert_array_equal(back, values)
    assert (rows[:, 3] == 7).all()
    in_packs = rows[: packs.pack_count * packs.width].reshape(packs.pack_count, packs.width, 4)
    for pack, first in zip(in_packs[packs.is_wide == 1], in_packs[packs.is_wide == 1, :1], strict=True):
        np.testing.assert_array_equal(pack, np.broadcast_to(first, pack.shape))
    padding = (packs.vertex_of_row[: packs.pack_count * packs.width] < 0).reshape(-1, packs.width)
    assert (in_packs[padding & (packs.is_wide == 0)[:, None]] == 7).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lanes_are_as_spread(example, dtype) -> None:
    """to_lanes in compiled code equals packs.spread in NumPy."""
    packs = example.packs
    values = np.random.default_rng(15).normal(size=(len(packs.row_of_vertex), 3))
    lanes = np.zeros(3 * packs.pack_count * packs.width, dtype)
    to_lanes(values, packs.vertex_of_row, packs.is_wide, packs.width, lanes)
    np.testing.assert_array_equal(lanes, spread(packs, values, dtype))
