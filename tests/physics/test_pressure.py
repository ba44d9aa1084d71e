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


def test_a_balloon_carries_its_pressure_by_p_r_over_2(at_rest):
    """A membrane stretched by s has the stress psi'(s) / (2 s) [N/m], which is p r / 2 with r = s r_0.

    psi = (mu + lam) / 2 (s^2 - 1)^2 of St. Venant and Kirchhoff's law, stretched alike in both directions.
    """
    mu, lam, r, p = 100.0, 150.0, 0.3, 300.0
    mesh = pl.shapes.ball(r, 6).surface()
    scene = pl.Scene(gravity=(0, 0, 0))
    balloon = scene.add_cloth(mesh, pl.StVenantKirchhoff(mu, lam), density=0.1, bending=0.0)
    balloon.pressure = p
    x, _ = at_rest(scene, step=1.0, residual=1e-4)
    s = (enclosed_volume(x, mesh.triangles) / enclosed_volume(mesh.points, mesh.triangles)) ** (1 / 3)
    stress = (mu + lam) * (s**2 - 1)
    assert s > 1.09
    assert stress == pytest.approx(p * s * r / 2, rel=0.01)


def cube(triangles=lambda triangles: triangles):
    """The surface of a cube, its triangles changed."""
    surface = pl.shapes.box((1, 1, 1), 1).surface()
    return pl.TriMesh(surface.points, triangles(surface.triangles))


@pytest.mark.parametrize(
    ("mesh", "parts"),
    [
        pytest.param(cube(lambda t: t[1:]), ("not closed", "edge ("), id="hole"),
        pytest.param(cube(lambda t: np.vstack([t[:1, ::-1], t[1:]])), ("not closed", "edge ("), id="turned"),
        pytest.param(cube(lambda t: t[:, ::-1]), ("encloses -1 m^3", "[:, ::-1]"), id="inwards"),
    ],
)
def test_surfaces_that_hold_no_pressure_are_told(mesh, parts):
    scene = pl.Scene()
    scene.add_cloth(mesh, pl.StVenantKirchhoff(1e3, 1e3), name="bag", bending=0.0).pressure = 10.0
    with pytest.raises(pl.SceneError) as error:
        pl.Simulation(scene, pl.Newton())
    for part in ("bag: pressure", *parts):
        assert part in str(error.value)


def test_a_solid_without_cavity_and_a_rope_hold_none():
    scene = pl.Scene()
    block = scene.add_solid(pl.shapes.box(cells=1), pl.StableNeoHookean.from_young(1e5, 0.3), name="block")
    block.cavity_pressure = 5.0
    with pytest.raises(pl.SceneError, match=r"block: it has no cavity .* cavity_pressure"):
        pl.Simulation(scene, pl.Newton())
    block.cavity_pressure = 0.0
    scene.add_springs([[0, 0, 0], [1, 0, 0]], [[0, 1]], 1.0, 1.0, name="rope").pressure = 3.0
    with pytest.raises(pl.SceneError, match="rope: pressure: the body has no surface"):
        pl.Simulation(scene, pl.Newton())


@pytest.mark.parametrize("value", [None, "high", np.nan, np.inf, True])
def test_bad_pressures_are_told(value):
    """At once, or for a function of time with the time."""
    scene = pl.Scene()
    block = scene.add_solid(pl.shapes.box(cells=1), pl.StableNeoHookean.from_young(1e5, 0.3), name="block")
    with pytest.raises(pl.SceneError, match=r"block: pressure is .*\[Pa\]"):
        block.pressure = value
    block.pressure = lambda t: value if t > 0.15 else 0.0
    sim = pl.Simulation(scene, pl.Newton(iterations=1), frame_rate=10, substeps=1)
    sim.step()
    with pytest.raises(pl.SceneError, match=r"block: pressure at t = 0\.2 s is .*\[Pa\]"):
        sim.step()
