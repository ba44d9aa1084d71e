"""Bad boxes: one error that names the side, the value and the remedy."""

import numpy as np
import pytest

import pliant as pl


def test_sides_may_be_missing():
    """None for a whole corner or for one of its numbers; infinity is the same."""
    box = pl.WorldBox(upper=(1.0, None, np.inf), stiffness=1e3)
    np.testing.assert_array_equal(box.lower, [-np.inf, -np.inf, -np.inf])
    np.testing.assert_array_equal(box.upper, [1.0, np.inf, np.inf])


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"lower": (0, 0)}, "WorldBox: lower is (0, 0)"),
        ({"lower": 3.0}, "WorldBox: lower is 3.0"),
        ({"lower": "abc"}, "WorldBox: lower is 'abc'"),
        ({"upper": (0, np.nan, 0)}, "WorldBox: upper is (0, nan, 0)"),
        ({"upper": (0, 0, -np.inf)}, "WorldBox: upper"),
        ({"lower": (0, 2, 0), "upper": (1, 2, 1)}, "along y; lower must be less"),
        ({"stiffness": 0.0}, "WorldBox: stiffness is 0.0"),
        ({"stiffness": None}, "WorldBox: stiffness is None"),
    ],
)
def test_bad_boxes_are_told(options, part):
    with pytest.raises(pl.SceneError) as error:
        pl.WorldBox(**{"stiffness": 1e3, **options})
    assert part in str(error.value)


def test_only_a_box_is_a_box():
    with pytest.raises(pl.SceneError, match=r"Scene: world_box is a float: give pl\.WorldBox"):
        pl.Scene().world_box = 2.0
