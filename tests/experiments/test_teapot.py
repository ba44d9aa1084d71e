"""Figure 23: rigid bodies that fall into a pot."""

import pytest
from experiments.rigid import teapot


@pytest.mark.slow
def test_bodies_fall_into_the_pot_and_stay_there() -> None:
    """Eight of the sixty, 0.6 s: all are in the pot, and none passes its wall or its floor."""
    found = teapot.measure(count=8, seconds=0.6)
    assert found["in the pot at the end"] == 8
