"""Chains, nets and sheets against statics."""

import numpy as np
import pytest
from scipy.optimize import brentq

import pliant as pl

G = 9.81


def settled(scene: pl.Scene, body, steps: int = 60) -> np.ndarray:
    """Positions at rest: Newton's steps so long that implicit Euler damps everything."""
    sim = pl.Simulation(scene, pl.Newton(iterations=200), frame_rate=0.2, substeps=1)
    for _ in range(steps):
        x = body.positions
        sim.step()
        if np.abs(body.positions - x).max() < 1e-12:
            break
    return body.positions


def test_a_hanging_chain_is_the_discrete_chain_and_near_the_catenary() -> None:
    """Joints in balance: constant horizontal pull, weights add up; and with many stiff links the catenary."""
    segments, length, span, mass, stiffness = 24, 1.2, 1.0, 0.01, 1e5
    points, edges = pl.shapes.chain(length=span, segments=segments)
    scene = pl.Scene()
    rest = np.full(segments, length / segments)
    chain = scene.add_springs(points, edges, stiffness=stiffness, mass=mass, lengths=rest)
    chain.pin([0, segments])
    start = points.copy()
    start[:, 2] = -0.5 * np.sin(np.pi * points[:, 0])
    chain.set_positions(start)
    x = settled(scene, chain)
    pull = np.diff(x, axis=0)
    stretched = np.linalg.norm(pull, axis=1)
    tension = stiffness * (stretched - rest)
    along = tension[:, None] * pull / stretched[:, None]
    np.testing.assert_allclose(along[:, 0], along[0, 0], rtol=1e-6)
    np.testing.assert_allclose(np.diff(along[:, 2]), mass * G, rtol=1e-6)
    a = brentq(lambda a: 2 * a * np.sinh(span / (2 * a)) - length, 0.1, 10)
    sag = a * (np.cosh(span / (2 * a)) - 1)
    assert -x[:, 2].min() == pytest.approx(sag, rel=5e-3)


def test_a_rope_only_pulls() -> None:
    """A weight thrown up on a slack rope flies freely; the same on a spring is pushed."""
    heights = {}
    for one_sided in (True, False):
        scene = pl.Scene()
        rope = scene.add_springs([[0, 0, 0], [0, 0, -1]], [[0, 1]], stiffness=1e3, mass=1.0, one_sided=one_sided)
        rope.pin([0])
        rope.set_velocities(np.array([[0, 0, 0], [0, 0, 2.0]]))
        sim = pl.Simulation(scene, pl.VBD(iterations=5), frame_rate=1000, substeps=1, precision="double")
        for _ in range(50):
            sim.step()
        heights[one_sided] = rope.positions[1, 2] + 1
    h, n = 1e-3, 50
    assert heights[True] == pytest.approx(2.0 * n * h - G * h * h * n * (n + 1) / 2, rel=1e-9)
    assert heights[False] < 0.7 * heights[True]


def test_a_hanging_sheet_stretches_as_a_bar() -> None:
    """Poisson's ratio 0: u(z) = rho g (L z - z^2 / 2) / E for a sheet of stiffness E [N/m] and density rho [kg/m^2]."""
    young, density, length = 2e3, 0.3, 1.0
    mesh = pl.shapes.cloth(size=(0.2, length), cells=(4, 20))
    scene = pl.Scene(gravity=(0, -G, 0))
    sheet = scene.add_cloth(mesh, pl.StVenantKirchhoff.from_young(young, 0.0), density=density, bending=0.0)
    sheet.pin(mesh.points[:, 1] > length / 2 - 1e-9)
    x = settled(scene, sheet)
    below = mesh.points[:, 1] < -length / 2 + 1e-9
    moved = (mesh.points[:, 1] - x[:, 1])[below].mean()
    assert moved == pytest.approx(density * G * length**2 / (2 * young), rel=5e-3)


def test_warp_carries_what_the_sheet_does_not() -> None:
    """Stretched along the warp, the sheet needs the force of both: (E + k) times strain for small strains."""
    mesh = pl.shapes.cloth(size=(1, 0.5), cells=(6, 3))
    forces = {}
    strain = 1e-4
    for warp, weft in ((0.0, 0.0), (300.0, 0.0), (0.0, 300.0)):
        scene = pl.Scene(gravity=(0, 0, 0))
        law = pl.StVenantKirchhoff.from_young(100.0, 0.0)
        sheet = scene.add_cloth(mesh, law, bending=0.0, warp=warp, weft=weft)
        sheet.set_positions(mesh.points * [1 + strain, 1, 1])
        problem = pl.Simulation(scene, pl.Newton()).problem()
        gradient = problem.gradient(problem.x_prev) - problem.inertia[:, None] * (problem.x_prev - problem.y)
        forces[warp, weft] = gradient[mesh.points[:, 0] > 0.5 - 1e-9, 0].sum() / (0.5 * strain)
    assert forces[0.0, 0.0] == pytest.approx(100.0, rel=1e-3)
    assert forces[300.0, 0.0] == pytest.approx(400.0, rel=1e-3)
    assert forces[0.0, 300.0] == pytest.approx(100.0, rel=1e-3)


def test_mass_of_a_sheet_is_density_times_area() -> None:
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.cloth(size=(2, 3), cells=(3, 4)), pl.StVenantKirchhoff(1.0, 1.0), density=0.25)
    assert pl.Simulation(scene).model.mass.sum() == pytest.approx(0.25 * 6)
