"""Static shapes with rigid spheres and capsules: free ones roll to where they touch, pinned ones are obstacles."""

import numpy as np
import pytest

import pliant as pl

G, RADIUS = 9.81, 0.05


def ball_above(scene: pl.Scene) -> pl.Body:
    ball = scene.add_rigid(pl.Sphere(RADIUS), position=(0, 0, RADIUS + 0.002), density=300.0, name="ball")
    scene.contact = pl.Contact(friction=0.3)
    return ball


def test_a_ball_comes_to_rest_on_a_plane():
    """It falls by the 2 mm that it starts above, and no further than what it sinks in."""
    scene = pl.Scene()
    plane = scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.3)
    ball = ball_above(scene)
    found = pl.equilibrium(scene)
    assert found.report.converged
    assert plane.contact_force == pytest.approx([0, 0, -ball.mass * G], abs=1e-6 * ball.mass * G)
    assert ball.position == pytest.approx([0, 0, RADIUS], abs=1e-4)
    assert ball.position[2] < RADIUS


def test_a_ball_hangs_in_a_net():
    """The rim of the sheet carries both weights; the ball is in the middle, a radius above the lowest of the sheet."""
    scene = pl.Scene()
    mesh = pl.shapes.cloth((0.4, 0.4), (12, 12))
    sheet = scene.add_cloth(mesh, pl.StableNeoHookean(2e4, 2e4), name="sheet")
    sheet.pin(np.abs(mesh.points[:, :2]).max(axis=1) > 0.199)
    ball = ball_above(scene)
    found = pl.equilibrium(scene)
    assert found.report.converged
    weight = (ball.mass + sheet.masses.sum()) * G
    assert found.reaction_force(sheet) == pytest.approx([0, 0, weight], abs=1e-4 * weight)
    assert ball.contact_force == pytest.approx([0, 0, ball.mass * G], abs=1e-4 * weight)
    assert ball.position[:2] == pytest.approx([0, 0], abs=1e-3)
    thickness = 0.5 * 0.1 * 0.4 / 12 * (2 + np.sqrt(2)) / 3
    assert ball.position[2] - sheet.positions[:, 2].min() == pytest.approx(RADIUS + thickness, abs=thickness)


def rope_over(pin: str) -> tuple[pl.Scene, pl.Body]:
    """A rope of 1 m, 2 cm above a pulley of 0.1 m: an obstacle, or a rigid capsule that is pinned."""
    scene, n = pl.Scene(), 20
    points = np.stack([np.linspace(-0.45, 0.55, n + 1), np.zeros(n + 1), np.full(n + 1, 0.12)], axis=1)
    edges = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
    rope = scene.add_springs(points, edges, stiffness=2e3, mass=0.005, name="rope")
    rope.friction = 1.0
    if pin == "obstacle":
        pulley = scene.add_capsule((0, -0.3, 0), (0, 0.3, 0), 0.1, friction=1.0)
    else:
        turn = np.array([1.0, 1.0, 0.0, 0.0]) / np.sqrt(2)
        pulley = scene.add_rigid(pl.Capsule(0.1, 0.6), orientation=turn, name="pulley")
        pulley.friction = 1.0
        pulley.pin()
    scene.contact = pl.Contact()
    return scene, pulley


@pytest.mark.slow
def test_a_pinned_capsule_is_an_obstacle():
    """It carries the rope as an obstacle does, and contacts name the body."""
    shapes = []
    for pin in ("obstacle", "body"):
        scene, pulley = rope_over(pin)
        found = pl.equilibrium(scene)
        assert found.report.converged
        weight = 21 * 0.005 * G
        assert pulley.contact_force == pytest.approx([0, 0, -weight], abs=1e-4 * weight)
        shapes.append(found.positions_of(scene.bodies[0]))
    assert shapes[1] == pytest.approx(shapes[0], abs=1e-6)
    pairs = found.contacts.pairs
    assert [(pair.body, pair.other, pair.obstacle) for pair in pairs] == [(0, 1, -1)]
    assert found.contacts.obstacle_forces.shape == (0, 3)
