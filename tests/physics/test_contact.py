"""Bodies that rest, slide, hit and pile, against what mechanics says."""

import numpy as np
import pytest

import pliant as pl

G = 9.81


def cube(scene: pl.Scene, centre, edge: float = 0.1, cells: int = 2, young: float = 1e6, density: float = 1000.0):
    mesh = pl.shapes.box(size=(edge,) * 3, cells=(cells,) * 3).transformed(translation=centre)
    return scene.add_solid(mesh, pl.StableNeoHookean.from_young(young, 0.3), density=density)


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


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_a_block_on_an_incline(share: float) -> None:
    """Friction above tan(theta): it creeps slower than the friction speed. Below: it slides with g (sin - mu cos)."""
    theta = np.radians(20)
    mu = share * np.tan(theta)
    speed = 1e-3
    scene = pl.Scene(gravity=(G * np.sin(theta), 0, -G * np.cos(theta)))
    scene.contact = pl.Contact(stiffness=1e5, friction_speed=speed, damping=0.01)
    body = cube(scene, (0, 0, 0.05), cells=1, young=1e7)
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=mu)
    sim = pl.Simulation(scene, pl.VBD(iterations=300), frame_rate=100, substeps=2, precision="double")
    for _ in range(40):
        sim.advance()
    before, time = sim.velocities[:, 0].mean(), sim.time
    for _ in range(40):
        sim.advance()
    after = sim.velocities[:, 0].mean()
    if share > 1:
        assert after < speed
    else:
        expected = G * (np.sin(theta) - mu * np.cos(theta))
        assert (after - before) / (sim.time - time) == pytest.approx(expected, rel=0.01)
    assert body.positions[:, 2].min() > -1e-3


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


def test_a_fast_thin_sheet_does_not_tunnel() -> None:
    """100 m/s against a sheet of 1 mm: it never comes through."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact(stiffness=1e7, thickness=1e-3)
    wall = scene.add_cloth(pl.shapes.cloth(size=(0.4, 0.4), cells=(6, 6)), pl.StVenantKirchhoff(1e4, 1e4), density=0.5)
    wall.pin(np.ones(wall.n_vertices, bool))
    mesh = pl.shapes.cloth(size=(0.1, 0.1), cells=(4, 4)).transformed(translation=(0.013, 0.017, 0.3))
    bullet = scene.add_cloth(mesh, pl.StVenantKirchhoff(1e4, 1e4), density=0.5)
    bullet.set_velocities((0, 0, -100.0))
    sim = pl.Simulation(scene, pl.VBD(iterations=30), frame_rate=60, substeps=5, precision="double")
    lowest = []
    for _ in range(60):
        sim.step()
        lowest.append(bullet.positions[:, 2].min())
    assert min(lowest) > -1e-3
    assert min(lowest) < 0.1  # it did arrive


def test_forces_of_contacts_between_bodies_sum_to_zero() -> None:
    scene = contact_scene()
    cube(scene, (0, 0, 0))
    cube(scene, (0.06, 0.03, 0.08))
    sim = pl.Simulation(scene, pl.VBD())
    contacts = sim.problem().contacts
    rng = np.random.default_rng(5)
    x = sim.positions + rng.normal(scale=1e-3, size=sim.positions.shape)
    contacts.refresh(x)
    forces = contacts.forces(x)
    assert len(forces) > 3
    assert np.abs(forces).max() > 10
    np.testing.assert_allclose(forces.sum(axis=1), 0, atol=1e-12 * np.abs(forces).max())


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


def test_descent_with_contact_reaches_newtons_minimum() -> None:
    scene = contact_scene(stiffness=1e4)
    cube(scene, (0, 0, 0.049))
    cube(scene, (0.02, 0.01, 0.147))
    scene.add_plane((0, 0, 0), (0, 0, 1))
    sim = pl.Simulation(scene, pl.VBD(), frame_rate=100, substeps=1, precision="double")
    problem = sim.problem()
    newton = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=60, residual=1e-9))
    descent = pl.solve(problem, pl.VBD(), stop=pl.Stop(iterations=4000, residual=1e-8), measure_every=200)
    assert len(problem.contacts.touches.vertices) > 10
    moved = np.abs(newton.x - problem.x_start).max()
    np.testing.assert_allclose(descent.x, newton.x, atol=1e-6 * moved)
