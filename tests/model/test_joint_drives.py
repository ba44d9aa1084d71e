"""Limits, springs, dampers and motors of hinges and sliders, and joints that break: numbers from theory."""

import numpy as np
import pytest
from scipy.optimize import brentq

import pliant as pl
from pliant.elements import reference
from pliant.elements.joint_drive import JointAngles, JointSlides
from pliant.elements.joint_length import JointLengths
from pliant.elements.registry import element_of
from pliant.geometry import rotations
from pliant.scenes.files import load_scene, save_scene

G = 9.81
EPS = 1e-6


def rod_on_a_hinge(gravity: float = G, **options) -> tuple[pl.Scene, pl.Body, pl.Joint]:
    """A rod of 1 m and 1 kg, held level at one end; positive angles lower its other end."""
    scene = pl.Scene(gravity=(0, 0, -gravity))
    rod = scene.add_rigid(pl.Box((1.0, 0.1, 0.1)), density=100.0, position=(0.5, 0, 0))
    return scene, rod, scene.add_joint("hinge", rod, None, point=(0, 0, 0), axis=(0, 1, 0), **options)


def random_rows(kind: type, m: int = 30) -> tuple:
    """Rows at random corners, about half of them beyond a bound."""
    rng = np.random.default_rng(3)
    between = [rng.uniform(low, high, m) for low, high in ((-3, 3), (-1, 1), (1, 5), (-2, 0), (0, 2))]
    names = ("offset", "rest", "stiffness", "lowest", "highest")
    corners = 2 if kind is JointLengths else 4
    block = kind(
        np.arange(corners * m).reshape(m, corners), *[np.zeros(m)] * 7, **dict(zip(names, between, strict=True))
    )
    return block, rng.normal(size=(corners * m, 3))


@pytest.mark.parametrize("kind", [JointAngles, JointSlides, JointLengths])
def test_forces_and_hessians_are_derivatives(kind: type) -> None:
    block, x = random_rows(kind)
    element, m = element_of(block), len(block.elements)
    g, H = reference.gradients(element, block, x), reference.hessians(element, block, x)
    size = 3 * element.corners
    for k in range(size):
        d = np.zeros((m, size))
        d[:, k] = EPS
        d = d.reshape(-1, 3)
        slope = (reference.energies(element, block, x + d) - reference.energies(element, block, x - d)) / (2 * EPS)
        np.testing.assert_allclose(g.reshape(m, size)[:, k], slope, atol=1e-7)
        bend = (reference.gradients(element, block, x + d) - reference.gradients(element, block, x - d)) / (2 * EPS)
        np.testing.assert_allclose(H[:, :, k], bend.reshape(m, size), atol=1e-6)


@pytest.mark.parametrize("kind", [JointAngles, JointSlides, JointLengths])
def test_energies_do_not_change_with_rigid_motions(kind: type) -> None:
    block, x = random_rows(kind)
    element, turn = element_of(block), rotations.matrices(np.array([0.1, 0.7, -0.5, 0.5]))
    moved = x @ turn.T + np.array([3.0, -1.0, 2.0])
    np.testing.assert_allclose(
        reference.energies(element, block, moved), reference.energies(element, block, x), rtol=1e-9, atol=1e-12
    )


def test_the_angle_is_that_of_the_first_body_about_the_axis() -> None:
    block, _ = random_rows(JointAngles, 1)
    arm = lambda angle: (np.cos(angle), np.sin(angle), 0.3)  # noqa: E731
    for angle in (-3.0, -0.4, 0.0, 2.5, 3.1):
        x = np.array([(0, 0, -1.0), (0, 0, 1.0), arm(0.2), arm(0.2 + angle)])
        assert block.coordinates(x)[0] == pytest.approx(angle, abs=1e-12)


@pytest.mark.slow
def test_a_pendulum_stays_at_its_limit() -> None:
    """AVBD, single precision: the stop at 0.5 rad to 1e-4 rad, and the hinge carries the weight to 1 percent."""
    scene, rod, joint = rod_on_a_hinge(limits=(-0.2, 0.5))
    sim = pl.Simulation(scene, pl.AVBD())
    largest = 0.0
    for _ in range(60):
        sim.advance()
        largest = max(largest, joint.position)
    assert joint.position == pytest.approx(0.5, abs=1e-4)
    assert largest < 0.5 + 0.02  # the first step beyond it
    assert joint.speed == pytest.approx(0.0, abs=1e-3)
    np.testing.assert_allclose(joint.force, (0, 0, rod.mass * G), atol=0.01 * rod.mass * G)


def test_a_motor_turns_at_its_speed_and_no_harder_than_it_may() -> None:
    """omega = tau t / I until 3 rad/s; then another command, without building anything: a torque of -2 N m."""
    scene, rod, joint = rod_on_a_hinge(gravity=0, motor=pl.Motor(speed=3.0, max_torque=4.0))
    inertia = (1.0 + 0.01) / 12 + 0.25  # of the rod about its end
    sim = pl.Simulation(scene, pl.AVBD())
    tables = sim._work
    for _ in range(6):
        sim.advance()
    assert joint.speed == pytest.approx(4.0 * 0.1 / inertia, rel=1e-3)
    for _ in range(18):
        sim.advance()
    assert joint.speed == pytest.approx(3.0, rel=1e-4)
    assert rod.angular_velocity[1] == pytest.approx(3.0, rel=1e-4)
    joint.motor = pl.Motor(torque=-2.0)
    for _ in range(6):
        sim.advance()
    assert joint.speed == pytest.approx(3.0 - 2.0 * 0.1 / inertia, rel=5e-3)
    joint.motor = pl.Motor(angle=1.0, speed=2.0)
    for _ in range(180):
        sim.advance()
    assert joint.position == pytest.approx(1.0, abs=1e-4)
    assert sim._work is tables


@pytest.mark.slow
def test_a_spring_and_damper_hold_the_rod_where_torques_balance() -> None:
    """k q = m g L/2 cos(q), to 1e-4 rad."""
    scene, rod, joint = rod_on_a_hinge(spring=10.0, damping=3.0, rest=0.1)
    sim = pl.Simulation(scene, pl.AVBD())
    for _ in range(240):
        sim.advance()
    angle = brentq(lambda q: 10.0 * (q - 0.1) - 0.5 * rod.mass * G * np.cos(q), 0, 1.5)
    assert joint.position == pytest.approx(angle, abs=1e-4)


@pytest.mark.slow
def test_a_slider_ends_at_its_limit_and_a_motor_lifts_it_between_two_bodies() -> None:
    scene = pl.Scene()
    base = scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), position=(1, 0, 0))
    base.pin()
    box = scene.add_rigid(pl.Box((0.2, 0.2, 0.2)))
    joint = scene.add_joint(
        "slider", box, base, point=(0, 0, 0), axis=(0, 0, 1), limits=(-0.1, 0.5), motor=pl.Motor(torque=0.0)
    )
    sim = pl.Simulation(scene, pl.AVBD())
    for _ in range(60):
        sim.advance()
    assert joint.position == pytest.approx(-0.1, abs=3e-4)
    np.testing.assert_allclose(joint.force, (0, 0, box.mass * G), atol=0.01 * box.mass * G)
    start = joint.position
    joint.motor = pl.Motor(speed=0.2)
    for _ in range(60):
        sim.advance()
    assert joint.position - start == pytest.approx(0.2, abs=1e-3)
    assert joint.speed == pytest.approx(0.2, rel=1e-3)


@pytest.mark.slow
def test_a_joint_breaks_at_its_force_and_the_body_falls(tmp_path) -> None:
    """A pull that grows by 100 N/s reaches 30 N over the weight at 0.3 s, to two steps; after that a = g + F / m. The
    same bits after a checkpoint between, and whole again after reset.
    """
    scene = pl.Scene()
    box = scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), position=(0, 0, -0.5))
    joint = scene.add_joint("ball", box, None, point=(0, 0, 0), break_force=box.mass * G + 30.0)
    scene.gravity = (0, 0, -G)
    box.add_force(pull)
    sim = pl.Simulation(scene, pl.AVBD())
    while not joint.is_broken:
        assert sim.time < 0.4
        sim.step()
    assert sim.time == pytest.approx(0.3, abs=2.01 * sim.h)
    assert np.linalg.norm(joint.force) == pytest.approx(box.mass * G + 30.0, rel=0.01)
    broke, speed = sim.time, box.velocity[2]
    sim.save(tmp_path / "run.npz")
    resumed = pl.Simulation.resume(tmp_path / "run.npz", forces={"rigid0": [pull]})
    for _ in range(6):
        sim.advance()
        resumed.advance()
    assert np.array_equal(sim.state.x, resumed.state.x)
    t = sim.time
    fall = -G * (t - broke) - 50.0 * (t**2 - broke**2) / box.mass
    assert box.velocity[2] - speed == pytest.approx(fall, rel=0.02)
    assert resumed.scene.joints[0].is_broken
    sim.reset()
    sim.advance()
    assert not joint.is_broken
    assert joint.force[2] == pytest.approx(box.mass * G, rel=0.05)


def pull(x: np.ndarray, v: np.ndarray, t: float) -> tuple[float, float, float]:
    return (0.0, 0.0, -100.0 * t)


@pytest.mark.slow
@pytest.mark.parametrize("solver", [pl.VBD(iterations=400), pl.Newton(iterations=4)], ids=["VBD", "Newton"])
def test_soft_solvers_drive_and_stop_joints_too(solver) -> None:
    """Limit, motor and spring in one scene of double precision: 1e-3 of each."""
    scene, _, stop = rod_on_a_hinge(limits=(-0.2, 0.5))
    turns = scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), position=(0, 5, 0))
    motor = scene.add_joint("hinge", turns, None, point=(0, 5, 0), axis=(0, 0, 1), motor=pl.Motor(speed=2.0))
    hangs = scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), position=(0, -5, 0))
    spring = scene.add_joint("slider", hangs, None, point=(0, -5, 0), axis=(0, 0, 1), spring=1000.0, damping=200.0)
    sim = pl.Simulation(scene, solver, precision="double", substeps=2)
    for _ in range(80):
        sim.advance()
    assert stop.position == pytest.approx(0.5, abs=1e-3)
    assert motor.speed == pytest.approx(2.0, rel=1e-3)
    assert spring.position == pytest.approx(-hangs.mass * G / 1000.0, rel=1e-3)


@pytest.mark.slow
def test_vertex_block_descent_reaches_newtons_minimiser_with_drives() -> None:
    """Two rods with a limit that is hit, a motor at its bound, a spring and a damper: 1e-6 of their length."""
    scene = pl.Scene()
    rods = [scene.add_rigid(pl.Capsule(0.03, 0.2), position=(0, 0, -0.3 * k), velocity=(2, 0, 0)) for k in range(3)]
    scene.add_joint("hinge", rods[0], None, (0, 0, 0.15), (0, 1, 0), limits=(-0.001, 0.001), stiffness=1e5)
    scene.add_joint("hinge", rods[1], rods[0], (0, 0, -0.15), (0, 1, 0), motor=pl.Motor(speed=9, max_torque=0.1))
    scene.add_joint("slider", rods[2], rods[1], (0, 0, -0.45), (0, 0, 1), spring=500.0, damping=20.0, rest=0.01)
    problem = pl.Simulation(scene, pl.Newton(), precision="double").problem()
    exact = pl.solve(problem, pl.Newton(iterations=60), measure_every=60)
    report = pl.solve(problem, pl.VBD(iterations=6000), measure_every=6000)
    assert exact.residual < 1e-6
    assert np.abs(exact.x - problem.x_guess).max() > 1e-4
    assert np.abs(report.x - exact.x).max() < 1e-6 * 0.3


def test_drives_come_back_from_a_scene_file(tmp_path) -> None:
    scene, _, _ = rod_on_a_hinge(limits=(-1.0, 2.0), spring=3.0, damping=0.5, rest=0.2, break_force=1e4,
                                 motor=pl.Motor(angle=0.5, speed=2.0, max_torque=7.0))  # fmt: skip
    save_scene(scene, tmp_path / "scene.toml")
    (again,), (joint,) = load_scene(tmp_path / "scene.toml").joints, scene.joints
    assert (again.drive, again.break_force, again.corners) == (joint.drive, joint.break_force, joint.corners)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"limits": (1.0, -1.0)}, "lower one comes first"),
        ({"limits": (0.5, 1.0)}, "must be within"),
        ({"limits": (-4.0, 4.0)}, "less than a full turn"),
        ({"limits": 3}, "two numbers"),
        ({"spring": -1.0}, "spring is -1"),
        ({"damping": float("nan")}, "damping is nan"),
        ({"rest": 0.3}, "rest belongs to a spring"),
        ({"motor": 3.0}, "give pl.Motor"),
        ({"break_force": 0.0}, "break_force"),
    ],
)
def test_what_is_refused(options: dict, words: str) -> None:
    with pytest.raises(pl.SceneError, match=words):
        rod_on_a_hinge(**options)


def test_refused_motors_and_kinds() -> None:
    for options in ({}, {"torque": 1.0, "speed": 1.0}, {"angle": 1.0, "speed": -1.0}, {"speed": 1, "max_torque": 0}):
        with pytest.raises(pl.SceneError, match="Motor: "):
            pl.Motor(**options)
    scene, rod, joint = rod_on_a_hinge(limits=(-1, 1))
    with pytest.raises(pl.SceneError, match="has no motor"):
        joint.motor = pl.Motor(speed=1.0)
    with pytest.raises(pl.SceneError, match="belong to a hinge, a slider or a distance"):
        scene.add_joint("ball", rod, None, point=(1, 0, 0), limits=(-1, 1))


def test_a_file_joins_a_body_that_a_motion_moves(tmp_path) -> None:
    """As a gripper's jaw on a hand that is lifted: joints add their points before the motion takes all of them."""
    scene = pl.Scene()
    hand = scene.add_rigid(pl.Box((0.4, 0.1, 0.1)), position=(0, 0, 1), name="hand")
    jaw = scene.add_rigid(pl.Box((0.1, 0.1, 0.3)), position=(0.1, 0, 0.8), name="jaw")
    scene.add_joint("slider", jaw, hand, point=(0.1, 0, 0.95), axis=(1, 0, 0))
    hand.move(pl.motions.Slide.rigid(velocity=(0, 0, 0.5), seconds=2.0))
    save_scene(scene, tmp_path / "scene.toml")
    again = load_scene(tmp_path / "scene.toml")
    assert [joint.kind for joint in again.joints] == ["slider"]
    own = next(body for body in again.bodies if body.name == "hand")
    (vertices, motion), *_ = own.motions
    assert len(vertices) == own.n_vertices
    np.testing.assert_allclose(motion(2.0), own.initial_positions + np.array([0, 0, 1.0]))
