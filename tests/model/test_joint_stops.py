"""Limits of balls, universals and distances, and joints of rigid bodies with vertices of soft ones."""

import numpy as np
import pytest

import pliant as pl
from pliant.geometry import rotations
from pliant.scenes.files import load_scene, save_scene

G = 9.81
BOX = pl.Box((0.2, 0.2, 0.2))


def bar_on_a_ball(scene: pl.Scene, x: float = 0.0, **options) -> tuple[pl.Body, pl.Joint]:
    """A bar of 0.4 m that stands on its joint with the world, axis upwards."""
    bar = scene.add_rigid(pl.Box((0.1, 0.1, 0.4)), position=(x, 0, 0.2))
    return bar, scene.add_joint("ball", bar, None, point=(x, 0, 0), axis=(0, 0, 1), **options)


def turned(body: pl.Body, *vectors: tuple[float, ...]) -> None:
    """Show a body as turned by rotation vectors, the last one first."""
    turn = np.array([1.0, 0, 0, 0])
    for vector in vectors:
        turn = rotations.products(turn, rotations.from_vectors(np.array(vector, float)))
    body._state = lambda: (np.concatenate([body.pose[:3], turn]), np.zeros(6))


def test_angles_are_those_of_turned_bodies() -> None:
    """A ball turned by 0.4 across and -0.3 along its axis; bend 0.7 and twist 0.5 of a universal."""
    scene = pl.Scene()
    bar, joint = bar_on_a_ball(scene)
    assert joint.angles == pytest.approx((0.0, 0.0))
    for axis in ((0.4, 0, 0), (0, 0.4, 0)):
        turned(bar, axis, (0, 0, -0.3))
        assert joint.angles[0] == pytest.approx(0.4)
        assert joint.angles[1] == pytest.approx(-0.3, abs=np.arctan(np.tan(0.2) ** 2))  # as joint_stops states
    box = scene.add_rigid(BOX)
    joint = scene.add_joint("universal", box, None, point=(0, 0, 0), axis=(0, 0, 1))
    turned(box, 0.7 * np.cross((1.0, 0, 0), (0, 0, 1)), (0, 0, 0.5))
    assert joint.angles == pytest.approx((0.7, 0.5), abs=1e-12)


@pytest.mark.slow
def test_balls_and_universals_stop_at_their_limits() -> None:
    """AVBD, single precision. A bar that falls over stops at its cone of 0.5 rad, to 1e-3, and stays; one that spins
    stops at a twist of 0.3; a universal's bend and twist at theirs.
    """
    scene = pl.Scene(gravity=(3.0, 0, -G))
    falls, cone = bar_on_a_ball(scene, cone=0.5, twist=(-0.3, 0.3))
    spins, twist = bar_on_a_ball(scene, 2.0, cone=0.2, twist=(-0.4, 0.3))
    spins.add_force(torque_upwards)
    bends = scene.add_rigid(pl.Box((0.1, 0.1, 0.4)), position=(4, 0, 0.2))
    bent = scene.add_joint(
        "universal", bends, None, point=(4, 0, 0), axis=(0, 0, 1), limits=(-0.6, 0.6), twist=(-1, 0.2)
    )
    bends.add_force(torque_upwards)
    sim = pl.Simulation(scene, pl.AVBD())
    largest = 0.0
    for _ in range(90):
        sim.advance()
        largest = max(largest, cone.angles[0])
    assert cone.angles[0] == pytest.approx(0.5, abs=1e-3)
    assert largest < 0.5 + 0.02  # the first step beyond it
    assert falls.angular_velocity == pytest.approx((0, 0, 0), abs=1e-2)
    assert twist.angles == pytest.approx((0.2, 0.3), abs=1e-3)
    assert abs(bent.angles[0]) == pytest.approx(0.6, abs=1e-3)
    assert bent.angles[1] == pytest.approx(0.2, abs=1e-3)
    np.testing.assert_allclose(cone.force, falls.mass * np.array([-3.0, 0, G]), atol=0.02 * falls.mass * G)


def torque_upwards(x: np.ndarray, v: np.ndarray, t: float) -> tuple:
    return ((0, 0, 0), (0, 0, 0.05))


@pytest.mark.slow
def test_distances_have_limits_springs_and_winches() -> None:
    """A ball that falls away stops at 0.6 m, one that is thrown at the point stops at 0.2 m, to 1e-4; one on a spring
    hangs at rest + m g / k, one on a winch comes up at its speed.
    """
    scene = pl.Scene()
    ball = pl.Sphere(0.05)

    def hung(x: float, **options) -> tuple[pl.Body, pl.Joint]:
        body = scene.add_rigid(ball, position=(x, 0, -0.4))
        return body, scene.add_joint("distance", body, None, point=(x, 0, -0.4), other_point=(x, 0, 0), **options)

    _, falls = hung(0, limits=(0.2, 0.6))
    pushed, stops = hung(1, limits=(0.2, 0.6))
    pushed.add_force(lifts)
    body, spring = hung(2, spring=100.0, damping=5.0)
    _, winch = hung(3, motor=pl.Motor(speed=-0.1))
    sim = pl.Simulation(scene, pl.AVBD())
    for _ in range(20):
        sim.advance()
    assert stops.position == pytest.approx(0.2, abs=1e-4)  # later it turns aside, as what stands on a strut does
    for _ in range(100):
        sim.advance()
    assert falls.position == pytest.approx(0.6, abs=1e-4)
    assert spring.position == pytest.approx(0.4 + body.mass * G / 100.0, abs=1e-4)
    assert winch.position == pytest.approx(0.4 - 0.1 * sim.time, abs=1e-3)
    assert winch.speed == pytest.approx(-0.1, rel=1e-2)
    np.testing.assert_allclose(falls.force, (0, 0, body.mass * G), atol=0.01 * body.mass * G)


def lifts(x: np.ndarray, v: np.ndarray, t: float) -> tuple:
    return (0.0, 0.0, 20.0)


@pytest.mark.slow
def test_vertex_block_descent_reaches_newtons_minimiser_at_stops() -> None:
    """A cone, a twist, a bend and both limits of distances, all beyond their limits in a step: 1e-6 of their size."""
    scene = pl.Scene()
    own = {"stiffness": 1e5, "axis": (0, 0, 1)}
    first = scene.add_rigid(pl.Capsule(0.03, 0.2), position=(0, 0, 0.15), angular_velocity=(3, 2, 4))
    scene.add_joint("ball", first, None, point=(0, 0, 0), cone=0.01, twist=(-0.001, 0.001), **own)
    other = scene.add_rigid(pl.Capsule(0.03, 0.2), position=(0, 0, 0.45), angular_velocity=(-2, 3, -4))
    scene.add_joint("universal", other, first, point=(0, 0, 0.3), limits=(-0.001, 0.001), twist=(-0.001, 0.1), **own)
    for k, speed in enumerate((-2.0, 2.0)):
        body = scene.add_rigid(pl.Sphere(0.05), position=(1.0 + k, 0, 0), velocity=(0, 0, speed))
        scene.add_joint(
            "distance",
            body,
            None,
            (1.0 + k, 0, 0),
            other_point=(1.0 + k, 0.1, 0.5),
            limits=(0.508, 0.512),
            stiffness=1e5,
        )
    problem = pl.Simulation(scene, pl.Newton(), precision="double").problem()
    exact = pl.solve(problem, pl.Newton(iterations=60), measure_every=60)
    report = pl.solve(problem, pl.VBD(iterations=6000), measure_every=6000)
    assert exact.residual < 1e-6
    assert np.abs(exact.x - problem.x_guess).max() > 1e-3
    assert np.abs(report.x - exact.x).max() < 1e-6 * 0.3


def soft_block(scene: pl.Scene) -> pl.Body:
    """A soft cube of 0.4 m between (0, 0, 0) and (0.4, 0.4, 0.4)."""
    mesh = pl.shapes.box((0.4, 0.4, 0.4), (1, 1, 1))
    law = pl.StableNeoHookean.from_young(1e5, 0.3)
    return scene.add_solid(pl.TetMesh(mesh.points - mesh.points.min(axis=0), mesh.tets), law)


def corner(soft: pl.Body, *place: float) -> int:
    return int(np.argmin(np.linalg.norm(soft.initial_positions - place, axis=1)))


@pytest.mark.slow
def test_joints_hold_vertices_of_soft_bodies(tmp_path) -> None:
    """Vertices of a pinned block are the world. Without a named solver, after 0.3 s: a rod on a hinge turns as one on
    a hinge of the world does, to 1e-3 rad; a ball is at the end of its rope, a box at the limit of its slider, to
    0.1 mm; a fixed box stays. The same from a scene file, to 1e-5.
    """
    scene = pl.Scene(contact=None)
    soft = soft_block(scene)
    soft.pin(np.arange(soft.n_vertices))
    rods = [scene.add_rigid(pl.Box((0.4, 0.3, 0.1)), position=(0.2 + x, 0.55, 0.4)) for x in (0, 5)]
    edge = [corner(soft, x, 0.4, 0.4) for x in (0, 0.4)]
    scene.add_joint("hinge", rods[0], soft, vertices=edge)
    scene.add_joint("hinge", rods[1], None, point=(5.2, 0.4, 0.4), axis=(1, 0, 0))
    ball = scene.add_rigid(pl.Sphere(0.05), position=(0, 0, -0.3))
    rope = scene.add_joint("distance", ball, soft, point=(0, 0, -0.3), vertices=[corner(soft, 0, 0, 0)], length=0.35)
    box = scene.add_rigid(BOX, position=(0.7, 0.0, 0.2))
    way = scene.add_joint("slider", box, soft, vertices=[corner(soft, 0.4, 0, 0.4)], axis=(0, 0, 1), limits=(-0.1, 0.1))
    fixed = scene.add_rigid(BOX, position=(-0.3, 0.2, 0.2))
    scene.add_joint("fixed", fixed, soft, vertices=[corner(soft, 0, *place) for place in ((0, 0), (0.4, 0), (0, 0.4))])
    save_scene(scene, tmp_path / "scene.toml")
    sim, again = pl.Simulation(scene), pl.Simulation(load_scene(tmp_path / "scene.toml"))
    for _ in range(18):
        sim.advance()
    for _ in range(6):
        again.advance()
    assert rods[0].orientation == pytest.approx(rods[1].orientation, abs=1e-3)
    assert rods[0].orientation[0] < 0.98
    assert rope.position == pytest.approx(0.35, abs=1e-4)
    assert way.position == pytest.approx(0.1, abs=1e-3)
    assert fixed.position == pytest.approx((-0.3, 0.2, 0.2), abs=1e-4)
    sim.reset()
    for _ in range(6):
        sim.advance()
    np.testing.assert_allclose(sim.state.poses, again.state.poses, atol=1e-5)


@pytest.mark.slow
def test_a_soft_body_hangs_on_a_rigid_one_by_a_vertex() -> None:
    """After two seconds the joint's force is the weight of the soft block to 1 percent, and the vertex is at the point
    to 0.1 mm.
    """
    scene = pl.Scene(contact=None)
    soft = soft_block(scene)
    beam = scene.add_rigid(pl.Box((1.0, 0.1, 0.1)), position=(0, 0, 0.5))
    beam.pin()
    vertex = corner(soft, 0, 0, 0.4)
    joint = scene.add_joint("ball", beam, soft, vertices=[vertex])
    soft.air_damping = 3.0
    sim = pl.Simulation(scene)
    for _ in range(150):
        sim.advance()
    assert soft.positions[vertex] == pytest.approx((0, 0, 0.4), abs=1e-4)
    weight = soft.masses.sum() * G
    np.testing.assert_allclose(joint.force, (0, 0, -weight), atol=0.03 * weight)


def test_stops_come_back_from_a_scene_file_and_a_checkpoint(tmp_path) -> None:
    scene = pl.Scene()
    bar, _ = bar_on_a_ball(scene, cone=0.5, twist=(-0.2, 0.3))
    other = scene.add_rigid(BOX, position=(0, 0, 0.6))
    scene.add_joint("universal", other, bar, (0, 0, 0.4), axis=(0, 0, 1), limits=(-0.6, 0.5), twist=(-1, 0.2))
    scene.add_joint("distance", other, None, (0, 0, 0.6), other_point=(1, 0, 0.6), limits=(0.5, 1.5), spring=3.0)
    save_scene(scene, tmp_path / "scene.toml")
    pl.Simulation(scene, pl.Newton()).save(tmp_path / "run.npz")
    for again in (load_scene(tmp_path / "scene.toml"), pl.Simulation.resume(tmp_path / "run.npz").scene):
        for one, joint in zip(again.joints, scene.joints, strict=True):
            for name in ("cone", "twist", "bend", "stops", "drive", "corners", "links", "length"):
                assert getattr(one, name) == getattr(joint, name)


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("ball", {"limits": (-1, 1)}, "A ball has cone and twist"),
        ("ball", {"cone": 0.0}, "cone is 0"),
        ("ball", {"cone": 4.0}, "below 3.1416"),
        ("ball", {"cone": 0.5, "axis": None}, "axis is missing"),
        ("ball", {"twist": (-1, 1)}, "twist needs a cone"),
        ("ball", {"cone": 1.0, "twist": (1, -1)}, "twist are 1 and -1: the lower one comes first"),
        ("hinge", {"cone": 1.0}, "only a ball has a cone"),
        ("hinge", {"twist": (-1, 1)}, "only a ball or a universal has a twist"),
        ("universal", {"limits": (0.2, 1)}, "must be within"),
        ("universal", {"spring": 1.0}, "a universal limits and twist"),
        ("distance", {"other_point": (1, 0, 0), "limits": (2.0, 3.0)}, "1, where the joint starts, must be within"),
        ("distance", {"other_point": (1, 0, 0), "limits": (0.5, 3.0), "length": 1.0}, "length and limits are both"),
        ("ball", {"point": None}, "point is missing"),
        ("ball", {"vertices": [0]}, "vertices are those of a soft body"),
    ],
)
def test_what_is_refused(kind: str, options: dict, words: str) -> None:
    scene = pl.Scene()
    box = scene.add_rigid(BOX)
    with pytest.raises(pl.SceneError, match=words):
        scene.add_joint(kind, box, None, **{"point": (0, 0, 0), "axis": (0, 0, 1), **options})


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("universal", {"vertices": [0], "axis": (0, 0, 1)}, "vertices have no directions"),
        ("ball", {"vertices": [0, 1]}, "2 vertices of solid0 are given; give one"),
        ("ball", {"vertices": [99]}, "99"),
        ("ball", {"vertices": [0], "point": (0, 0, 0)}, "point and vertices are both given"),
        ("hinge", {"vertices": [0, 1, 2, 3]}, "off it"),
        ("hinge", {"vertices": [0, 1], "limits": (-1, 1)}, "attach a rigid body"),
        ("ball", {"point": (0, 0, 0)}, "at vertices="),
    ],
)
def test_what_is_refused_of_vertices(kind: str, options: dict, words: str) -> None:
    scene = pl.Scene()
    box, soft = scene.add_rigid(BOX), soft_block(scene)
    with pytest.raises(pl.SceneError, match=words):
        scene.add_joint(kind, box, soft, **options)
