"""Figure 16 in small: the first frames of the pull, with one iteration each."""

import pytest
from experiments.vbd import data, one_iteration

pytestmark = pytest.mark.skipif(not data.has("armadillo-15k"), reason="armadillo-15k.vtu is not here")


@pytest.mark.slow
def test_one_iteration_a_frame_stays_calm():
    run = one_iteration.stretch(data.load("armadillo-15k"), iterations=1, frames=60, label="pull")
    assert run["reach"][-1] > 0.3  # the nose is led 1/3 m in a second
    assert max(run["edge"]) > 2
    assert max(run["speed"]) < 3  # nine times the speed of the pull
    assert max(run["kinetic"]) < max(run["elastic"])


def test_the_pull_goes_out_and_comes_back():
    assert one_iteration.pull(0) == 0
    assert one_iteration.pull(3) == pytest.approx(1)
    assert one_iteration.pull(5) == pytest.approx(0)
