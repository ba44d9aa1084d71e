"""Contact(guarantee=True) for round rigid bodies by formula: spheres, capsules and cylinders (decision 0030)."""

import numpy as np
import pytest

import pliant as pl
from contact_arrays import closest_points
from pliant.contact.search.round_cores import core_pairs
from pliant.errors import PliantError
from pliant.geometry import rotations

LAW = pl.StableNeoHookean(mu=2000.0, lam=2000.0)


def empty_scene(gravity: float = 0.0) -> pl.Scene:
    return pl.Scene(gravity=(0, 0, -gravity), contact=pl.Contact(guarantee=True))


def least_gap(sim: pl.Simulation) -> float:
    """[m] between surfaces of round bodies and all triangles, edges and each other, each pair asked for."""
    x, cores = sim.state.x, sim._safe._cores
    pairs = core_pairs(cores, x, x, 1e3, np.zeros(len(x)))
    gaps = [
        closest_points(kind, x[pairs.vertices[pairs.kind == kind]])[1] - pairs.radius[pairs.kind == kind]
        for kind in (0, 1)
    ]
    return float(np.concatenate(gaps).min())


def pinned_cloth(scene: pl.Scene, cells: int = 10) -> pl.Body:
    cloth = scene.add_cloth(pl.shapes.cloth((1, 1), (cells, cells)), LAW)
    cloth.pin(np.flatnonzero(np.abs(cloth.initial_positions[:, :2]).min(axis=1) > 0.499))
    return cloth


@pytest.mark.parametrize("speed", [5.0, 300.0])
def test_spheres_that_meet_stay_apart(speed: float) -> None:
    """At 300 m/s they would pass each other in a tenth of a step; head on they do not, and their momentum stays."""
    scene = empty_scene()
    for side in (-1, 1):
        scene.add_rigid(pl.Sphere(0.05), position=(0.06 * side, 0, 0), velocity=(-speed * side, 0, 0))
    sim = pl.Simulation(scene, pl.VBD(5), threads=1)
    for _ in range(8):
        sim.step()
        assert least_gap(sim) > 0
    one, other = scene.bodies
    assert one.position[0] < other.position[0]
    assert one.mass * one.velocity + other.mass * other.velocity == pytest.approx(0, abs=1e-9 * speed)


def thrown(shape: pl.Sphere | pl.Capsule | pl.Cylinder, speed: float) -> pl.Scene:
    """At a cloth that is pinned at its corners, turning, with a rope between them and a post behind."""
    scene = empty_scene()
    pinned_cloth(scene)
    motion = {"velocity": (0, 0, -speed), "angular_velocity": (15, 5, 0)}
    scene.add_rigid(shape, position=(0.03, 0.02, 0.2), density=300.0, **motion)
    points, edges = pl.shapes.rope(((-0.3, 0.03, 0.1), (0.3, 0.02, 0.11)), 16)
    scene.add_springs(points, edges, 1e3, 0.002)
    scene.add_capsule((0.03, 0.02, -0.5), (0.03, 0.02, -0.1), 0.01)
    return scene


@pytest.mark.slow
@pytest.mark.parametrize("speed", [10.0, 100.0])
@pytest.mark.parametrize("solver", [pl.VBD(20), pl.VBD(2), pl.AVBD(20)], ids=["VBD", "VBD2", "AVBD"])
@pytest.mark.parametrize(
    "shape", [pl.Sphere(0.05), pl.Capsule(0.03, 0.1), pl.Cylinder(0.04, 0.1)], ids=["sphere", "capsule", "cylinder"]
)
def test_nothing_passes_a_cloth(shape: pl.Sphere, solver: pl.Solver, speed: float) -> None:
    ipctk = pytest.importorskip("ipctk")
    sim = pl.Simulation(thrown(shape, speed), solver, threads=1)
    surface = sim._detector.colliders.surface
    mesh = ipctk.CollisionMesh(sim.model.positions, surface.edges, surface.triangles)
    for _ in range(20):
        sim.step()
        assert not ipctk.has_intersections(mesh, sim.state.x)
        if not isinstance(shape, pl.Cylinder):
            assert least_gap(sim) > 0


@pytest.mark.slow
@pytest.mark.parametrize("solver", [pl.VBD(20), pl.AVBD(20)], ids=["VBD", "AVBD"])
def test_round_bodies_rest(solver: pl.Solver) -> None:
    """A sphere, a lying capsule and a standing cylinder on a plane, half a second: where they are to be within a
    thickness, and hardly any point is held back.
    """
    scene = empty_scene(9.81)
    scene.add_rigid(pl.Sphere(0.05), position=(0, 0, 0.051))
    lying = rotations.from_vectors(np.array([[0, np.pi / 2, 0]]))[0]
    scene.add_rigid(pl.Capsule(0.05, 0.1), position=(0.3, 0, 0.051), orientation=lying)
    scene.add_rigid(pl.Cylinder(0.05, 0.1), position=(-0.3, 0, 0.051))
    scene.add_plane()
    sim = pl.Simulation(scene, solver, threads=1)
    for _ in range(150):
        report = sim.step()
    assert report.contact.furthest_held_back < 1e-4
    for body in scene.bodies:
        assert body.position[2] == pytest.approx(0.05, abs=2.5e-4)
        assert np.abs(body.velocity).max() < 5e-3


def test_a_rope_does_not_fall_through_a_sphere() -> None:
    """It is held at both ends and a ball of 1 kg falls on it: also without the guarantee the ball stays above."""
    scene = pl.Scene(contact=pl.Contact())
    points, edges = pl.shapes.rope(((-0.3, 0, 0), (0.3, 0, 0)), 12)
    scene.add_springs(points, edges, 1e4, 0.01).pin([0, 12])
    ball = scene.add_rigid(pl.Sphere(0.05), position=(0.0, 0, 0.07), density=500.0)
    sim = pl.Simulation(scene, pl.VBD(20), threads=1)
    for _ in range(40):
        sim.step()
    assert sim.state.x[6, 2] < -1e-3  # it carries the ball
    assert ball.position[2] - sim.state.x[6, 2] > 0.045


def test_starts_that_touch_are_refused() -> None:
    """A capsule that goes through a cloth far from its ends, and two spheres in each other."""
    scene = empty_scene()
    pinned_cloth(scene, 2)
    scene.add_rigid(pl.Capsule(0.01, 0.8), name="rod", position=(0.2, 0.13, 0.1))
    with pytest.raises(PliantError, match="rod"):
        pl.Simulation(scene, pl.VBD(2)).step()
    scene = empty_scene()
    for k in range(2):
        scene.add_rigid(pl.Sphere(0.05), position=(0.09 * k, 0, 0))
    with pytest.raises(PliantError, match="1 pairs touch or intersect"):
        pl.Simulation(scene, pl.VBD(2)).step()


def test_ropes_and_cores_are_among_what_obstacles_are_asked_for() -> None:
    """Also if the last vertex of the scene, a point that carries mass, touches nothing."""
    scene = thrown(pl.Sphere(0.05), 1.0)
    scene.add_rigid(pl.Sphere(0.02), position=(0, 0, 1.0))
    sim = pl.Simulation(scene, pl.VBD(2), threads=1)
    assert (sim._safe._faces[:, 2] < 0).sum() == 16 + 2
    assert sorted(set(sim._safe._radii)) == pytest.approx([0.0, 0.02, 0.05])
