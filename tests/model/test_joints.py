"""Joints between rigid bodies: what they leave free, what they hold, and what is refused."""

import numpy as np
import pytest

import pliant as pl
from pliant.elements.joint import JointDots, dot_measure
from pliant.geometry import rotations

G = 9.81


def test_a_pendulum_swings_with_its_period_on_a_hinge() -> None:
    """Half a period of a ball on a hinge, 2 pi sqrt(I / (m g L)) / 2 with the amplitude, within 1 %."""
    scene = pl.Scene()
    ball = scene.add_rigid(pl.Sphere(0.05), position=(np.sin(0.2), 0, -np.cos(0.2)))
    scene.add_joint("hinge", ball, None, point=(0, 0, 0), axis=(0, 1, 0))
    sim = pl.Simulation(scene, pl.VBD(iterations=30), frame_rate=100, substeps=2)
    x = []
    for _ in range(320):
        sim.step()
        x.append(ball.position[0])
    signs = np.flatnonzero(np.diff(np.sign(x)))
    half = (signs[1] - signs[0]) * sim.h
    assert half == pytest.approx(np.pi * np.sqrt((1 + 0.4 * 0.0025) / G) * (1 + 0.04 / 16), rel=0.01)
    assert np.linalg.norm(ball.position) == pytest.approx(1.0, abs=1e-4)
    assert abs(ball.position[1]) < 1e-6


def test_what_joints_leave_free() -> None:
    """Boxes that spin and move on a slider, a universal joint and a fixed one, and one on a rope."""
    scene = pl.Scene()
    box = pl.Box((0.2, 0.2, 0.2))
    slides = scene.add_rigid(box, angular_velocity=(1, 2, 3), velocity=(0.3, 0, 0))
    scene.add_joint("slider", slides, None, point=(0, 0, 0), axis=(0, 0, 1))
    stays = scene.add_rigid(box, position=(2, 0, 0))
    other = scene.add_rigid(box, position=(2, 0, -0.3), angular_velocity=(0, 0, 1))
    scene.add_joint("fixed", stays, None, point=(2, 0, 0))
    scene.add_joint("fixed", other, stays, point=(2, 0, -0.15))
    spins = scene.add_rigid(box, position=(4, 0, 0), angular_velocity=(0, 0, 2))
    scene.add_joint("universal", spins, None, point=(4, 0, 0.1), axis=(0, 0, 1))
    hangs = scene.add_rigid(box, position=(6, 0, 0))
    scene.add_joint("distance", hangs, None, point=(6, 0, 0.1), other_point=(6, 0, 0.5), length=0.6)
    sim = pl.Simulation(scene, pl.VBD(iterations=40))
    for _ in range(60):
        sim.advance()
    np.testing.assert_allclose(slides.position[:2], 0, atol=1e-3)
    assert slides.position[2] == pytest.approx(-0.5 * G, rel=0.03)
    for body in (slides, stays, other):
        assert abs(body.orientation[0]) > 1 - 1e-4
    np.testing.assert_allclose(other.position, (2, 0, -0.3), atol=1e-3)
    np.testing.assert_allclose(spins.position, (4, 0, 0), atol=1e-3)
    np.testing.assert_allclose(spins.angular_velocity, (0, 0, 2), atol=0.02)
    end = hangs.position + rotations.matrices(hangs.orientation) @ (0, 0, 0.1)
    assert np.linalg.norm(end - (6, 0, 0.5)) <= 0.6 + 1e-3


@pytest.mark.slow
def test_vertex_block_descent_reaches_newtons_minimiser_with_joints() -> None:
    """Three rods on joints of every sort, 1e-6 of their length."""
    scene = pl.Scene()
    rods = [scene.add_rigid(pl.Capsule(0.03, 0.2), position=(0, 0, -0.3 * k), velocity=(k, 0, 0)) for k in range(4)]
    scene.add_joint("hinge", rods[0], None, point=(0, 0, 0.15), axis=(0, 1, 0))
    scene.add_joint("universal", rods[0], rods[1], point=(0, 0, -0.15), axis=(0, 0, 1))
    scene.add_joint("slider", rods[1], rods[2], point=(0, 0, -0.45), axis=(0, 0, 1), stiffness=1e5)
    scene.add_joint("distance", rods[2], rods[3], point=(0, 0, -0.75), other_point=(0, 0, -0.76), one_sided=False)
    problem = pl.Simulation(scene, pl.Newton(), precision="double").problem()
    exact = pl.solve(problem, pl.Newton(iterations=60), measure_every=60)
    report = pl.solve(problem, pl.VBD(iterations=3000), measure_every=3000)
    assert exact.residual < 1e-6
    assert np.abs(exact.x - problem.x_guess).max() > 1e-4
    assert np.abs(report.x - exact.x).max() < 1e-6 * 0.3


def test_the_measure_of_directions_has_its_derivatives() -> None:
    rng = np.random.default_rng(2)
    x, step, eps = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), 1e-6

    def at(y: np.ndarray):
        return dot_measure(tuple(map(tuple, y)), 1.0)

    slope = (at(x + eps * step)[0] - at(x - eps * step)[0]) / (2 * eps)
    assert np.sum(np.array(at(x)[1]) * step) == pytest.approx(slope, rel=1e-8)
    assert JointDots.energy_name == "joint"


def test_an_attachment_holds_a_rigid_body_at_a_point() -> None:
    """A ball on a soft spring of 100 N/m at its top sinks by m g / k."""
    scene = pl.Scene()
    ball = scene.add_rigid(pl.Sphere(0.05))
    held = scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1))
    held.pin()
    scene.attach(ball, [ball.point((0, 0, 0.05))], held, [held.point((0, 0, 0.05))], stiffness=100.0)
    ball.air_damping = 5.0
    sim = pl.Simulation(scene, pl.VBD(iterations=20))
    for _ in range(180):
        sim.advance()
    assert ball.position[2] == pytest.approx(-ball.mass * G / 100, rel=1e-3)


def test_what_is_refused() -> None:
    scene = pl.Scene()
    ball, other = scene.add_rigid(pl.Sphere(0.1), name="ball"), pl.Scene().add_rigid(pl.Sphere(0.1), name="stranger")
    at = {"point": (0, 0, 0)}
    for arguments, options, match in (
        (("screw", ball, None), at, "kind is 'screw': choose one of ball"),
        (("ball", ball, other), at, "'stranger' is not a rigid body of this scene"),
        (("ball", ball, ball), at, "joins ball with itself"),
        (("hinge", ball, None), at, "the axis is missing"),
        (("hinge", ball, None), {**at, "axis": (0, 0, 0)}, "axis is .*give a vector with a direction"),
        (("ball", ball, None), {**at, "stiffness": -1.0}, "stiffness is -1.0"),
        (("distance", ball, None), at, "length is 0.0: it must be positive"),
        (("ball", ball, None), {**at, "length": 1.0}, "belong to a distance"),
    ):
        with pytest.raises(pl.SceneError, match=match):
            scene.add_joint(*arguments, **options)
    assert not scene.joints
    assert len(scene.bodies) == 1
