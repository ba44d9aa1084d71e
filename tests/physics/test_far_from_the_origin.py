"""Motion in single precision does not depend on where a scene is: 10 km away it is the same."""

import numpy as np
import pytest

import pliant as pl

AWAY = np.array([1e4, -5e3, 3e3])  # [m]
SOFT = pl.StableNeoHookean.from_young(1e5, 0.3)


def moved(mesh: pl.TetMesh, by: np.ndarray) -> pl.TetMesh:
    return pl.TetMesh(mesh.points + by, mesh.tets)


def beam(by: np.ndarray, precision: str = "single") -> np.ndarray:
    """A beam held at one end, after 0.2 s of falling, relative to its place."""
    mesh = pl.shapes.box((1.0, 0.25, 0.25), (8, 2, 2))
    scene = pl.Scene()
    body = scene.add_solid(moved(mesh, by), SOFT)
    body.pin(mesh.points[:, 0] < -0.5 + 1e-9)
    sim = pl.Simulation(scene, pl.VBD(iterations=20), precision=precision)
    for _ in range(60):
        sim.step()
    np.testing.assert_array_equal(body.positions[body.subspace == 0], (mesh.points + by)[body.subspace == 0])
    return sim.positions - by


def test_a_falling_beam_is_the_same_10_km_away():
    """To 1e-5 of how far its tip has fallen, and as in double precision."""
    here, there, exact = beam(np.zeros(3)), beam(AWAY), beam(AWAY, "double")
    fallen = np.ptp(here[:, 2])
    assert fallen > 0.2
    assert np.abs(there - here).max() < 1e-5 * fallen
    assert np.abs(there - exact).max() < 1e-5 * fallen


def box_on_ground(by: np.ndarray) -> tuple[np.ndarray, float]:
    """A damped box thrown at the ground and a wall of the world's end: after 0.15 s, and how far it ever got."""
    mesh = pl.shapes.box((0.2, 0.2, 0.2), (2, 2, 2))
    scene = pl.Scene()
    body = scene.add_solid(moved(mesh, by + np.array([0.0, 0.0, 0.12])), SOFT, damping=1e-3)
    body.set_velocities((1.0, 0.2, -1.0))
    scene.add_plane(by, (0, 0, 1), friction=0.4)
    scene.world_box = pl.WorldBox(lower=None, upper=(by[0] + 0.13, None, None), stiffness=1e4)
    sim = pl.Simulation(scene, pl.VBD(iterations=60))
    reached = -np.inf
    for _ in range(45):
        sim.step()
        reached = max(reached, float((sim.positions - by)[:, 0].max()))
    return sim.positions - by, reached


@pytest.mark.slow
def test_contact_friction_walls_and_damping_are_the_same_10_km_away():
    """To 1e-4 of the size of the box. Impacts with friction make more of rounding, here as there."""
    (here, reached), (there, _) = box_on_ground(np.zeros(3)), box_on_ground(AWAY)
    assert here[:, 2].min() == pytest.approx(0.0, abs=1e-2)
    assert 0.13 < reached < 0.16
    assert np.abs(there - here).max() < 2e-5


def test_levels_of_a_far_body_are_those_of_a_near_one():
    """What a regular mesh leaves open, which of equal distances is the shorter one, is not settled by the rounding of
    its coordinates: default steps 10 km away are the same, to rounding in double precision and to 1e-5 of the motion
    in single.
    """
    for precision, part in (("double", 1e-8), ("single", 1e-5)):
        here, there = default_beam(np.zeros(3), precision), default_beam(AWAY, precision)
        assert np.abs(there - here).max() < part * np.ptp(here[:, 2])


def default_beam(by: np.ndarray, precision: str) -> np.ndarray:
    """A beam of 40 x 4 x 4 cells held at one end, which needs coarse levels, after 0.1 s with the default solver."""
    mesh = pl.shapes.beam(length=1.0, width=0.1, height=0.1, cells=(40, 4, 4))
    scene = pl.Scene()
    body = scene.add_solid(moved(mesh, by), pl.StableNeoHookean.from_young(5e5, 0.45))
    body.pin(mesh.points[:, 0] < -0.499)
    sim = pl.Simulation(scene, frame_rate=60, substeps=5, precision=precision, threads=1)
    for _ in range(30):
        assert sim.step().converged
    return sim.positions - by
