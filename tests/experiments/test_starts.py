"""Figure 5 in small: a third of a second of the 1.1 m pendulum."""

import pytest
from experiments.vbd import starts


@pytest.mark.slow
def test_adaptive_start_falls_most_like_the_reference():
    _, numbers = starts.compare(0.05, iterations=(20,), seconds=0.3)
    error = {s: numbers[f"{s}, 20 iterations a step"]["largest_error_percent_of_length"] for s in starts.STARTS}
    stretch = {s: numbers[f"{s}, 20 iterations a step"]["largest_stretch_percent"] for s in starts.STARTS}
    fallen = -numbers["Newton"]["height_at_bottom_time_m"] / 1.1
    assert error["previous"] > 95 * fallen  # it hardly moves
    assert error["inertial"] > 80 * fallen
    assert error["adaptive"] < 0.6 * error["inertial"]
    assert numbers["Newton"]["largest_stretch_percent"] < 0.2
    assert stretch["accelerated"] > 10 * stretch["adaptive"] or stretch["accelerated"] > 1


def test_pendulum_has_the_papers_size():
    mesh = starts.pendulum(0.1)
    assert (mesh.n_vertices, mesh.n_tets) == (305, 864)
    assert mesh.volume == pytest.approx(0.2 * 0.2 * 2.0 + 0.4**3)
