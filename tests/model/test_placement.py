"""Obstacles that a control loop moves: the velocity of a step is that of the actual change."""

import numpy as np
import pytest

import pliant as pl
from pliant.geometry import rotations

H = 1 / 300
SPEED, FRICTION, SECONDS = 0.3, 0.5, 0.5
#: Coulomb: friction accelerates the box by mu g until it moves with the belt.
CARRIED = SPEED * (SECONDS - SPEED / (FRICTION * 9.81) / 2)


def box_on(add_ground):
    """A small box at rest on a ground that `add_ground(scene)` adds."""
    scene = pl.Scene(contact=pl.Contact(stiffness=1e5))
    mesh = pl.shapes.box((0.1, 0.1, 0.1), (1, 1, 1))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e6, 0.3))
    body.set_positions(mesh.points + np.array([0.0, 0.0, 0.05]))
    body.friction = FRICTION
    return scene, body, add_ground(scene)


def carried(sim, body, before_step=lambda: None):
    start = body.positions[:, 0].mean()
    for _ in range(round(SECONDS / H)):
        before_step()
        sim.step()
    return body.positions[:, 0].mean() - start


def test_a_belt_moved_by_a_variable_carries_as_one_moved_by_the_time():
    scene, body, _ = box_on(lambda s: s.add_plane(friction=FRICTION, motion=lambda t: ((SPEED * t, 0, 0), np.eye(3))))
    expected = carried(pl.Simulation(scene), body)
    assert expected == pytest.approx(CARRIED, rel=0.03)

    at = {"x": 0.0}
    scene, body, _ = box_on(lambda s: s.add_plane(friction=FRICTION, motion=lambda t: ((at["x"], 0, 0), np.eye(3))))
    sim = pl.Simulation(scene)
    assert carried(sim, body, lambda: at.update(x=SPEED * (sim.state.step + 1) * sim.h)) == expected


@pytest.mark.parametrize("how", ["velocity", "pose", "mesh velocity"])
def test_a_commanded_belt_carries_as_one_moved_by_the_time(how):
    belt = pl.TriMesh([(-1.0, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    add = (
        (lambda s: s.add_mesh_obstacle(belt, FRICTION)) if "mesh" in how else (lambda s: s.add_plane(friction=FRICTION))
    )
    scene, body, belt = box_on(add)
    sim = pl.Simulation(scene)
    before = lambda: None  # noqa: E731
    if how == "pose":
        before = lambda: belt.set_pose(belt.position + np.array([SPEED * H, 0, 0]))  # noqa: E731
    else:
        belt.set_velocity((SPEED, 0, 0))
    assert carried(sim, body, before) == pytest.approx(CARRIED, rel=0.03)
    assert belt.position == pytest.approx([SPEED * SECONDS, 0, 0], abs=1e-7)  # a mesh: single precision


def test_a_pose_is_reached_in_the_seconds_given_and_kept():
    scene, _, ball = box_on(lambda s: s.add_sphere((1.0, 0, 0), 0.1))
    sim = pl.Simulation(scene)
    quarter = rotations.from_vectors(np.array([0, 0, np.pi / 2]))
    ball.set_pose((2.0, 0, 0), quarter, seconds=4 * H)
    path, turned = [], []
    for _ in range(6):
        sim.step()
        path.append(ball.position[0])
        turned.append(2 * np.arctan2(ball.orientation[3], ball.orientation[0]))
    assert path == pytest.approx([1.25, 1.5, 1.75, 2.0, 2.0, 2.0], abs=1e-12)
    assert turned == pytest.approx(np.pi / 8 * np.array([1, 2, 3, 4, 4, 4]), abs=1e-12)


def test_a_checkpoint_keeps_commands_and_continues_with_the_same_bits(tmp_path):
    scene, _, ground = box_on(lambda s: s.add_plane(friction=FRICTION))
    sim = pl.Simulation(scene)
    ground.set_velocity((SPEED, 0, 0), (0, 0, 0.1))
    for _ in range(5):
        sim.step()
    sim.save(tmp_path / "run.npz")
    again = pl.Simulation.resume(tmp_path / "run.npz")
    for one in (sim, again):
        for _ in range(5):
            one.step()
    assert np.array_equal(sim.positions, again.positions)
    assert np.array_equal(ground.position, again.scene.shapes[0].position)


def test_results_show_obstacles_where_they_were(tmp_path):
    scene, _, ball = box_on(lambda s: s.add_sphere((1.0, 0, 0), 0.1))
    sim = pl.Simulation(scene)
    with sim.record(tmp_path / "run.npz"):
        ball.set_velocity((3.0, 0, 0))
        sim.advance()
    from pliant.io.results.formats import open_result

    with open_result(tmp_path / "run.npz") as result:
        frames = list(result)
    first, last = (frame.points[-50:].mean(axis=0) for frame in frames)
    assert last - first == pytest.approx([3.0 / 60, 0, 0], abs=1e-6)
    assert frames[-1].point_fields["velocity"][-1] == pytest.approx([3.0, 0, 0], abs=1e-4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda o: o.set_pose((0, 0)), "set_pose: position"),
        (lambda o: o.set_pose(orientation=(0, 0, 0, 0)), "quaternion"),
        (lambda o: o.set_pose(orientation=2 * np.eye(3)), "rotation matrix"),
        (lambda o: o.set_pose((0, 0, 0), seconds=1e-6), "less than a step"),
        (lambda o: o.set_velocity((0, 0, np.nan)), "finite"),
    ],
)
def test_bad_commands_are_refused(call, words):
    scene, _, ground = box_on(lambda s: s.add_plane())
    with pytest.raises(pl.SceneError, match="build the Simulation first"):
        call(ground)
    pl.Simulation(scene)
    with pytest.raises(pl.SceneError, match=words):
        call(ground)


@pytest.mark.parametrize("how", ["pose", "variable", "mesh pose", "mesh variable"])
def test_what_is_set_once_per_frame_is_spread_over_its_steps(how):
    """A loop of frames with five steps each: the belt moves evenly, so the box is carried as far as Coulomb says."""
    at = {"x": 0.0}
    motion = (lambda t: ((at["x"], 0, 0), np.eye(3))) if "variable" in how else None
    sheet = pl.TriMesh([(-1.0, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    mesh = lambda s: s.add_mesh_obstacle(sheet, FRICTION, motion=motion)  # noqa: E731
    plane = lambda s: s.add_plane(friction=FRICTION, motion=motion)  # noqa: E731
    scene, body, belt = box_on(mesh if "mesh" in how else plane)
    sim = pl.Simulation(scene)
    start = body.positions[:, 0].mean()
    for frame in range(round(SECONDS * 60)):
        at["x"] = SPEED * (frame + 1) / 60
        if "pose" in how:
            belt.set_pose((at["x"], 0, 0))
        sim.advance()
        assert belt.position[0] == pytest.approx(at["x"], abs=1e-7)
    assert body.positions[:, 0].mean() - start == pytest.approx(CARRIED, rel=0.03)


def test_a_turn_that_a_variable_sets_is_spread_over_the_frame():
    angle = {"z": 0.0}
    turn = lambda t: ((0.2, 0, 0), rotations.matrices(rotations.from_vectors(np.array([0, 0, angle["z"]]))))  # noqa: E731
    scene, _, ball = box_on(lambda s: s.add_sphere((1.0, 0, 0), 0.1, motion=turn))
    sim = pl.Simulation(scene)
    angle["z"] = 0.5
    turned, seen = [], lambda state, report: turned.append(2 * np.arctan2(*ball.orientation[[3, 0]]))
    sim.observers.append(seen)
    sim.advance()
    assert turned == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5], abs=1e-12)
    assert ball.position == pytest.approx([0.2 + np.cos(0.5), np.sin(0.5), 0])


def test_a_held_rigid_body_takes_commands_and_a_checkpoint_keeps_them(tmp_path):
    """Without contact: a turning hand of a ball joint; with steps and frames."""
    scene = pl.Scene()
    hand = scene.add_rigid(pl.Box((0.1, 0.2, 0.3)), position=(0, 0, 1), name="hand")
    hand.pin()
    free = scene.add_rigid(pl.Sphere(0.1), name="free")
    sim = pl.Simulation(scene)
    hand.set_velocity((0.6, 0, 0), (0, 0, 3.0))
    sim.advance()
    assert hand.position == pytest.approx([0.01, 0, 1], abs=1e-7)
    assert hand.velocity == pytest.approx([0.6, 0, 0], abs=1e-4)
    assert hand.angular_velocity == pytest.approx([0, 0, 3.0], rel=1e-3)
    hand.set_pose((0.5, 0, 1), (1, 0, 0, 0))
    sim.save(tmp_path / "run.npz")
    again = pl.Simulation.resume(tmp_path / "run.npz")
    for one in (sim, again):
        one.step()
        one.advance()
    assert np.array_equal(again.x, sim.x)
    assert hand.position == pytest.approx([0.5, 0, 1], abs=1e-7)
    assert abs(hand.orientation[0]) == pytest.approx(1, abs=1e-9)
    with pytest.raises(pl.SceneError, match=r"free\.set_velocity: it moves freely; hold it with free\.pin\(\)"):
        free.set_velocity((1, 0, 0))
