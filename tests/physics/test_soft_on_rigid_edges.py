"""Soft bodies on the edges and corners of rigid boxes, with defaults: nothing is seen to sink in."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl

SIDE, RADIUS = 0.2, 0.1  # [m] of the box and of the ball
LAW = pl.StableNeoHookean.from_young(1e5, 0.3)
EDGE_UP = Rotation.from_euler("y", 45, degrees=True)
CORNER_UP = Rotation.from_euler("y", np.arctan(np.sqrt(0.5))) * Rotation.from_euler("x", 45, degrees=True)
FLAT = Rotation.identity()


def fixed_box(scene: pl.Scene, turn: Rotation) -> None:
    x, y, z, w = turn.as_quat()
    scene.add_rigid(pl.Box((SIDE,) * 3), position=(0, 0, 0), orientation=(w, x, y, z)).pin()


def thrown_ball(turn: Rotation, speed: float, aside: tuple[float, float], cells: int) -> pl.Scene:
    """4 kg that come down 1 cm above the top of the box."""
    scene = pl.Scene(contact=pl.Contact())
    fixed_box(scene, turn)
    top = np.abs(turn.as_matrix()[2]).sum() * 0.5 * SIDE
    mesh = pl.shapes.ball(RADIUS, cells).transformed(translation=(*aside, top + RADIUS + 0.01))
    scene.add_solid(mesh, LAW).set_velocities((0, 0, -speed))
    return scene


def nothing_sinks_in(scene: pl.Scene, steps: int) -> pl.Simulation:
    """No edge goes through a triangle after any step, and no energy is gained beyond a hundredth of the impact's."""
    sim = pl.Simulation(scene)
    lowest, rise, fastest = sim.energies()["total"], 0.0, 0.0
    for _ in range(steps):
        sim.step()
        energies = sim.energies()
        rise, lowest = max(rise, energies["total"] - lowest), min(lowest, energies["total"])
        fastest = max(fastest, energies["kinetic"])
        assert len(sim.intersections().crossing) == 0
    assert rise < 0.01 * fastest
    return sim


@pytest.mark.parametrize(
    ("turn", "speed", "aside", "cells"),
    [
        pytest.param(EDGE_UP, 1.0, (0, 0), 4, id="edge, 1 m/s"),
        pytest.param(CORNER_UP, 2.0, (0, 0), 4, id="corner, 2 m/s"),
        pytest.param(EDGE_UP, 2.0, (0, 0), 4, id="edge, 2 m/s", marks=pytest.mark.slow),
        pytest.param(EDGE_UP, 1.0, (0.013, 0.007), 4, id="beside the edge", marks=pytest.mark.slow),
        pytest.param(CORNER_UP, 1.0, (0, 0), 4, id="corner, 1 m/s", marks=pytest.mark.slow),
        pytest.param(CORNER_UP, 2.0, (0.013, 0.007), 2, id="coarse", marks=pytest.mark.slow),
        pytest.param(FLAT, 2.0, (0, 0), 4, id="face, 2 m/s", marks=pytest.mark.slow),
    ],
)
def test_a_soft_ball_is_not_cut_by_a_box(turn: Rotation, speed: float, aside: tuple[float, float], cells: int) -> None:
    """Left to contact forces alone it was, by up to 22 mm."""
    nothing_sinks_in(thrown_ball(turn, speed, aside, cells), 60)


@pytest.mark.parametrize("young", [1e5, pytest.param(2e4, marks=pytest.mark.slow)])
def test_a_soft_cube_half_over_the_edge(young: float) -> None:
    """It tips over the edge of the box and falls."""
    scene = pl.Scene(contact=pl.Contact(friction=0.5))
    fixed_box(scene, FLAT)
    mesh = pl.shapes.box((SIDE,) * 3, (4, 4, 4)).transformed(translation=(0.09, 0.013, SIDE + 0.005))
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(young, 0.3))
    nothing_sinks_in(scene, 120)


def test_a_soft_bar_rests_across_a_narrow_box() -> None:
    """It sags around two edges, and lies within its clearance."""
    scene = pl.Scene(contact=pl.Contact())
    scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), position=(0, 0, 0)).pin()
    mesh = pl.shapes.box((0.4, 0.1, 0.1), (12, 3, 3)).transformed(translation=(0, 0.013, 0.105))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(3e4, 0.3))
    nothing_sinks_in(scene, 150)
    above = np.abs(mesh.points[:, 0]) < 0.04
    on_top = above & (mesh.points[:, 2] < mesh.points[:, 2].min() + 1e-6)
    assert body.positions[on_top, 2].min() > 0.05
