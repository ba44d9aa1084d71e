"""Forces of contacts as users see them: weights, balance, torques, moving obstacles, files."""

import numpy as np
import pytest

import pliant as pl
from pliant.elements.closest import VERTEX_OBSTACLE
from pliant.errors import PliantError
from pliant.io.results.formats import open_result

G = 9.81
LAW = pl.StableNeoHookean.from_young(1e6, 0.3)


def cube_at(z: float, x: float = 0.0, edge: float = 0.1, y: float = 0.0) -> pl.TetMesh:
    return pl.shapes.box((edge,) * 3, (2, 2, 2)).transformed(translation=(x, y, z))


def stack(solver=None, gravity=(0, 0, -G), friction: float = 0.3) -> tuple[pl.Simulation, pl.Scene]:
    """Two cubes of 1 kg on a plane, the upper one 1 cm to the side and half a millimetre across: no edges are flush."""
    scene = pl.Scene(gravity=gravity)
    scene.contact = pl.Contact(stiffness=1e5, damping=0.02, friction=friction, friction_speed=2e-3)
    for z, x, y in ((0.05, 0.0, 0.0), (0.15, 0.01, 0.0005)):
        scene.add_solid(cube_at(z, x, y=y), LAW, density=1000.0)
    scene.add_plane((0.02, 0.0, 0.0), (0, 0, 1), friction=friction)
    solver = solver or pl.VBD(iterations=100)
    return pl.Simulation(scene, solver, frame_rate=60, substeps=2, precision="double"), scene


@pytest.fixture(scope="module")
def resting() -> tuple[pl.Simulation, pl.Scene]:
    """After three seconds, at rest."""
    sim, scene = stack()
    for _ in range(360):
        sim.step()
    assert np.abs(sim.velocities).max() < 1e-4
    return sim, scene


def test_contacts_carry_the_weight(resting) -> None:
    """Each cube is pushed by its own weight in sum, the plane by that of both; converged to 1e-3 of it."""
    sim, scene = resting
    lower, upper = scene.bodies
    plane = scene.shapes[0]
    np.testing.assert_allclose(lower.contact_force, (0, 0, G), atol=1e-3 * G)
    np.testing.assert_allclose(upper.contact_force, (0, 0, G), atol=1e-3 * G)
    np.testing.assert_allclose(plane.contact_force, (0, 0, -2 * G), atol=2e-3 * G)
    np.testing.assert_array_equal(sim.contacts.force_on_obstacle(0), plane.contact_force)


def test_forces_between_two_bodies_sum_to_zero(resting) -> None:
    """Those of each contact are opposite, so that all bodies and obstacles together feel nothing."""
    sim, scene = resting
    contacts = sim.contacts
    total = contacts.body_forces.sum(axis=0) + contacts.obstacle_forces.sum(axis=0)
    assert np.abs(total).max() < 1e-12 * np.abs(contacts.forces).sum()
    between = contacts.obstacles < 0
    np.testing.assert_array_equal(np.sort(contacts.bodies[between], axis=1), np.tile([0, 1], (between.sum(), 1)))
    on_upper = np.where(contacts.bodies[:, :1] == 1, contacts.forces, -contacts.forces)[between].sum(axis=0)
    np.testing.assert_allclose(on_upper, scene.bodies[1].contact_force, rtol=1e-9, atol=1e-12)


def test_torque_of_an_eccentric_load(resting) -> None:
    """The upper cube stands 1 cm beside the centre of the lower one: at rest nothing turns either of them, and the
    plane, which counts from a point at x = 2 cm, feels both weights at their levers.
    """
    sim, scene = resting
    torque = np.zeros(3)
    for k, body in enumerate(scene.bodies):
        assert np.abs(body.contact_torque).max() < 1e-3 * G * 0.05
        mass = sim.model.mass[sim.model.vertices_of(k)]
        lever = mass @ body.positions / mass.sum() - (0.02, 0, 0)
        assert lever[0] == pytest.approx((-0.02, -0.01)[k], abs=2e-4)  # they settle by a tenth of a millimetre
        torque += np.cross(lever, (0, 0, -G))
    np.testing.assert_allclose(scene.shapes[0].contact_torque, torque, atol=2e-3 * G * 0.03)


def test_forces_between_pairs(resting) -> None:
    """The upper cube feels its weight from the lower one, which feels both from the plane; what each feels from the
    other is opposite. The middle of the contact is below the middle of the upper cube, and all of it sticks.
    """
    sim, scene = resting
    (lower, upper), plane = scene.bodies, scene.shapes[0]
    np.testing.assert_allclose(sim.contact_between(upper, lower).force, (0, 0, G), atol=1e-3 * G)
    np.testing.assert_allclose(sim.contact_between(lower, plane).force, (0, 0, 2 * G), atol=2e-3 * G)
    up, down = sim.contact_between(upper, lower), sim.contact_between(lower, upper)
    np.testing.assert_array_equal(up.force, -down.force)
    np.testing.assert_array_equal(up.point, down.point)
    np.testing.assert_allclose(up.point, (0.01, 0.0005, 0.1), atol=5e-4)
    assert up.state == "stick"
    assert sim.contact_between(upper, plane).state == "apart"
    assert [(pair.body, pair.other, pair.obstacle) for pair in sim.contacts.pairs] == [(0, -1, 0), (0, 1, -1)]
    with pytest.raises(PliantError, match="another body or an obstacle"):
        sim.contact_between(upper, 3)
    with pytest.raises(PliantError, match="no number of the 2 bodies"):
        sim.contacts.between(0, 7)


@pytest.mark.parametrize(("angle", "state"), [(10.0, "stick"), (35.0, "slip")])
def test_who_sticks_and_who_slips(angle: float, state: str) -> None:
    """On a plane with friction 0.3, whose angle of friction is 16.7 degrees; what slips feels 0.3 of the pressing."""
    a = np.radians(angle)
    scene = pl.Scene(gravity=(G * np.sin(a), 0, -G * np.cos(a)))
    scene.contact = pl.Contact(stiffness=1e5, damping=0.02, friction=0.3, friction_speed=2e-3)
    cube = scene.add_solid(cube_at(0.05), LAW, density=1000.0)
    plane = scene.add_plane(friction=0.3)
    sim = pl.Simulation(scene, pl.VBD(iterations=100), frame_rate=60, substeps=2, precision="double")
    for _ in range(60):
        sim.step()
    load = sim.contact_between(cube, plane)
    assert load.state == state
    assert load.force[2] == pytest.approx(G * np.cos(a), rel=0.02)
    along = -min(np.tan(a), 0.3)
    assert load.force[0] / load.force[2] == pytest.approx(along, abs=0.01)


def test_who_touches_where(resting) -> None:
    """Nine contacts with the plane at the vertices below, with forces that push up and gaps that are force over
    stiffness; ids are the same in the next step.
    """
    sim, _ = resting
    contacts = sim.contacts
    floor = contacts.obstacles == 0
    assert floor.sum() == 9
    np.testing.assert_array_equal(contacts.ids[floor, 0], np.full(9, VERTEX_OBSTACLE))
    np.testing.assert_array_equal(contacts.bodies[floor], np.tile([0, -1], (9, 1)))
    np.testing.assert_array_equal(contacts.points[floor], sim.positions[contacts.ids[floor, 1]])
    np.testing.assert_array_equal(contacts.normals[floor], np.tile([0.0, 0, 1], (9, 1)))
    pressed = floor & (contacts.gaps < 0)
    np.testing.assert_allclose(contacts.forces[pressed, 2], -1e5 * contacts.gaps[pressed], rtol=1e-2)
    sim.step()
    assert {tuple(i) for i in contacts.ids[floor]} == {tuple(i) for i in sim.contacts.ids[sim.contacts.obstacles == 0]}


def test_friction_is_in_the_force() -> None:
    """On a plane tilted in gravity by 10 degrees the contacts hold the whole weight, along the plane too."""
    angle = np.radians(10.0)
    gravity = G * np.array([np.sin(angle), 0, -np.cos(angle)])
    sim, scene = stack(gravity=tuple(gravity), friction=0.8)
    for _ in range(120):
        sim.step()
    np.testing.assert_allclose(scene.bodies[0].contact_force, -gravity, atol=5e-3 * G)


@pytest.mark.slow
def test_multipliers_are_the_forces_of_constraint_solvers() -> None:
    """A cube at rest under GPBD: the sum of its multipliers is its weight."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=1e5, damping=0.02)
    cube = scene.add_solid(cube_at(0.05), LAW, density=1000.0)
    scene.add_plane((0, 0, 0), (0, 0, 1))
    sim = pl.Simulation(scene, pl.GPBD(iterations=100), frame_rate=60, substeps=5, precision="double")
    for _ in range(300):
        sim.step()
    np.testing.assert_allclose(cube.contact_force, (0, 0, G), atol=2e-2 * G)
    assert sim._detector is not None
    assert sim._detector.multipliers.normal.sum() == pytest.approx(cube.contact_force[2], rel=1e-9)


def test_a_moving_obstacle_feels_what_it_accelerates() -> None:
    """A plate pushes a cube without gravity: in free fall of 2 m/s^2 against it the force is m a; nothing else acts."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact(stiffness=1e5, damping=0.05)
    cube = scene.add_solid(cube_at(0.0505), LAW, density=1000.0)
    plate = scene.add_box((0, 0, -0.05), (0.5, 0.5, 0.1), motion=lambda t: ((0, 0, t * t), np.eye(3)))
    sim = pl.Simulation(scene, pl.VBD(iterations=60), frame_rate=60, substeps=4, precision="double")
    pushes = []
    for _ in range(240):
        sim.step()
        pushes.append(cube.contact_force[2])
    assert np.mean(pushes[120:]) == pytest.approx(2.0, rel=0.02)
    np.testing.assert_allclose(plate.contact_force, -cube.contact_force, rtol=1e-12, atol=1e-12)


def test_the_same_after_resume(tmp_path) -> None:
    """The step after a checkpoint has the same contacts, bit by bit; right after it there are none yet."""
    sim, scene = stack(pl.VBD(iterations=10))
    for _ in range(10):
        sim.step()
    sim.save(tmp_path / "run.npz")
    again = pl.Simulation.resume(tmp_path / "run.npz")
    assert len(again.contacts) == 0
    np.testing.assert_array_equal(again.scene.bodies[0].contact_force, np.zeros(3))
    sim.step()
    again.step()
    for name in ("ids", "points", "normals", "gaps", "forces", "body_forces", "body_torques", "obstacle_torques"):
        np.testing.assert_array_equal(getattr(sim.contacts, name), getattr(again.contacts, name))
    assert len(sim.contacts) > 10
    np.testing.assert_array_equal(scene.bodies[1].contact_force, again.scene.bodies[1].contact_force)


def test_without_contact_there_is_no_force() -> None:
    scene = pl.Scene()
    cube = scene.add_solid(cube_at(0.05), LAW, density=1000.0)
    sim = pl.Simulation(scene, pl.VBD(iterations=2))
    np.testing.assert_array_equal(cube.contact_force, np.zeros(3))
    sim.step()
    assert len(sim.contacts) == 0
    np.testing.assert_array_equal(cube.contact_torque, np.zeros(3))


def test_results_keep_net_forces_of_bodies_and_obstacles(tmp_path) -> None:
    """In the order of the result's bodies, obstacles last."""
    sim, scene = stack(pl.VBD(iterations=10))
    with sim.record(tmp_path / "run.npz"):
        sim.advance()
        forces = [*(body.contact_force for body in scene.bodies), scene.shapes[0].contact_force]
        torques = [*(body.contact_torque for body in scene.bodies), scene.shapes[0].contact_torque]
    with open_result(tmp_path / "run.npz") as result:
        first, last = result.frame(0).body_fields, result.frame(-1).body_fields
        assert len(result.layout.body_names) == 3
    np.testing.assert_array_equal(first["contact_force"], np.zeros((3, 3)))
    np.testing.assert_allclose(last["contact_force"], forces, rtol=1e-6)
    np.testing.assert_allclose(last["contact_torque"], torques, rtol=1e-6)
    assert np.abs(forces).max() > 1


def test_energies_see_a_moving_obstacle_where_it_is_now() -> None:
    """A floor that rises by 1 m/s reaches a vertex that is held at 1 cm after 10 ms, and is 1.7 mm above it at
    t = 7 / 600 s: the energy is k / 2 d^2 of nine vertices, not that of a step later.
    """
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact(stiffness=1e5)
    cube = scene.add_solid(cube_at(0.06), LAW)
    cube.pin(np.arange(cube.n_vertices))
    free = scene.add_solid(cube_at(5.0), LAW)
    scene.add_plane((0, 0, 0), (0, 0, 1), motion=lambda t: ((0, 0, t), np.eye(3)))
    sim = pl.Simulation(scene, pl.VBD(iterations=1), frame_rate=600, substeps=1, precision="double")
    assert free.n_vertices > 0
    for step in range(1, 8):
        sim.step()
        depth = max(0.0, step / 600 - 0.01)
        energies = sim.energies()
        assert energies["deepest_penetration"] == pytest.approx(depth, abs=1e-12)
        assert energies["contact"] == pytest.approx(9 * 0.5e5 * depth**2, abs=1e-9)


@pytest.mark.slow
def test_a_recorded_step_may_split_vertices(tmp_path) -> None:
    """A sheet pulled apart on a floor: frames in which it tears have fields of all vertices; what tearing has just
    added has no force yet.
    """
    scene = pl.Scene(gravity=(0, 0, -G))
    scene.contact = pl.Contact(stiffness=1e4, thickness=4e-3)
    mesh = pl.shapes.cloth((0.4, 0.2), (6, 3)).transformed(translation=(0, 0, 2e-3))
    law = pl.StableNeoHookean.from_young(2e4, 0.3)
    sheet = scene.add_cloth(mesh, law, density=0.3, bending=0.0, tear_at=1.1)
    x = mesh.points
    for end, way in ((x[:, 0] < x[:, 0].min() + 1e-6, -1.0), (x[:, 0] > x[:, 0].max() - 1e-6, 1.0)):
        points = x[end]
        sheet.move(end, lambda t, points=points, way=way: points + np.array([0.4 * way * t, 0, 0]))
    scene.add_plane((0, 0, 0), (0, 0, 1))
    sim = pl.Simulation(scene, pl.VBD(iterations=20), frame_rate=120, substeps=1, precision="double")
    lengths = []
    with sim.record(tmp_path / "torn.npz"):
        for _ in range(30):
            sim.advance()
            lengths.append(len(sim.positions))
            sim.contacts.body_forces  # noqa: B018  measured in the very step that tears
    assert lengths[-1] > lengths[0] + 3
    with open_result(tmp_path / "torn.npz") as result:
        assert len(result) == 31
        assert all(np.isfinite(frame.point_fields["contact_force"]).all() for frame in result)
        assert result.frame(5).point_fields["contact_force"][:, 2].sum() > 0
