"""Particles in solvers that minimise: vertices with a radius, in one problem with soft and rigid bodies."""

import numpy as np
import pytest

import pliant as pl

R, G = 0.01, 9.81
BALL = 2500 * 4 / 3 * np.pi * R**3  # [kg]


def pile_on_block(friction=0.3):
    """18 spheres that fall on a soft block on the ground."""
    scene = pl.Scene()
    points = pl.shapes.packed_spheres((0.08, 0.08, 0.06), radius=R, spacing=1.02, jitter=0.5)
    grains = scene.add_particles(points + np.array([0, 0, 0.075]), radius=R, friction=friction)
    block = pl.shapes.box(size=(0.1, 0.1, 0.04), cells=(4, 4, 2))
    place = np.array([0, 0, 0.021 - block.points[:, 2].mean()])
    law = pl.StableNeoHookean.from_young(2e4, 0.3)
    scene.add_solid(block.transformed(translation=place), law, density=1000.0)
    ground = scene.add_plane(friction=friction)
    return scene, grains, ground


@pytest.mark.slow
def test_vertex_block_descent_ends_at_newtons_minimum():
    """The step in which most spheres have met: all positions to 1e-6 of the radius."""
    descent = pl.Simulation(pile_on_block()[0], pl.VBD(iterations=1000), precision="double")
    for _ in range(20):
        descent.step()
    newton = pl.Simulation(pile_on_block()[0], pl.Newton(), precision="double")
    newton.load_state_dict({**descent.state_dict(), "solver": newton.state_dict()["solver"]})
    newton.step()
    descent.step()
    assert len(newton.contacts) > 40
    np.testing.assert_allclose(descent.positions, newton.positions, rtol=0, atol=1e-6 * R)


@pytest.mark.slow
def test_force_is_the_gradient_of_the_energy():
    """By central differences in double precision, normals followed: of spheres with each other, a solid and a plane."""
    sim = pl.Simulation(pile_on_block(friction=0.0)[0], pl.VBD(iterations=100), precision="double")
    for _ in range(20):
        sim.step()
    problem, random = sim._solved, np.random.default_rng(1)
    x = sim.positions + 1e-5 * random.normal(size=sim.positions.shape)

    def energy(at):
        problem.contacts.refresh(at)
        return problem.contacts.energy(at)

    energy(x)
    force = problem.contacts.gradient(x)
    for _ in range(3):
        way, step = random.normal(size=x.shape), 1e-8
        slope = (energy(x + step * way) - energy(x - step * way)) / (2 * step)
        assert np.sum(force * way) == pytest.approx(slope, rel=1e-5)


def column(solver, n=20, radius=R):
    """Mean force on the floor over the weight of a column of spheres, and its largest overlap over a diameter."""
    scene = pl.Scene()
    points = np.column_stack([np.zeros(n), np.zeros(n), radius + 2 * radius * np.arange(n)])
    grains = scene.add_particles(points, radius=radius, friction=0.0)
    floor = scene.add_plane(friction=0.0)
    sim = pl.Simulation(scene, solver, precision="double")
    forces = []
    for k in range(300):
        sim.step()
        if k >= 200:
            forces.append(-floor.contact_force[2])
    return np.mean(forces) / (G * grains.masses.sum()), -sim.contacts.gaps.min() / (2 * radius)


@pytest.mark.parametrize(
    ("solver", "radius", "overlap"),
    [(pl.Auto(), R, 0.03), (pl.Auto(), 0.1 * R, 0.03), (pl.AVBD(iterations=20), R, 0.002)],
    ids=["Auto", "Auto-small", "AVBD"],
)
@pytest.mark.slow
def test_a_column_carries_its_weight(solver, radius, overlap):
    """20 spheres: within 1 %; penalties overlap by 5 % of a radius as chosen, multipliers hardly."""
    carried, deepest = column(solver, radius=radius)
    assert carried == pytest.approx(1.0, abs=0.01)
    assert deepest < overlap


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [1e2, 1e5])
def test_light_spheres_carry_a_heavy_one(ratio):
    """On three layers of nine: it stays on top, and nothing overlaps by more than 1 % of the radius."""
    scene = pl.Scene()
    points = pl.shapes.packed_spheres((0.061, 0.061, 0.061), radius=R, arrangement="cubic")
    points = points - points.mean(axis=0) + np.array([0, 0, 0.0305])
    scene.add_particles(points, radius=R, density=1000.0, friction=0.3)
    top = points[:, 2].max()
    heavy = scene.add_particles([[0.003, 0.002, top + 1.9 * R]], radius=R, density=1000.0 * ratio, friction=0.3)
    scene.add_container((0, 0, 0.25), (0.0615, 0.0615, 0.5), friction=0.3)
    sim = pl.Simulation(scene, pl.AVBD(iterations=50), precision="double")
    for _ in range(300):
        sim.step()
    assert len(points) == 27
    assert heavy.positions[0, 2] > top + 1.8 * R
    assert -sim.contacts.gaps.min() < 0.01 * R
    assert np.abs(sim.velocities).max() < 1e-3


@pytest.mark.parametrize("solver", [pl.Auto(), pl.AVBD(iterations=20)], ids=["Auto", "AVBD"])
@pytest.mark.slow
def test_slides_and_sticks_on_an_incline(solver):
    """g (sin - mu cos) above atan(mu); below it, at rest, or creeping with smoothed friction below 5 mm/s."""
    mu = 0.3

    def speed(angle):
        scene = pl.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
        scene.add_particles([[0, 0, R]], radius=R)
        scene.add_plane(friction=mu)
        sim = pl.Simulation(scene, solver, precision="double")
        for _ in range(60):
            sim.step()
        return sim.velocities[0, 0]

    steep, flat = 1.5 * np.arctan(mu), 0.9 * np.arctan(mu)
    assert speed(steep) == pytest.approx(G * (np.sin(steep) - mu * np.cos(steep)) * 0.2, rel=1e-3)
    assert abs(speed(flat)) < (1e-9 if isinstance(solver, pl.AVBD) else 5e-3)


@pytest.mark.slow
def test_default_settings_with_a_soft_body():
    """A scene with particles and a solid needs no solver: at rest the ground carries all, the block the spheres."""
    scene, grains, ground = pile_on_block()
    sim = pl.Simulation(scene)
    assert isinstance(sim.solver, pl.Auto)
    on_ground, on_block = [], []
    for k in range(300):
        sim.step()
        if k >= 250:
            on_ground.append(-ground.contact_force[2])
            on_block.append(grains.contact_force[2])
    spheres = G * grains.masses.sum()
    assert np.mean(on_ground) == pytest.approx(G * sim.model.mass.sum(), rel=0.02)
    assert np.mean(on_block) == pytest.approx(spheres, rel=0.02)
    assert np.abs(sim.velocities).max() < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("shape", [pl.Box((0.1, 0.1, 0.02)), pl.Sphere(0.05)], ids=["box", "sphere"])
@pytest.mark.parametrize("solver", [pl.Auto(), pl.AVBD(iterations=30)], ids=["Auto", "AVBD"])
def test_meets_rigid_bodies(shape, solver):
    """Without gravity, a cloud of spheres hits a rigid body that floats: momentum stays, nothing is in it."""
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_rigid(shape, density=500.0)
    points = pl.shapes.packed_spheres((0.06, 0.06, 0.04), radius=R, spacing=1.1, jitter=0.5)
    grains = scene.add_particles(points + np.array([0, 0, 0.09]), radius=R, friction=0.2)
    grains.set_velocities((0.0, 0.0, -2.0))
    sim = pl.Simulation(scene, solver, precision="double")
    start = grains.masses.sum() * -2.0
    for _ in range(60):
        sim.step()
    along = (grains.masses[:, None] * sim.velocities[-grains.n_vertices :]).sum(axis=0) + body.mass * body.velocity
    np.testing.assert_allclose(along, [0, 0, start], atol=0.01 * abs(start))
    half = 0.05 if isinstance(shape, pl.Sphere) else 0.01
    distance = grains.positions - body.position
    outside = np.linalg.norm(distance, axis=1) if isinstance(shape, pl.Sphere) else distance[:, 2]
    assert outside.min() > half + 0.5 * R
    assert body.velocity[2] < -0.1


@pytest.mark.slow
def test_goes_on_with_the_same_bits(tmp_path):
    """After a checkpoint in which spheres have new neighbours, and so colours."""
    sim = pl.Simulation(pile_on_block()[0], pl.VBD(iterations=10))
    for _ in range(25):
        sim.step()
    assert len(sim._detector.spheres.neighbours) > 0
    sim.save(tmp_path / "half.npz")
    again = pl.Simulation.resume(tmp_path / "half.npz")
    for one in (sim, again):
        for _ in range(10):
            one.step()
    np.testing.assert_array_equal(sim.positions, again.positions)
    sim.reset()
    for _ in range(35):
        sim.step()
    np.testing.assert_array_equal(sim.positions, again.positions)


@pytest.mark.slow
def test_emitted_particles_touch_nothing_before_they_come():
    scene, *_ = pile_on_block()
    sand = scene.add_emitter((0, 0, 0.5), rate=100, velocity=(0, 0, -3), until=0.05, radius=R)
    sim = pl.Simulation(scene, pl.VBD(iterations=20))
    sim.step()
    np.testing.assert_array_equal(sand.positions[1:], np.tile([0, 0, 0.5], (4, 1)))
    for _ in range(20):
        sim.step()
    age = sim.time - sand.births
    np.testing.assert_allclose(sand.positions[:, 2], 0.5 - 3 * age - 0.5 * G * age * (age + sim.h), atol=2e-4)


def test_spheres_that_turn_are_refused():
    scene = pl.Scene()
    scene.add_particles([[0, 0, 0]], spin=True)
    with pytest.raises(
        pl.SolverError, match=r"VBD does not support particles with spin=True: use VelocityTimeStepping"
    ):
        pl.Simulation(scene, pl.VBD())
