"""Pressure on closed surfaces against solutions of elasticity."""

import numpy as np
import pytest
from scipy.optimize import brentq

import pliant as pl
from pliant.geometry.surface import enclosed_volume


@pytest.mark.parametrize("pressure", [-3e4, 1e4])
def test_a_block_under_pressure_all_around_stretches_as_its_law_says(at_rest, pressure):
    """Every edge by s with d/ds (psi(s) - p s^3) = 0, exactly: the deformation is homogeneous."""
    mu, lam = 4e4, 6e4
    mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(mesh, pl.StableNeoHookean(mu, lam))
    body.pressure = pressure
    order = np.lexsort((mesh.points[:, 0], mesh.points[:, 1], mesh.points[:, 2]))  # held as a body is, not strained
    body.pin(order[:1])
    body.constrain_to_line(order[1:2], (1, 0, 0))
    body.constrain_to_plane(order[4:5], (0, 0, 1))
    x, energies = at_rest(scene)

    def slope(s):  # psi = mu/2 (3 s^2 - 3) - mu (J - 1) + (lam + mu)/2 (J - 1)^2, J = s^3
        return 3 * mu * s + 3 * s**2 * (-mu + (lam + mu) * (s**3 - 1) - pressure)

    s = brentq(slope, 0.5, 2.0, xtol=1e-14)
    assert abs(s - 1) > 0.02
    edges = x[mesh.edges[:, 0]] - x[mesh.edges[:, 1]]
    rest = mesh.points[mesh.edges[:, 0]] - mesh.points[mesh.edges[:, 1]]
    np.testing.assert_allclose(np.linalg.norm(edges, axis=1) / np.linalg.norm(rest, axis=1), s, rtol=1e-8)
    assert energies["pressure"] == pytest.approx(-pressure * s**3 * mesh.volume, rel=1e-8)


def shell(layers):
    """A ball without its core: inner radius 0.5, outer 1."""
    ball = pl.shapes.ball(1.0, layers)
    radius = np.linalg.norm(ball.points[ball.tets], axis=2)
    points, tets, _ = pl.geometry.drop_isolated_vertices(ball.points, ball.tets[radius.min(axis=1) > 0.499])
    return pl.TetMesh(points, tets)


@pytest.mark.parametrize(("inner", "outer"), [(100.0, 0.0), (0.0, 100.0)], ids=["inside", "outside"])
def test_a_hollow_ball_under_pressure(at_rest, inner, outer):
    """Lame's solution for pressures p_i in the cavity and p_o outside: within 10 % on eight layers, and the error falls
    with the square of their thickness.
    """
    E, nu, a, b = 1e6, 0.3, 0.5, 1.0

    def lame(r):
        uniform = (1 - 2 * nu) / E * (inner * a**3 - outer * b**3) / (b**3 - a**3) * r
        return uniform + (1 + nu) / (2 * E) * (inner - outer) * a**3 * b**3 / ((b**3 - a**3) * r**2)

    errors = []
    for layers in (4, 8):
        mesh, scene = shell(layers), pl.Scene(gravity=(0, 0, 0))
        body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(E, nu))
        body.cavity_pressure, body.pressure = inner, -outer
        r = np.linalg.norm(mesh.points, axis=1)
        u = np.einsum("na,na->n", at_rest(scene)[0] - mesh.points, mesh.points) / r
        measured = np.array([u[np.abs(r - radius) < 1e-9].mean() for radius in (a, b)])
        errors.append(measured / lame(np.array([a, b])) - 1)
    assert np.abs(errors[1]).max() < 0.1
    assert np.all(np.abs(errors[1]) < 0.35 * np.abs(errors[0]))


def test_pressure_of_time_is_that_at_the_end_of_the_step():
    """-p V with p at (n + 1) h, in the next problem and among the energies of the state."""
    times = []

    def course(time):
        times.append(time)
        return 100.0 * time

    mesh = pl.shapes.box((0.2, 0.2, 0.2), 1)
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3)).pressure = course
    sim = pl.Simulation(scene, pl.Newton(), frame_rate=10, substeps=1)
    times.clear()
    problem = sim.problem()
    assert times == pytest.approx([0.1])
    assert problem.energies(mesh.points)["pressure"] == pytest.approx(-100.0 * 0.1 * mesh.volume, rel=1e-12)
    sim.step()
    sim.step()
    assert times[-1] == pytest.approx(0.2)
    volume = enclosed_volume(sim.positions, mesh.surface_triangles)
    assert sim.energies()["pressure"] == pytest.approx(-100.0 * 0.2 * volume, rel=1e-12)
