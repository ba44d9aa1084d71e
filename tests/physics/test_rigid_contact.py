"""Rigid bodies in contact: rolling, sliding, sticking, stacking and bouncing, against the numbers of mechanics."""

import numpy as np
import pytest

import pliant as pl

G = 9.81
LYING = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)


def on_a_slope(degrees: float, friction: float) -> pl.Scene:
    """A level plane under gravity that is tilted: x is downhill."""
    angle = np.radians(degrees)
    scene = pl.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=friction)
    return scene


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "factor"), [(pl.Sphere(0.1), 5 / 7), (pl.Cylinder(0.1, 0.3), 2 / 3)], ids=["sphere", "cylinder"]
)
def test_what_rolls_down_a_slope_accelerates_as_it_should(shape, factor: float) -> None:
    """a = g sin(20 degrees) / (1 + I / m r^2) within 0.2 percent after 0.5 s, with the default settings."""
    scene = on_a_slope(20, friction=0.5)
    body = scene.add_rigid(shape, position=(0, 0, 0.1), orientation=LYING)
    sim = pl.Simulation(scene)
    for _ in range(30):
        sim.advance()
    expected = factor * G * np.sin(np.radians(20))
    assert body.velocity[0] / sim.time == pytest.approx(expected, rel=2e-3)
    assert body.angular_velocity[1] * 0.1 == pytest.approx(body.velocity[0], rel=2e-3)
    np.testing.assert_allclose(body.contact_force[2], body.mass * G * np.cos(np.radians(20)), rtol=3e-2)


def test_a_sliding_box_stops_where_friction_says() -> None:
    """v^2 / (2 mu g) within 1 percent, with the default settings."""
    scene = pl.Scene()
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.3)
    body = scene.add_rigid(pl.Box((0.4, 0.4, 0.2)), position=(0, 0, 0.1), velocity=(2, 0, 0))
    sim = pl.Simulation(scene)
    for _ in range(60):
        sim.advance()
    assert body.position[0] == pytest.approx(4 / (2 * 0.3 * G), rel=1e-2)
    assert np.linalg.norm(body.velocity) < 1e-3


def test_a_box_sticks_or_slides_at_the_angle_of_friction() -> None:
    """mu = 0.3: one percent below tan(angle) = mu it creeps no faster than the speed below which friction falls, 0.01
    sqrt(g edge); five percent above it accelerates by g (sin - mu cos).
    """
    speeds = {}
    for part in (0.99, 1.05):
        scene = on_a_slope(np.degrees(np.arctan(0.3 * part)), friction=0.3)
        body = scene.add_rigid(pl.Box((0.4, 0.4, 0.2)), position=(0, 0, 0.1))
        sim = pl.Simulation(scene)
        for _ in range(30):
            sim.advance()
        early = body.velocity[0]
        for _ in range(30):
            sim.advance()
        speeds[part] = early, body.velocity[0]
    angle = np.arctan(0.3 * 1.05)
    assert max(speeds[0.99]) < 0.01 * np.sqrt(G * 0.4)
    gained = (speeds[1.05][1] - speeds[1.05][0]) / 0.5
    assert gained == pytest.approx(G * (np.sin(angle) - 0.3 * np.cos(angle)), rel=0.05)


@pytest.mark.parametrize(("e", "rises"), [(0.0, 0.0), (0.5, 0.25), (0.8, 0.64)])
def test_a_ball_rises_to_the_square_of_its_restitution(e: float, rises: float) -> None:
    """e^2 H within 2 percent of H at the default step; what is missing halves with it."""
    scene = pl.Scene()
    scene.add_plane((0, 0, 0), (0, 0, 1))
    body = scene.add_rigid(pl.Sphere(0.1), position=(0, 0, 1.1), restitution=e)
    sim = pl.Simulation(scene)
    heights, has_hit = [], False
    for _ in range(330):
        sim.step()
        has_hit |= body.velocity[2] >= 0 and sim.time > 0.1
        if has_hit:
            heights.append(body.position[2] - 0.1)
    assert max(heights) == pytest.approx(rises, abs=0.02)
    assert min(heights) > -np.sqrt(2 * G) * sim.h / 3  # what a contact of 2 m / h^2 gives way by


def stack_of_ten() -> tuple[pl.Scene, list[pl.Body]]:
    """Flush unit cubes of 1000 kg."""
    scene = pl.Scene()
    scene.add_plane((0, 0, 0), (0, 0, 1))
    return scene, [scene.add_rigid(pl.Box((1, 1, 1)), position=(0, 0, k + 0.5)) for k in range(10)]


@pytest.mark.slow
def test_a_stack_of_ten_cubes_rests() -> None:
    """Ten seconds with the default solver: no cube is ever 1 mm away from where it began."""
    scene, bodies = stack_of_ten()
    sim = pl.Simulation(scene)
    for _ in range(600):
        sim.advance()
        places = np.array([body.position for body in bodies])
        np.testing.assert_allclose(places[:, :2], 0.0, atol=1e-3)
        np.testing.assert_allclose(places[:, 2], np.arange(10) + 0.5, atol=1e-3)


@pytest.mark.slow
def test_penalties_that_do_not_carry_a_stack_say_so(caplog) -> None:
    """Half a second of 8 iterations of block descent: the stack sinks in by more than 0.1 mm, and a warning says that
    steps end early. With 60 iterations they converge.
    """
    scene, bodies = stack_of_ten()
    sim = pl.Simulation(scene, pl.VBD(iterations=8))
    with caplog.at_level("WARNING", logger="pliant"):
        for _ in range(30):
            sim.advance()
    sunk = 9.5 - bodies[-1].position[2]
    assert 1e-4 < sunk < 1e-2
    assert "end before they have converged" in caplog.text


def test_a_capsule_rests_in_a_groove() -> None:
    """On the edges of two pinned boxes: forces add up to its weight, and its core keeps the radius from the edges."""
    scene = pl.Scene()
    for side in (-1, 1):
        scene.add_rigid(pl.Box((0.2, 1.0, 0.2)), position=(0.2 * side, 0, 0.1)).pin()
    rod = scene.add_rigid(pl.Capsule(0.15, 0.6), position=(0, 0, 0.2 + 0.1118), orientation=LYING)
    scene.contact = pl.Contact(friction=0.5)
    sim = pl.Simulation(scene)
    for _ in range(60):
        sim.advance()
    np.testing.assert_allclose(rod.contact_force, (0, 0, rod.mass * G), atol=0.02 * rod.mass * G)
    # the core stays 0.15 m away from the edges at (+-0.1, 0.2)
    assert np.hypot(0.1, rod.position[2] - 0.2) == pytest.approx(0.15, abs=2e-4)
    assert abs(rod.position[0]) < 1e-3


def test_fast_balls_do_not_pass_through_sheets_or_boxes() -> None:
    """A ball that moves by four radii per step meets a pinned thin box and stays before it."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_rigid(pl.Box((0.01, 1, 1))).pin()
    ball = scene.add_rigid(pl.Sphere(0.05), position=(-0.5, 0.1, 0.2), velocity=(60, 0, 0))
    scene.contact = pl.Contact(stiffness=1e7)
    sim = pl.Simulation(scene)
    for _ in range(10):
        sim.step()
    assert ball.position[0] < 0
    assert abs(ball.velocity[0]) < 1.0


def test_boxes_with_flush_sides_stand_on_each_other() -> None:
    """Five boxes with gaps of 1 mm, corner above corner: after a second their centres are at rest heights to 0.2 mm."""
    scene = pl.Scene()
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    boxes = [
        scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), density=500.0, position=(0, 0, 0.1 + 0.201 * k)) for k in range(5)
    ]
    sim = pl.Simulation(scene, pl.VBD(iterations=20))
    for _ in range(60):
        sim.advance()
    np.testing.assert_allclose([box.position[2] for box in boxes], 0.1 + 0.2 * np.arange(5), atol=2e-4)
    np.testing.assert_allclose([box.position[:2] for box in boxes], 0.0, atol=1e-3)
