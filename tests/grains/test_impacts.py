"""What happens when many spheres are stopped at once, and sheets that meet obstacles."""

import numpy as np
import pytest

import pliant as pl

G, R = 9.81, 0.01


def deepest(x):
    """Deepest overlap of spheres of radius R, in radii."""
    from scipy.spatial import cKDTree

    pairs = cKDTree(x).query_pairs(2 * R, output_type="ndarray")
    if not len(pairs):
        return 0.0
    return float((2 - np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1) / R).max())


def test_who_follows_what_is_stopped_is_found_in_time():
    """Ten spheres fall in line at 3 m/s, a radius per step, half a radius apart: none moves relative to the next until
    the lowest is stopped. With iterations enough no overlap is above 1 % of the radius.
    """
    scene = pl.Scene()
    grains = scene.add_particles(np.column_stack([np.zeros((10, 2)), 0.02 + 2.5 * R * np.arange(10)]), radius=R)
    grains.set_velocities((0, 0, -3.0))
    scene.add_plane()
    sim = pl.Simulation(scene, pl.VelocityTimeStepping(pl.GaussSeidel(), iterations=300), precision="double")
    for _ in range(60):
        sim.step()
        assert deepest(grains.positions) < 0.01
    assert abs(sim.velocities).max() < 1e-3


@pytest.mark.parametrize("is_wall", [False, True], ids=["sphere", "wall"])
@pytest.mark.parametrize("scheme", [pl.VelocityTimeStepping, pl.SequentialPositions])
def test_who_is_thrown_meets_what_was_not_on_its_way(scheme, is_wall):
    """A sphere at 3 m/s hits one at rest, half a radius before a third, or before a wall: that one would go nowhere
    without constraints, and goes into what is behind it within the same step. No overlap is above 1 % of the diameter,
    and of spheres momentum stays.
    """
    scene = pl.Scene(gravity=(0, 0, 0))
    x = np.array([-2.05, 0.0, 2.5])[: 2 if is_wall else 3] * R
    grains = scene.add_particles(np.column_stack([x, np.zeros((len(x), 2))]), radius=R)
    grains.set_velocities([(3.0, 0, 0)] + [(0, 0, 0)] * (len(x) - 1))
    if is_wall:
        scene.add_plane((1.5 * R, 0, 0), (-1, 0, 0))
    sim = pl.Simulation(scene, scheme(), precision="double", frame_rate=300, substeps=1)
    for _ in range(3):
        sim.step()
        assert deepest(grains.positions) < 0.02
        if is_wall:
            assert grains.positions[:, 0].max() < 0.52 * R
        else:
            np.testing.assert_allclose(sim.velocities[:, 0].sum(), 3.0, rtol=1e-9)


def test_a_heap_that_falls_into_a_box_stays_there():
    """720 spheres in 20 layers, dropped by 5 cm, with default settings: overlaps stay below a fifth of the radius, and
    energy, once lost, does not come back: at most 5 % of what the fall has set free.
    """
    scene = pl.Scene()
    points = pl.shapes.packed_spheres((0.128, 0.128, 0.43), radius=R, spacing=1.05, jitter=0.5) + np.array([0, 0, 0.27])
    grains = scene.add_particles(points, radius=R)
    scene.add_container((0, 0, 0.5), (0.135, 0.135, 1.0))
    sim = pl.Simulation(scene)
    start, energies = sim.energies()["total"], []
    for _ in range(50):
        sim.advance()
        assert deepest(grains.positions) < 0.2
        energies.append(sim.energies()["total"])
    lost = start - energies[-1]
    assert (energies - np.minimum.accumulate(energies)).max() < 0.05 * lost
    assert np.linalg.norm(sim.velocities, axis=1).mean() < 0.01


def test_settled_velocities_do_not_carry_corrections():
    """A sphere that starts half a radius in the ground is pushed out, and then has no speed."""
    scene = pl.Scene()
    grains = scene.add_particles([[0, 0, 0.5 * R]], radius=R)
    scene.add_plane()
    sim = pl.Simulation(scene, precision="double")
    highest = 0.0
    for _ in range(60):
        sim.step()
        highest = max(highest, grains.positions[0, 2])
        assert abs(sim.velocities[0, 2]) < 1e-6
    assert highest == pytest.approx(R, abs=1e-3 * R)


@pytest.mark.parametrize("scheme", [pl.VelocityTimeStepping(), pl.SequentialPositions()], ids=["VTS", "SP"])
def test_a_sheet_lies_on_obstacles(scheme):
    """It falls on a ball, hangs over it, and stays outside of it and of the ground by a third of half its thickness or
    more; with mu = 0.8 it does not slide off (Figure 5).
    """
    scene = pl.Scene()
    mesh = pl.shapes.cloth(size=(0.4, 0.4), cells=(12, 12)).transformed(translation=(0, 0, 0.22))
    cloth = scene.add_cloth(mesh, pl.StVenantKirchhoff.from_young(1e3, 0.3))
    cloth.friction = 0.8
    scene.add_sphere((0, 0, 0.1), 0.1, friction=0.8)
    scene.add_plane(friction=0.8)
    sim = pl.Simulation(scene, scheme)
    for _ in range(90):
        sim.advance()
    half = sim.model.contact.radius[0]
    x = cloth.positions
    assert (np.linalg.norm(x - (0, 0, 0.1), axis=1) > 0.1 + 0.33 * half).all()
    assert x[:, 2].min() > 0.8 * half
    assert np.abs(x[:, :2].mean(axis=0)).max() < 0.005
    assert np.linalg.norm(sim.velocities, axis=1).mean() < 0.05
