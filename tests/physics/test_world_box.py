"""The world box: what rests on its floor sinks in by weight over stiffness."""

import numpy as np
import pytest

import pliant as pl


def test_resting_depth_is_weight_over_stiffness(at_rest):
    """A cube on its four corners: the depths sum to m g / k; an all but rigid one sinks in evenly."""
    mesh = pl.shapes.box((0.2, 0.2, 0.2), 1)
    scene = pl.Scene(gravity=(0, 0, -9.81))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e8, 0.3), density=500.0)
    body.set_positions(mesh.points - np.array([0, 0, 1e-3]))
    scene.world_box = pl.WorldBox(lower=(None, None, -0.1), stiffness=2e4)
    x, energies = at_rest(scene)
    depth = -0.1 - x[:, 2]
    floor = mesh.points[:, 2] < 0
    weight = 500.0 * 0.2**3 * 9.81
    assert depth[floor].sum() == pytest.approx(weight / 2e4, rel=1e-6)
    np.testing.assert_allclose(depth[floor], weight / (4 * 2e4), rtol=0.02)
    assert energies["bounds"] == pytest.approx(1e4 * np.sum(depth[floor] ** 2), rel=1e-9)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_every_wall_holds(at_rest, axis, side):
    """Pressed against any of the six walls, the depths sum to weight over stiffness, and no other wall acts."""
    mesh, gravity = pl.shapes.box((0.2, 0.2, 0.2), 2), np.zeros(3)
    gravity[axis] = side * 4.0
    scene = pl.Scene(gravity=gravity)
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e7, 0.3), density=700.0)
    body.set_positions(mesh.points + 1e-4 * gravity)
    walls = np.full(3, 0.2)
    walls[axis] = 0.1
    scene.world_box = pl.WorldBox(-walls, walls, stiffness=1e4)
    x, energies = at_rest(scene)
    depth = np.maximum(side * x[:, axis] - 0.1, 0)
    assert depth.sum() == pytest.approx(700.0 * 0.2**3 * 4.0 / 1e4, rel=1e-6)
    assert energies["bounds"] == pytest.approx(5e3 * np.sum(depth**2), rel=1e-12)


def test_total_energy_is_kept_by_a_bounce_of_short_steps():
    """Kinetic, elastic, gravity and bounds: their sum falls only by what implicit Euler takes."""
    scene = pl.Scene(gravity=(0, 0, -9.81))
    scene.add_solid(pl.shapes.box((0.2, 0.2, 0.2), 1), pl.StableNeoHookean.from_young(1e6, 0.3), density=500.0)
    scene.world_box = pl.WorldBox(lower=(None, None, -0.15), stiffness=5e3)
    losses = []
    for rate in (2000, 4000):
        sim = pl.Simulation(scene, pl.VBD(iterations=20), frame_rate=rate, substeps=1, precision="double")
        course = [sim.energies()["total"]]
        while sim.time < 0.2:
            sim.step()
            course.append(sim.energies()["total"])
        assert np.diff(course).max() < 1e-9
        losses.append(course[0] - course[-1])
    lowest = 500.0 * 0.2**3 * 9.81 * 0.05  # what it falls by until it touches
    assert losses[0] < 0.2 * lowest
    assert losses[1] == pytest.approx(losses[0] / 2, rel=0.1)
