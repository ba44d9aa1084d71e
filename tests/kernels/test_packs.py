"""Packs: every vertex in one lane, one colour and one subspace a pack, packs of fixed vertices last."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.kernels.packs import NEIGHBOURHOOD, Packs, arrange, needs_wide_pack, spread


def random_case(seed: int, n: int, width: int, share_fixed: float, share_wide: float):
    """Colours without gaps, -1 where fixed; lengths; wide; subspace; place."""
    rng = np.random.default_rng(seed)
    colours = rng.integers(0, rng.integers(1, 6), n)
    fixed = rng.random(n) < share_fixed
    fixed[rng.integers(n)] = False
    colours = np.where(fixed, -1, np.searchsorted(np.unique(colours[~fixed]), colours))
    wide = rng.random(n) < share_wide
    return colours, rng.integers(3, 60, n), wide, rng.choice([1, 2, 3], n), rng.permutation(n), width


cases = st.builds(
    random_case,
    st.integers(0, 2**32 - 1),
    st.integers(1, 200) | st.just(3 * NEIGHBOURHOOD),
    st.sampled_from([1, 4, 8, 16]),
    st.sampled_from([0.0, 0.3, 0.9]),
    st.sampled_from([0.0, 0.1, 1.0]),
)


@settings(deadline=None, max_examples=150)
@given(case=cases)
def test_every_vertex_has_its_row(case) -> None:
    """Free vertices fill the lanes of the first packs once each, fixed ones those that follow; the rest is padding."""
    colours, _, _, _, _, width = case
    packs = arrange(*case)
    n, rows = len(colours), packs.moving_count * width
    np.testing.assert_array_equal(packs.vertex_of_row[packs.row_of_vertex], np.arange(n))
    in_packs = packs.vertex_of_row[:rows]
    np.testing.assert_array_equal(np.sort(in_packs[in_packs >= 0]), np.flatnonzero(colours >= 0))
    others = packs.vertex_of_row[rows:]
    np.testing.assert_array_equal(np.sort(others[others >= 0]), np.flatnonzero(colours < 0))
    assert (packs.subspace[packs.moving_count :] == 0).all()
    assert packs.vertex_of_row.min() >= -1
    assert len(packs.vertex_of_row) == packs.pack_count * width
    assert (packs.vertex_of_row.reshape(-1, width)[:, 0] >= 0).all()  # no pack is empty


@settings(deadline=None, max_examples=150)
@given(case=cases)
def test_packs_are_of_one_kind(case) -> None:
    """One colour and subspace a pack, colours one after another, a wide vertex alone, and no more packs than needed."""
    colours, _, wide, subspace, _, width = case
    packs = arrange(*case)
    assert packs.colour_start[0] == 0
    assert packs.colour_start[-1] == packs.moving_count
    assert len(packs.colour_start) == colours.max() + 2
    for c, (first, last) in enumerate(zip(packs.colour_start[:-1], packs.colour_start[1:], strict=True)):
        for p in range(first, last):
            lanes = packs.vertex_of_row[p * width : (p + 1) * width]
            members = lanes[lanes >= 0]
            assert (colours[members] == c).all()
            assert (subspace[members] == packs.subspace[p]).all()
            assert (wide[members] == (packs.is_wide[p] == 1)).all()
            if packs.is_wide[p]:
                assert (lanes[1:] == -1).all()
    needed = sum(wide[colours >= 0])
    for c in range(colours.max() + 1):
        for s in (1, 2, 3):
            needed += -(-np.sum((colours == c) & (subspace == s) & ~wide) // width)
    assert packs.moving_count == needed


def test_lists_in_a_pack_have_nearly_equal_length() -> None:
    """Sorted by length in neighbourhoods: less than 2 % of the entries are padding, where unsorted packs have 45 %."""
    rng = np.random.default_rng(12)
    n, width = 4 * NEIGHBOURHOOD, 8
    lengths = rng.integers(10, 40, n)
    none = np.zeros(n, np.int64)
    packs = arrange(none, lengths, none == 1, none + 3, rng.permutation(n), width)
    in_packs = lengths[packs.vertex_of_row].reshape(-1, width)
    assert in_packs.max(axis=1).sum() * width < 1.02 * lengths.sum()


def test_wide_packs_are_for_outliers() -> None:
    """More than four times the median, and more than a lane each."""
    elements_of = np.array([20] * 50 + [80, 81])
    np.testing.assert_array_equal(np.flatnonzero(needs_wide_pack(elements_of, 8)), [51])
    assert not needs_wide_pack(np.array([1, 1, 1, 8]), 8).any()


def test_spread_puts_numbers_into_lanes() -> None:
    """Component k of row r of pack p is element (p k_max + k) width + r; padding is filled, wide lanes repeat."""
    packs = Packs(
        4, np.array([2, 0, -1, -1, 1, -1, -1, -1, 3]), np.array([1, 4, 0, 8]), None, np.array([0, 1]), None, None
    )
    values = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 40.0]])
    flat = spread(packs, values, np.float32, padding=-1.0)
    assert flat.dtype == np.float32
    expected = [[3, 1, -1, -1], [30, 10, -1, -1], [2, 2, 2, 2], [20, 20, 20, 20]]
    np.testing.assert_array_equal(flat.reshape(4, 4), expected)
