"""Contact(guarantee=True) for rigid bodies: nothing passes, at any speed; what rests, stays (decision 0030)."""

from collections.abc import Callable

import numpy as np
import pytest

import pliant as pl
from pliant.geometry import rotations

ipctk = pytest.importorskip("ipctk")
LAW = pl.StableNeoHookean(mu=2000.0, lam=2000.0)
BALL = pl.shapes.ball(0.05, 3).surface()


def run_clean(scene: pl.Scene, solver: pl.Solver, steps: int) -> pl.Simulation:
    """Take steps, after each of which an independent library finds no intersection, and bodies have their shapes."""
    sim = pl.Simulation(scene, solver, threads=1)
    surface = sim._detector.colliders.surface
    mesh = ipctk.CollisionMesh(sim.model.positions, surface.edges, surface.triangles)
    carried = sim.model.carried
    for _ in range(steps):
        sim.step()
        assert not ipctk.has_intersections(mesh, sim.state.x)
        np.testing.assert_allclose(sim.state.x[carried.points], carried.places(sim.state.poses), atol=1e-12)
    return sim


def empty_scene() -> pl.Scene:
    return pl.Scene(gravity=(0, 0, 0), contact=pl.Contact(guarantee=True))


def ball_at_a_plate(speed: float) -> pl.Scene:
    """A mesh of 5 cm flies at a plate of 1 cm; 300 m/s are ten of its diameters in a step."""
    scene = empty_scene()
    scene.add_rigid(BALL, position=(0.003, 0.002, 0.1), velocity=(0, 0, -speed), density=500.0)
    scene.add_rigid(pl.Box((0.5, 0.5, 0.01)))
    return scene


@pytest.mark.parametrize("solver", [pl.VBD(5), pl.AVBD(5)], ids=["VBD", "AVBD"])
def test_a_fast_body_does_not_pass_a_plate(solver: pl.Solver) -> None:
    """The plate is driven before the ball, which stays on its side of it."""
    scene = ball_at_a_plate(300.0)
    run_clean(scene, solver, 6)
    ball, plate = scene.bodies
    across = rotations.matrices(plate.orientation)[:, 2]
    assert (ball.position - plate.position) @ across > 0.03


def test_pushes_keep_momentum() -> None:
    """Bodies that would be in each other are pushed apart by their masses: the centre of mass of both goes on."""
    scene = ball_at_a_plate(15.0)
    sim = pl.Simulation(scene, pl.VBD(2), threads=1)
    carried, start = sim.model.carried, sim.state.poses.copy()
    target = start.copy()
    target[0, 2] -= 0.07  # 2 cm in the plate
    x = sim.state.x.copy()
    x[carried.points] = carried.places(target)
    safe = sim._safe
    safe.require_apart(sim.state.x, [])
    safe.advance(sim.state.x, x, [], (start, target))
    masses = np.array([body.mass for body in scene.bodies])
    moved = target[:, :3] - start[:, :3]
    assert moved[1, 2] < -1e-3
    assert masses @ moved == pytest.approx((0, 0, -0.07 * masses[0]), abs=1e-9)


def stack() -> pl.Scene:
    scene = pl.Scene(contact=pl.Contact(guarantee=True))
    for k in range(3):
        scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), position=(0.01 * k, 0, 0.051 + 0.102 * k))
    scene.add_plane()
    return scene


@pytest.mark.slow
@pytest.mark.parametrize("solver", [pl.VBD(20), pl.AVBD(20)], ids=["VBD", "AVBD"])
def test_a_stack_stands(solver: pl.Solver) -> None:
    """Half a second: boxes rest at most a thickness, 0.17 mm, apart, and do not drift."""
    scene = stack()
    run_clean(scene, solver, 150)
    for k, body in enumerate(scene.bodies):
        assert body.position == pytest.approx((0.01 * k, 0, 0.05 + 0.1 * k), abs=1e-3)
        assert np.abs(body.velocity).max() < 5e-3


def swarm() -> pl.Scene:
    """Six spinning boxes that meet at 30 m/s."""
    scene, rng = empty_scene(), np.random.default_rng(0)
    for k in range(6):
        place = 0.3 * np.array([np.cos(k), np.sin(k), 0.3 * np.sin(2 * k)])
        motion = {"velocity": -30 * place / np.linalg.norm(place), "angular_velocity": 50 * rng.normal(size=3)}
        scene.add_rigid(pl.Box((0.1, 0.12, 0.05)), position=place, **motion)
    return scene


def box_at_a_cloth(speed: float) -> pl.Scene:
    scene = empty_scene()
    cloth = scene.add_cloth(pl.shapes.cloth((1, 1), (10, 10)), LAW)
    cloth.pin(np.flatnonzero(np.abs(cloth.initial_positions[:, :2]).min(axis=1) > 0.499))
    box = {"position": (0.03, 0.02, 0.15), "velocity": (0, 0, -speed), "angular_velocity": (20, 5, 0)}
    scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), density=300.0, **box)
    return scene


@pytest.mark.slow
@pytest.mark.parametrize("solver", [pl.VBD(20), pl.VBD(2), pl.AVBD(20)], ids=["VBD", "VBD2", "AVBD"])
@pytest.mark.parametrize(
    ("make", "steps"),
    [
        (swarm, 40),
        (lambda: box_at_a_cloth(10.0), 25),
        (lambda: box_at_a_cloth(100.0), 12),
        (lambda: ball_at_a_plate(10.0), 20),
    ],
    ids=["swarm", "cloth at 10 m/s", "cloth at 100 m/s", "plate at 10 m/s"],
)
def test_rigid_bodies_never_intersect(make: Callable[[], pl.Scene], steps: int, solver: pl.Solver) -> None:
    run_clean(make(), solver, steps)
