"""Constants of detection: what they let through and what they stop, in degrees."""

import numpy as np
import pytest

from pliant.contact.primitives.pair import can_be_touched_from
from pliant.contact.search.narrow_phase import BEYOND
from pliant.contact.search.penetration_query import _looks_same_way


@pytest.mark.parametrize("half_angle", [0.0, 5.0, 30.0, 45.0, 60.0, 80.0, 89.0])
def test_an_edge_can_be_hit_from_its_cone_and_11_degrees_beyond(half_angle: float) -> None:
    """half_angle: between the bisector and the normal of each face [degrees]."""
    out = (0.0, 0.0, np.cos(np.radians(half_angle)))
    margin = 36.0 if half_angle == 0 else 11.0
    for angle in np.linspace(0, half_angle + margin, 50):
        direction = (np.sin(np.radians(angle)), 0.0, np.cos(np.radians(angle)))
        assert can_be_touched_from(out, direction, BEYOND)
    assert not can_be_touched_from(out, (0.0, 0.0, -1.0), BEYOND)


@pytest.mark.parametrize(
    ("normal", "is_taken"), [((0, 0, 1), False), ((0, 0, -1), True), ((1, -1, 0.2), True), ((0.2, 1, 0.1), False)]
)
def test_a_corner_pressed_into_a_wall_leaves_by_its_front(normal: tuple[float, ...], is_taken: bool) -> None:
    """The corner (1, 1, 1) of a cube has come up through the floor of a wall: the back looks its own way and is no way
    out, the front is, and so is a side that looks away.
    """
    out = np.array(normal) / np.linalg.norm(normal)
    first = np.cross(out, (0.36, 0.48, -0.8))
    face = [tuple(corner) for corner in (np.zeros(3), first, np.cross(out, first))]
    assert np.cross(face[1], face[2]) @ out > 0
    assert _looks_same_way(tuple(np.ones(3) / np.sqrt(3)), *face) != is_taken
