"""Lists of elements by pack hold every incidence of a moving vertex once, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.kernels.lists import Incidences, build_lists, list_lengths
from pliant.kernels.packs import arrange


@pytest.mark.parametrize("width", [1, 4, 16])
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 60), m=st.integers(1, 200))
def test_every_incidence_is_in_the_list_of_its_owner(width: int, seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    owner = rng.integers(0, n, m)
    owner[: m // 3] = 0  # one vertex with very many
    others, constants = rng.integers(0, n, (m, 2)), rng.uniform(1, 2, (m, 3))
    colours = rng.integers(-1, 3, n)
    colours[0] = 0
    wide = np.zeros(n, bool)
    wide[0] = True
    used = np.unique(colours[colours >= 0])
    colours = np.where(colours >= 0, np.searchsorted(used, colours), -1)
    lengths = list_lengths(owner, wide, width)
    packs = arrange(colours, lengths, wide, np.full(n, 3), np.arange(n), width)
    lists = build_lists(packs, Incidences(owner, others, constants), np.float64)

    entries = lists.start[-1]
    rows = lists.others.reshape(entries, 2, width)
    numbers = lists.constants.reshape(entries, 3, width)
    pack = np.repeat(np.arange(packs.pack_count), np.diff(lists.start))
    own = pack[:, None] * width + np.arange(width)
    found = []
    for e in range(entries):
        for lane in range(width):
            if not numbers[e, :, lane].any():
                assert (rows[e, :, lane] == own[e, lane]).all()
                continue
            row = own[e, 0] if packs.is_wide[pack[e]] else own[e, lane]
            vertex = packs.vertex_of_row[row]
            found.append((vertex, *packs.vertex_of_row[rows[e, :, lane]], *numbers[e, :, lane]))
    expected = [(o, *v, *c) for o, v, c in zip(owner, others, constants, strict=True)]
    assert sorted(found) == sorted(expected)
    longest = np.zeros(packs.pack_count, np.int64)
    np.maximum.at(longest, packs.row_of_vertex // width, lengths)
    np.testing.assert_array_equal(np.diff(lists.start), longest)
