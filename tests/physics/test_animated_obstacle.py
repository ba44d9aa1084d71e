"""Cloth on an animated mesh: it is carried along by friction with the velocity of the frames."""

import numpy as np
import pytest

import pliant as pl

SPEED = 0.3  # [m/s]


@pytest.mark.slow
def test_a_moving_plate_carries_cloth_along():
    """Friction 0.8 stops sliding after v / (mu g) = 0.04 s and 6 mm; then both move together."""
    plate = pl.shapes.cloth(size=(1.0, 1.0), cells=(4, 4))
    times = np.array([0.0, 1.0])
    frames = np.stack([plate.points, plate.points + np.array([SPEED, 0.0, 0.0])])
    scene = pl.Scene(contact=pl.Contact(friction=0.8))
    mesh = pl.shapes.cloth(size=(0.1, 0.1), cells=(5, 5)).transformed(translation=(0, 0, 0.003))
    sheet = scene.add_cloth(mesh, pl.StVenantKirchhoff(mu=200.0, lam=100.0))
    scene.add_mesh_obstacle(pl.Animation(plate.triangles, frames, times), friction=0.8)
    sim = pl.Simulation(scene, solver=pl.VBD(iterations=40), frame_rate=60, substeps=5)
    for _ in range(24):
        sim.advance()
    before = sheet.positions.mean(axis=0)
    for _ in range(6):
        sim.advance()
    velocity = (sheet.positions.mean(axis=0) - before) / 0.1
    assert velocity[0] == pytest.approx(SPEED, rel=0.05)
    assert abs(velocity[1]) < 0.01 * SPEED
    slid = SPEED * sim.time - sheet.positions[:, 0].mean()
    assert 0.0 < slid < 0.03
    assert sheet.positions[:, 2].min() > -0.002
