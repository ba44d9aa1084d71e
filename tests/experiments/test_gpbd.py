"""GPBD's experiments in small."""

import pytest
from experiments.gpbd import cubes


def test_a_stretched_cube_keeps_its_volume():
    """Nearly incompressible, stretched in 0.2 s by led faces: clamped at its ends it necks in, to its own volume."""
    run = cubes.simulate("stretch", "NH", 0.499, (3, 5), seconds=0.4, cells=4)
    assert run["ended"] == "did all steps"
    assert run["inverted_at_end"] == 0
    assert run["volume_at_end"] == pytest.approx(1, abs=0.1)
