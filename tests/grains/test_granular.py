"""Laws of granular matter: repose and silos; and many shots."""

import numpy as np
import pytest

import pliant as pl

G, R = 9.81, 0.01
pytestmark = pytest.mark.slow


def slope_of_pile(mu, n=400):
    """Angle [degrees] of a pile that n grains form: a cone has its mass at H / 4, at the mean distance B / 2."""
    scene = pl.Scene()
    grains = scene.add_emitter((0, 0, 0.2), 400, (0, 0, -0.8), until=n / 400, radius=R, size=0.035, friction=mu)
    scene.add_plane(friction=mu)
    sim = pl.Simulation(scene)
    for _ in range(round(60 * (n / 400 + 1.0))):
        sim.advance()
    x = grains.positions
    middle = np.median(x[:, :2], axis=0)
    distance = np.linalg.norm(x[:, :2] - middle, axis=1)
    near = distance < np.percentile(distance, 95)  # without those that rolled away
    return float(np.degrees(np.arctan(2 * (x[near, 2].mean() - R) / distance[near].mean())))


def test_the_angle_of_repose_grows_with_friction():
    """Over five values. Spheres that do not turn interlock: to atan(mu) comes at most what a sphere in the hollow of
    three others is held by, 30 degrees.
    """
    friction = (0.05, 0.15, 0.3, 0.45, 0.6)
    angles = [slope_of_pile(mu) for mu in friction]
    assert (np.diff(angles) > 1.0).all(), angles
    assert (np.array(angles) < np.degrees(np.arctan(friction)) + 30).all(), angles


def load_on_floor(layers):
    """Force [N] on the floor of a silo of six diameters, and the weight [N] of its filling."""
    scene = pl.Scene()
    wall = pl.shapes.funnel(opening=0.12, radius=0.0601, height=1.2, segments=24)
    scene.add_mesh_obstacle(wall.transformed(translation=(0, 0, 0.6)), friction=1.0)
    points = pl.shapes.packed_spheres((0.058, 2.0), radius=R, fill="cylinder", spacing=1.03, jitter=0.8)
    points = points[np.argsort(points[:, 2], kind="stable")]
    own = points[points[:, 2] < points[:, 2].min() + (layers - 0.5) * 2.06 * R]
    radii = np.random.default_rng(3).uniform(0.7 * R, R, len(own))  # equal ones would stand in columns
    place = np.array([0, 0, 1.05 * R - own[:, 2].min()])
    grains = scene.add_particles(own + place, radius=radii, friction=0.1)
    floor = scene.add_plane(friction=0.5)
    sim = pl.Simulation(scene, pl.VelocityTimeStepping(pl.GaussSeidel(), iterations=40))
    forces = []
    for k in range(150):
        sim.advance()
        if k >= 120:
            forces.append(-floor.contact_force[2])
    return float(np.mean(forces)), float(G * grains.masses.sum())


def test_silos_saturate():
    """Janssen: walls carry what is above. 20 layers put three quarters of their weight on the floor, 40 layers half of
    it; equal spheres, or rough ones, would stand in columns that need no wall.
    """
    (low, weight), (high, more) = load_on_floor(20), load_on_floor(40)
    assert more == pytest.approx(2 * weight, rel=0.06)
    assert low < 0.85 * weight
    assert high < 0.6 * more
    assert high < 1.5 * low


def test_no_sphere_passes_a_single_sheet():
    """10,000 shots at up to 100 m/s, a third of a metre per step, from both sides: each stays on its own."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        scene = pl.Scene(gravity=(0, 0, 0))
        mesh = pl.shapes.cloth(size=(1.2, 1.2), cells=(12, 12))
        cloth = scene.add_cloth(mesh, pl.StVenantKirchhoff.from_young(1e3, 0.3), density=1.0)
        cloth.pin(np.abs(mesh.points[:, :2]).max(axis=1) > 0.59)
        side = np.where(random.random(500) < 0.5, -1.0, 1.0)
        starts = np.column_stack([random.uniform(-0.3, 0.3, (500, 2)), side * random.uniform(0.05, 0.5, 500)])
        ways = np.column_stack([random.uniform(-0.4, 0.4, (500, 2)), np.zeros(500)]) - starts
        grains = scene.add_particles(starts, radius=R, density=10.0, friction=0.3)
        ways /= np.linalg.norm(ways, axis=1)[:, None]
        grains.set_velocities(100 * random.uniform(0.1, 1, (500, 1)) * ways)
        scene.ignore_contact(grains, grains)
        sim = pl.Simulation(scene, precision="double")
        for _ in range(15):
            sim.step()
            x, sheet = grains.positions, cloth.positions
            inner = np.abs(x[:, :2]).max(axis=1) < 0.5
            flat = np.abs(sheet[:, 2]).max()
            beyond = inner & (side * x[:, 2] < -flat)
            assert not beyond.any(), (seed, np.flatnonzero(beyond))


def test_a_million_spheres_in_one_place_are_refused():
    scene = pl.Scene()
    scene.add_particles(np.zeros((1_000_000, 3)))
    with pytest.raises(pl.SimulationError, match=r"they lie in each other. Start particles apart"):
        pl.Simulation(scene).step()
