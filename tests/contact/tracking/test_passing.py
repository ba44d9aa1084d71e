"""What a solver would have pass is held apart without the guarantee too (decision 0090)."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact.tracking.passing import intersecting

LAW = pl.StableNeoHookean(mu=2000.0, lam=2000.0)


def two_sheets(speed: float, height: float = 0.05) -> pl.Scene:
    """Of 6 and 7 cells, one above the other, meeting at a speed [m/s]."""
    scene = pl.Scene(gravity=(0, 0, 0), contact=pl.Contact())
    for cells, side in ((6, -1), (7, 1)):
        mesh = pl.shapes.cloth((1, 1), (cells, cells)).transformed(translation=(0.01, 0.02, 0.5 * side * height))
        scene.add_cloth(mesh, LAW).set_velocities((0, 0, -0.5 * side * speed))
    return scene


@pytest.mark.parametrize("iterations", [2, 20])
def test_sheets_at_100_m_a_second_do_not_pass(iterations: int) -> None:
    """They would be 28 cm behind each other after a step. Nothing crosses, no energy is gained, and their common
    momentum stays zero.
    """
    scene = two_sheets(100.0)
    sim = pl.Simulation(scene, pl.VBD(iterations), threads=1)
    energy = sim.energies()["kinetic"]
    for _ in range(6):
        sim.step()
        assert len(sim.intersections().crossing) == 0
    lower, upper = scene.bodies
    assert upper.positions[:, 2].mean() > lower.positions[:, 2].mean()
    momentum = sim.model.mass @ sim.velocities
    assert np.abs(momentum).max() < 1e-6 * sim.model.mass.sum() * 100.0
    after = sim.energies()
    assert after["kinetic"] + after["elastic"] + after["contact"] < 1.0001 * energy


def test_what_intersects_already_is_not_held() -> None:
    """A flap that starts with its rim through a sheet: vertices of edges and triangles that intersect are left out, and
    if only they pass nothing is done.
    """
    scene = pl.Scene(gravity=(0, 0, 0), contact=pl.Contact())
    scene.add_cloth(pl.shapes.cloth((1, 1), (6, 6)), LAW)
    flap = pl.shapes.cloth((0.3, 0.3), (3, 3)).transformed(
        rotation=((0, 0, 1), (0, 1, 0), (-1, 0, 0)), translation=(0.03, 0.02, 0.12)
    )
    scene.add_cloth(flap, LAW)
    sim = pl.Simulation(scene, pl.VBD(2), threads=1)
    detector, x = sim._detector, sim.state.x.copy()
    crossing = np.unique(sim.intersections().crossing)
    assert len(crossing) > 0
    expected = np.sort(2 * crossing + (1 - sim.model.contact.body[crossing]))  # each with the other body
    assert np.array_equal(intersecting(detector.team, detector.colliders, x), expected)
    below = np.flatnonzero(x[:, 2] < -1e-3)
    moved = x.copy()
    moved[below, 2] += 0.05
    detector.begin_step(x)
    detector.detect(x, moved, 0.0)
    assert detector.passing(x, moved) is None
