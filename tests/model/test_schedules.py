"""Values that change with time."""

import numpy as np
import pytest

import pliant as pl
from pliant.model.motions import Keyframes, Slide, Turn


def test_a_schedule_goes_straight_between_its_keys():
    schedule = pl.Schedule((1, 2, 4), (0, 10, -10))
    assert [schedule(t) for t in (0.0, 1.5, 3.0, 9.0)] == [0.0, 5.0, 0.0, -10.0]
    again = pl.Schedule((0, 2), ((0, 0, 0), (2, 4, 6)), repeat=True)
    np.testing.assert_allclose(again(5.0), (1, 2, 3))


@pytest.mark.parametrize(
    ("times", "values", "repeat", "words"),
    [
        ((1, 1), (0, 0), False, "each later than the last"),
        ((), (), False, "give finite times"),
        ((0, 1), (0,), False, "for each time"),
        ((0, 1), (0, np.nan), False, "finite number"),
        ((-1, 0), (0, 1), True, "to repeat, it must be above zero"),
    ],
)
def test_wrong_schedules_are_told(times, values, repeat, words):
    with pytest.raises(pl.SceneError, match=words):
        pl.Schedule(times, values, repeat)


@pytest.mark.parametrize(
    "motion",
    [
        Slide.rigid(velocity=(1, 2, 3)),
        Turn.rigid(axis=(1, 2, 3), centre=(0.3, 0.2, 0.1), turns=0.4, smooth=False),
        Keyframes.rigid(times=(0, 1), offsets=((0, 0, 0), (1, 0, 1))),
    ],
    ids=lambda motion: motion.motion.name,
)
def test_a_rigid_motion_carries_points_as_the_motion_of_points_does(motion):
    points = np.random.default_rng(0).normal(size=(5, 3))
    translation, rotation = motion(0.6)
    np.testing.assert_allclose(points @ rotation.T + translation, motion.of_points(points)(0.6), atol=1e-14)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-14)
