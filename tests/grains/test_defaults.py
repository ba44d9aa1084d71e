"""Grains with default settings."""

import numpy as np
import pytest

import pliant as pl


@pytest.mark.slow
def test_a_scene_with_particles_needs_no_solver() -> None:
    """Ten spheres on the ground: after half a second they still rest there, to a hundredth of a radius."""
    scene = pl.Scene()
    points = np.column_stack([0.05 * np.arange(10), np.zeros(10), np.full(10, 0.01)])
    grains = scene.add_particles(points, radius=0.01)
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.4)
    sim = pl.Simulation(scene)
    assert isinstance(sim.solver, pl.VelocityTimeStepping)
    for _ in range(30):
        sim.advance()
    np.testing.assert_allclose(grains.positions, points, atol=1e-4)
    assert np.abs(sim.velocities).max() == pytest.approx(0.0, abs=1e-6)


def sheet_and_sand() -> tuple[pl.Scene, np.ndarray]:
    """A cloth held by its corners and sand above it; the edges of the cloth (e, 2)."""
    scene, mesh = pl.Scene(), pl.shapes.cloth(size=(0.6, 0.6), cells=(24, 24))
    cloth = scene.add_cloth(mesh, pl.StVenantKirchhoff.from_young(1e4, 0.3), density=0.2)
    cloth.pin((np.abs(mesh.points[:, :2]) > 0.299).all(axis=1))
    scene.add_emitter(
        (0, 0, 0.3), rate=100, velocity=(0, 0, -1), until=1.0, radius=0.01, size=0.04, friction=0.4, density=300
    )
    sides = np.concatenate([mesh.triangles[:, [0, 1]], mesh.triangles[:, [1, 2]], mesh.triangles[:, [2, 0]]])
    return scene, np.unique(np.sort(sides, axis=1), axis=0)


def test_grains_on_cloth_have_the_scheme_whose_lengths_turn() -> None:
    assert isinstance(pl.Simulation(sheet_and_sand()[0]).solver, pl.SequentialPositions)


@pytest.mark.slow
def test_sand_comes_to_rest_on_cloth_without_a_solver() -> None:
    """It falls 0.3 m at 1 m/s and so sets 2.6 m/s free: once all lies there the cloth is much slower than that, and
    no edge is half as long again as it was.
    """
    scene, edges = sheet_and_sand()
    sim = pl.Simulation(scene)
    for _ in range(120):
        sim.advance()
    vertices = edges.max() + 1
    assert np.linalg.norm(sim.velocities[:vertices], axis=1).max() < 1.0
    lengths = [np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1) for x in (sim.positions, sim.model.positions)]
    assert (lengths[0] / lengths[1]).max() < 1.5


@pytest.mark.slow
def test_spheres_in_one_place_come_apart() -> None:
    """The scene is as large as its spheres, so that coming apart is no explosion; two end beside each other."""
    scene = pl.Scene()
    scene.add_particles([[0, 0, 0.05], [0, 0, 0.05]], radius=0.01, friction=0.4)
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.4)
    sim = pl.Simulation(scene)
    for _ in range(60):
        sim.advance()
    assert np.linalg.norm(sim.positions[1] - sim.positions[0]) >= 0.02 * (1 - 1e-3)
    assert np.abs(sim.velocities).max() < 0.01
