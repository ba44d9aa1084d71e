"""The net that shows the ground."""

import numpy as np
import pytest

from pliant.viewer.ground import CELLS, REACH, SECTION, cell_size, ground_lines


@pytest.mark.parametrize(("size", "cell"), [(6.0, 1.0), (1.2, 0.2), (0.03, 0.005), (59.0, 5.0), (12.5, 2.0)])
def test_cells_are_round_numbers(size, cell):
    assert cell_size(size) == pytest.approx(cell)
    assert CELLS * (1 - 1e-9) <= REACH * size / cell < 2.5 * CELLS


def test_lines_lie_on_multiples_of_a_cell_and_end_on_a_circle():
    centre, size = np.array([3.3, -1.7]), 1.2
    lines = ground_lines(centre, 0.25, size)
    every = np.concatenate(list(lines.values()))
    np.testing.assert_array_equal(every[..., 2], 0.25)
    np.testing.assert_allclose(np.linalg.norm(every[..., :2] - centre, axis=2), REACH * size)
    assert len(every) == 2 * 24  # 4.8 m in steps of 0.2 m, each way
    for name, step in (("cells", 0.2), ("sections", SECTION * 0.2)):
        fixed = lines[name][np.arange(len(lines[name])), 0, (np.ptp(lines[name], axis=1)[:, 0] > 0).astype(int)]
        np.testing.assert_allclose(fixed / step, np.round(fixed / step), atol=1e-9)
