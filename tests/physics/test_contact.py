"""Bodies that rest, slide, hit and pile, against what mechanics says."""

import numpy as np
import pytest

import pliant as pl

G = 9.81


def cube(
    scene: pl.Scene, centre, edge: float = 0.1, cells: int = 2, young: float = 1e6, density: float = 1000.0, **options
):
    mesh = pl.shapes.box(size=(edge,) * 3, cells=(cells,) * 3).transformed(translation=centre)
    return scene.add_solid(mesh, pl.StableNeoHookean.from_young(young, 0.3), density=density, **options)


def contact_scene(friction: float = 0.3, stiffness: float = 1e5, **options) -> pl.Scene:
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=stiffness, friction=friction, **options)
    return scene


def test_a_cube_at_rest_sinks_in_by_its_weight_over_the_stiffness() -> None:
    scene = contact_scene(stiffness=2e4, damping=0.02)
    body = cube(scene, (0, 0, 0.05))
    scene.add_plane((0, 0, 0), (0, 0, 1))
    sim = pl.Simulation(scene, pl.VBD(iterations=60), frame_rate=60, substeps=2, precision="double")
    for _ in range(120):
        sim.advance()
    low = body.positions[np.abs(body.mesh.points[:, 2]) < 1e-9][:, 2]
    assert np.sum(-low * 2e4) == pytest.approx(1.0 * G, rel=1e-3)  # 1 kg
    assert np.abs(sim.velocities).max() < 1e-4


def block_on_an_incline(share: float, iterations: int, speed: float) -> tuple[pl.Simulation, float]:
    """1 kg on a slope of 20 degrees (gravity is turned) with mu = share tan(20), and the acceleration of sliding."""
    theta = np.radians(20)
    mu, stiffness = share * np.tan(theta), 1e5
    scene = pl.Scene(gravity=(G * np.sin(theta), 0, -G * np.cos(theta)))
    scene.contact = pl.Contact(stiffness=stiffness, friction_speed=speed, damping=0.01)
    cube(scene, (0, 0, 0.05 - G * np.cos(theta) / (4 * stiffness)), cells=1, young=1e7)
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=mu)
    sim = pl.Simulation(scene, pl.VBD(iterations=iterations), frame_rate=100, substeps=2, precision="double")
    return sim, G * (np.sin(theta) - mu * np.cos(theta))


def test_a_block_slides_2_percent_below_the_threshold() -> None:
    """With g (sin - mu cos), to the precision of the solver."""
    sim, acceleration = block_on_an_incline(0.98, 1000, 1e-3)
    for _ in range(40):
        sim.advance()
    before, time = sim.velocities[:, 0].mean(), sim.time
    for _ in range(20):
        sim.advance()
    measured = (sim.velocities[:, 0].mean() - before) / (sim.time - time)
    assert measured == pytest.approx(acceleration, rel=1e-4)


def test_a_block_creeps_2_percent_above_the_threshold() -> None:
    """As fast as smoothed friction says, slower than the friction speed: 2 y - y^2 = 1 / 1.02 with y = v / speed."""
    speed = 1e-3
    sim, _ = block_on_an_incline(1.02, 300, speed)
    for _ in range(60):
        sim.advance()
    assert sim.velocities[:, 0].mean() == pytest.approx(speed * (1 - np.sqrt(1 - 1 / 1.02)), rel=1e-4)


def test_a_sliding_block_stops_after_the_distance_of_coulomb() -> None:
    """v^2 / (2 mu g). Implicit Euler with steps of h stops v h / 2 earlier; creep adds less than 0.1 mm."""
    mu, v = 0.4, 0.5
    scene = contact_scene(stiffness=1e5, damping=0.01, friction_speed=1e-3)
    body = cube(scene, (0, 0, 0.05 - G / 4e5), cells=1, young=1e7)
    body.set_velocities((v, 0, 0))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=mu)
    sim = pl.Simulation(scene, pl.VBD(iterations=600), frame_rate=500, substeps=1, precision="double")
    x0 = sim.positions[:, 0].mean()
    for _ in range(int(1.2 * 500 * v / (mu * G))):
        sim.step()
    expected = v**2 / (2 * mu * G) - 0.5 * v * sim.h
    assert sim.positions[:, 0].mean() - x0 == pytest.approx(expected, rel=0.01)
    assert np.abs(sim.velocities).max() < 1e-3


def test_a_stack_of_four_stands() -> None:
    """Of damped cubes that are not quite above each other: after a second of settling, none moves by 1 mm in the
    next.
    """
    scene = contact_scene(friction=0.5, damping=0.01, friction_speed=1e-3)
    bodies = [cube(scene, (0.003 * (k % 2), 0.002 * (k % 3), 0.05 + 0.1 * k), cells=1, damping=1e-3) for k in range(4)]
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    sim = pl.Simulation(scene, pl.VBD(iterations=20), precision="double")
    for _ in range(60):
        sim.advance()
    settled = [body.positions.mean(axis=0) for body in bodies]
    for _ in range(60):
        sim.advance()
    for before, body in zip(settled, bodies, strict=True):
        assert np.abs(body.positions.mean(axis=0) - before).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("damping", "iterations"), [(1e-3, 240), (0.0, 240)])
def test_a_stack_of_ten_stands_for_ten_seconds(damping: float, iterations: int) -> None:
    """Each cube turned a little against the one below: after a second of settling none drifts by 1 mm.  With 60 and 120
    iterations most steps end with more than half of their forces unbalanced, which is warned of, and the stack drifts.
    """
    mesh, rng = pl.shapes.box((0.1, 0.1, 0.1), (2, 2, 2)), np.random.default_rng(1)
    scene = pl.Scene()
    for k in range(10):
        a = 0.1 * rng.uniform(-1, 1)
        turn = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
        placed = pl.TetMesh(mesh.points @ turn.T + [[0.0, 0.0, 0.05 + 0.1 * k]], mesh.tets)
        scene.add_solid(placed, pl.StableNeoHookean.from_young(1e7, 0.3), density=1000, damping=damping)
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    scene.contact = pl.Contact(stiffness=1e6, friction=0.5, friction_speed=1e-3)
    sim = pl.Simulation(scene, pl.VBD(iterations=iterations))
    for frame in range(660):
        sim.advance()
        places = np.array([body.positions.mean(axis=0) for body in scene.bodies])
        if frame == 59:
            settled = places
    assert np.abs(places - settled).max() < 1e-3
    assert np.abs(places[:, :2]).max() < 1e-3


def test_equal_bodies_share_what_a_contact_takes_back() -> None:
    """Equal meshes have equal colours, so most contacts of a stack hold two vertices that are moved at the same time.
    Twenty iterations bring the residual down as if there were no contact.
    """
    scene = contact_scene(friction=0.3, stiffness=1e5)
    for k in range(3):
        cube(scene, (0.02 * (k % 2), 0, 0.05 + 0.0999 * k), cells=3, young=5e4)
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.3)
    sim = pl.Simulation(scene, pl.VBD(iterations=20), frame_rate=300, substeps=1, precision="double")
    problem = sim.problem()
    start = problem.residual(problem.x_guess)
    report = sim.step()
    assert problem.contacts.count > 20
    assert report.residual < 0.02 * start


def test_a_heavy_cube_on_a_light_one() -> None:
    """Mass ratio 2000 (VBD, Figure 20): the light cube of 1 kg holds; the floor bears the weight of both.

    2000 kg on a spring of 1 MN/m swing with 22 rad/s; damping of 0.05 s, half the critical one, ends that in a second.
    """
    scene = contact_scene(friction=0.5, stiffness=1e7, damping=0.01)
    light = cube(scene, (0, 0, 0.05), young=1e7, damping=0.05)
    heavy = cube(scene, (0, 0, 0.15), young=1e7, density=2e6, damping=0.05)
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    sim = pl.Simulation(scene, pl.VBD(iterations=60), precision="double")
    for _ in range(90):
        sim.advance()
    force = 1e7 * np.sum(np.maximum(0, -light.positions[:, 2]))
    assert force == pytest.approx(2001 * G, rel=0.02)
    assert 0.1 < heavy.positions[:, 2].mean() < 0.15  # 2 MPa press a cube of 10 MPa by about a fifth
    volumes = pl.TetMesh(light.positions, light.mesh.tets).volumes
    assert volumes.min() > 0


def test_an_impact_of_two_bodies_keeps_momentum() -> None:
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact(stiffness=1e5, friction=0.4)
    one, other = cube(scene, (0, 0, 0)), cube(scene, (0.105, 0.013, 0.007), density=500.0)
    one.set_velocities((1.0, 0.2, 0.0))
    sim = pl.Simulation(scene, pl.VBD(iterations=400), frame_rate=500, substeps=1, precision="double")
    mass = sim.model.mass[:, None]
    momentum = (mass * sim.velocities).sum(axis=0)
    touched = 0.0
    for _ in range(25):
        sim.step()
        touched = max(touched, sim.energies()["contact"])
        np.testing.assert_allclose((mass * sim.velocities).sum(axis=0), momentum, atol=1e-6 * momentum[0])
    assert touched > 1e-4  # they did hit
    assert sim.velocities[one.n_vertices :, 0].mean() > 0.2
    assert other.positions[:, 0].mean() > 0.105


def test_forces_of_contacts_between_bodies_sum_to_zero() -> None:
    scene = contact_scene()
    cube(scene, (0, 0, 0))
    cube(scene, (0.06, 0.03, 0.08))
    sim = pl.Simulation(scene, pl.VBD())
    contacts = sim.problem().contacts
    rng = np.random.default_rng(5)
    x = sim.positions + rng.normal(scale=1e-3, size=sim.positions.shape)
    contacts.refresh(x)
    forces = contacts.contacts.weights[:, :, None] * contacts.forces(x)[:, None]
    assert len(forces) > 3
    assert np.abs(forces).max() > 10
    np.testing.assert_allclose(forces.sum(axis=1), 0, atol=1e-12 * np.abs(forces).max())
    np.testing.assert_allclose(contacts.vertex_forces(x).sum(axis=0), 0, atol=1e-11 * np.abs(forces).max())


def test_overlap_at_the_start_separates_within_the_energy_stored() -> None:
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact(stiffness=1e4, friction=0.0)
    cube(scene, (0, 0, 0))
    cube(scene, (0.07, 0.01, 0.02))
    sim = pl.Simulation(scene, pl.VBD(iterations=100), frame_rate=200, substeps=1, precision="double")
    stored = sim.problem().contacts.energy(sim.positions)
    for _ in range(60):
        sim.step()
        assert sim.energies()["kinetic"] <= stored
    assert stored > 0.1
    assert sim.energies()["contact"] < 1e-3 * stored


def test_threads_do_not_change_the_bits_of_a_pile() -> None:
    results = []
    for threads in (1, 2):
        scene = contact_scene()
        for k in range(4):
            cube(scene, (0.03 * (k % 2), 0.02 * k, 0.06 + 0.11 * k))
        scene.add_plane((0, 0, 0), (0, 0, 1))
        sim = pl.Simulation(scene, pl.VBD(iterations=10), threads=threads)
        for _ in range(8):
            sim.advance()
        results.append(sim.positions)
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.slow
def test_descent_with_contact_reaches_newtons_minimum() -> None:
    scene = contact_scene(stiffness=1e4)
    cube(scene, (0, 0, 0.049))
    cube(scene, (0.02, 0.01, 0.147))
    scene.add_plane((0, 0, 0), (0, 0, 1))
    sim = pl.Simulation(scene, pl.VBD(), frame_rate=100, substeps=1, precision="double")
    problem = sim.problem()
    newton = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=60, residual=1e-9))
    descent = pl.solve(problem, pl.VBD(), stop=pl.Stop(iterations=4000, residual=1e-8), measure_every=200)
    assert len(problem.contacts.contacts.vertices) > 10
    moved = np.abs(newton.x - problem.x_prev).max()
    np.testing.assert_allclose(descent.x, newton.x, atol=1e-6 * moved)
