"""Rods that hit the ground with an end: friction and depth of the impact agree at the end of a step."""

import numpy as np
import pytest

import pliant as pl


@pytest.mark.parametrize("tilt", [20.0, 35.0, 50.0])
def test_an_impact_with_friction_converges(tilt: float) -> None:
    """Friction at the end that digs in lifts it, and a lifted end has no friction: iterations that took one from the
    other went to and fro for ever, with errors of 25 times the step's forces (decision 0104).
    """
    scene = pl.Scene(contact=pl.Contact(friction=0.5))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    a = np.deg2rad(tilt)
    pose = {
        "position": (0, 0, 0.5 * np.sin(a) + 0.05 * np.cos(a) + 0.005),
        "orientation": (np.cos(0.5 * a), 0, -np.sin(0.5 * a), 0),
    }
    scene.add_rigid(pl.Box((1.0, 0.1, 0.1)), **pose, velocity=(3.0, 0, -2.0))
    sim = pl.Simulation(scene, pl.VBD(200, tolerance=0.005), frame_rate=300, substeps=1, threads=1)
    errors = [sim.step().error for _ in range(4)]
    assert max(errors) <= 0.005
