"""Bodies linked to each other: balance of forces, stiff limit, momentum."""

import numpy as np
import pytest

import pliant as pl

EDGE = 0.2
# a regular tet, its vertex 3 above the origin
UP = EDGE * np.array([[0, 3**-0.5, 0], [-0.5, -(12**-0.5), 0], [0.5, -(12**-0.5), 0], [0, 0, (2 / 3) ** 0.5]])


def hung(stiffness):
    """A tet hangs by its top on the middle of the face of another, which is held by that face's corners."""
    scene = pl.Scene(gravity=(0, 0, -9.81))
    law = pl.StableNeoHookean.from_young(1e6, 0.3)
    upper = scene.add_solid(pl.TetMesh(UP, [[0, 1, 2, 3]], orient=True), law, name="upper")
    lower = scene.add_solid(pl.TetMesh(UP - (0, 0, 0.3), [[0, 1, 2, 3]], orient=True), law, name="lower")
    upper.pin([0, 1, 2])
    scene.attach(upper, [[0, 1, 2]], lower, [3], stiffness, weights_a=[[1 / 3, 1 / 3, 1 / 3]])
    return scene, lower


@pytest.mark.parametrize("stiffness", [50.0, 1e4, 1e9])
def test_a_link_stretches_by_weight_over_stiffness(at_rest, stiffness):
    """Soft to stiff: m g / k to 1e-6 of itself, or to the rounding of positions; no sideways pull."""
    scene, lower = hung(stiffness)
    rounding = stiffness * np.spacing(0.3) / lower.masses.min()  # [m/s^2] of positions, as the link feels it
    x, energies = at_rest(scene, residual=max(1e-8, rounding))
    stretch = x[:3].mean(axis=0) - x[4 + 3]
    expected = lower.masses.sum() * 9.81 / stiffness
    np.testing.assert_allclose(stretch, (0, 0, expected), rtol=0, atol=max(1e-6 * expected, 1e-15))
    assert energies["attachment"] == pytest.approx(stiffness / 2 * stretch @ stretch, rel=1e-9, abs=1e-18 * stiffness)


def test_many_links_carry_the_weight_together(at_rest):
    """A block hung on the face of another by tet points, faces and vertices: the links' pulls sum to its weight."""
    mesh = pl.shapes.box((0.3, 0.2, 0.1), (3, 2, 1))
    scene = pl.Scene(gravity=(0, 0, -9.81))
    upper = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e6, 0.3))
    lower = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3))
    lower.set_positions(mesh.points - np.array([0, 0, 0.15]))
    upper.pin(mesh.points[:, 2] > 0.049)
    low, top = np.flatnonzero(mesh.points[:, 2] < -0.049), np.flatnonzero(mesh.points[:, 2] > 0.049)
    scene.attach(upper, low, lower, top, 300.0)
    corners = mesh.tets[::5]
    even = np.full(corners.shape, 0.25)
    scene.attach(upper, corners, lower, mesh.tets[::5], 20.0, even, even)
    a, b = at_rest(scene)[0].reshape(2, -1, 3)
    pull = 300.0 * (a[low] - b[top]).sum(axis=0) + 20.0 * (a[corners].mean(1) - b[corners].mean(1)).sum(axis=0)
    np.testing.assert_allclose(pull, (0, 0, lower.masses.sum() * 9.81), rtol=1e-7, atol=1e-7)


def test_inner_forces_keep_the_momentum():
    """Links between bodies and within one, pressure and viscosity: linear momentum to 1e-10."""
    mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    scene = pl.Scene(gravity=(0, 0, 0))
    first = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3))
    second = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3), 300.0)
    second.set_positions(mesh.points + np.array([0.4, 0, 0]))
    first.set_velocities(np.random.default_rng(0).normal(0.5, 0.3, mesh.points.shape))
    first.viscosity, first.pressure, second.pressure = 30.0, 2000.0, -500.0
    scene.attach(first, [30, 31], second, [0, 1], 1e3)
    scene.attach(first, [[0, 1, 2]], first, [20], 1e3, [[0.2, 0.2, 0.6]])
    sim = pl.Simulation(scene, pl.VBD(iterations=300), frame_rate=100, substeps=1, precision="double")
    before = sim.model.mass @ sim.velocities
    for _ in range(10):
        sim.step()
    np.testing.assert_allclose(sim.model.mass @ sim.velocities, before, rtol=0, atol=1e-10 * np.abs(before).max())


def test_a_cloth_carries_a_solid_and_a_rope(at_rest):
    """A block hangs by a face point on the middle of a sheet held at two sides, a rope's weight on the block."""
    scene = pl.Scene(gravity=(0, 0, -9.81))
    sheet = scene.add_cloth(pl.shapes.cloth((0.4, 0.4), (4, 4)), pl.StVenantKirchhoff(2e3, 2e3), bending=1e-3)
    tet = scene.add_solid(
        pl.TetMesh(UP - np.array([0, 0, 0.2]), [[0, 1, 2, 3]], orient=True), pl.StableNeoHookean.from_young(1e6, 0.3)
    )
    bob = scene.add_springs([[0, 0, -0.3], [0, 0, -0.4]], [[0, 1]], stiffness=200.0, mass=0.05)
    sheet.pin(np.abs(sheet.mesh.points[:, 0]) > 0.199)
    sheet.set_positions(sheet.mesh.points * 1.01)
    middle = np.flatnonzero(np.linalg.norm(sheet.mesh.points, axis=1) < 1e-9)
    scene.attach(sheet, middle, tet, [3], 400.0)
    scene.attach(tet, [[0, 1, 2]], bob, [0], 100.0, [[1 / 3, 1 / 3, 1 / 3]])
    x, _ = at_rest(scene, residual=1e-6)
    n = sheet.n_vertices
    lower = x[n : n + 3].mean(axis=0) - x[n + 4]
    upper = x[middle[0]] - x[n + 3]
    np.testing.assert_allclose(lower, (0, 0, 0.1 * 9.81 / 100.0), rtol=0, atol=1e-8)
    weight = (0.1 + tet.masses.sum()) * 9.81
    np.testing.assert_allclose(upper, (0, 0, weight / 400.0), rtol=0, atol=1e-7)
