"""Constants of detection: what they let through and what they stop, in degrees."""

import numpy as np
import pytest

from pliant.contact.primitives.pair import can_be_touched_from
from pliant.contact.search.narrow_phase import BEYOND
from pliant.contact.search.penetration_query import SAME_WAY


@pytest.mark.parametrize("half_angle", [0.0, 5.0, 30.0, 45.0, 60.0, 80.0, 89.0])
def test_an_edge_can_be_hit_from_its_cone_and_11_degrees_beyond(half_angle: float) -> None:
    """half_angle: between the bisector and the normal of each face [degrees]."""
    out = (0.0, 0.0, np.cos(np.radians(half_angle)))
    margin = 36.0 if half_angle == 0 else 11.0
    for angle in np.linspace(0, half_angle + margin, 50):
        direction = (np.sin(np.radians(angle)), 0.0, np.cos(np.radians(angle)))
        assert can_be_touched_from(out, direction, BEYOND)
    assert not can_be_touched_from(out, (0.0, 0.0, -1.0), BEYOND)


def test_the_back_of_a_wall_looks_the_same_way_as_the_corner_that_came_through_it() -> None:
    """Of a cube's corner: its own faces are as far above the threshold, in degrees, as walls beside it are below."""
    corner = np.ones(3) / np.sqrt(3)
    threshold = np.degrees(np.arccos(SAME_WAY))
    own = np.degrees(np.arccos(corner @ (0, 0, 1)))
    assert threshold - own == pytest.approx(90 - threshold, abs=0.5)
    assert corner @ (0, 0, -1) < -SAME_WAY  # the wall's front, through which it is to go back
