"""Gravity by body, air damping and force fields: exact solutions of implicit Euler."""

import numpy as np
import pytest

import pliant as pl

MESH = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
LAW = pl.StableNeoHookean.from_young(1e5, 0.35)


def simulate(scene, n, **options):
    sim = pl.Simulation(
        scene, pl.VBD(iterations=2, start="accelerated"), frame_rate=100, substeps=1, precision="double", **options
    )
    for _ in range(n):
        sim.step()
    return sim


def test_each_body_falls_by_its_own_gravity():
    """x_n = x_0 + n h v_0 + g h^2 n (n + 1) / 2; None is the scene's."""
    scene, gravities = pl.Scene(gravity=(0, 0, -9.81)), [(0.0, 0.0, -9.81), (1.0, -2.0, 3.0), (0.0, 0.0, 0.0)]
    for gravity, own in zip(gravities, (None, gravities[1], gravities[2]), strict=True):
        body = scene.add_solid(MESH, LAW)
        body.gravity = own
        body.set_velocities(np.array(gravity) * 0.1 + (0.2, 0.0, 0.0))
    n, h = 30, 0.01
    sim = simulate(scene, n)
    for body, gravity in zip(scene.bodies, np.array(gravities), strict=True):
        v = gravity * 0.1 + (0.2, 0.0, 0.0)
        expected = MESH.points + n * h * v + gravity * h**2 * n * (n + 1) / 2
        np.testing.assert_allclose(body.positions, expected, rtol=0, atol=1e-12)
    weights = sim.model.mass[:, None] * sim.positions * np.repeat(gravities, MESH.n_vertices, axis=0)
    assert sim.energies()["gravity"] == pytest.approx(-np.sum(weights), rel=1e-12)


def test_terminal_velocity_is_gravity_over_air_damping():
    """g / c, to 1e-9; the other body keeps falling."""
    scene = pl.Scene(gravity=(0, 0, -9.81))
    braked, free = scene.add_solid(MESH, LAW), scene.add_solid(MESH, LAW)
    braked.air_damping = 8.0
    n, h = 300, 0.01
    sim = simulate(scene, n)
    v = sim.velocities[:, 2].reshape(2, -1)
    np.testing.assert_allclose(v[0], -9.81 / 8.0, rtol=1e-9)
    np.testing.assert_allclose(v[1], -9.81 * n * h, rtol=1e-9)
    assert free.air_damping == 0


def test_velocity_decays_by_the_rate_of_air_damping():
    """1 / (1 + c h) a step: implicit Euler of exp(-c t)."""
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(MESH, LAW)
    body.air_damping = 3.0
    body.set_velocities((1.0, 2.0, -1.0))
    n, h = 40, 0.01
    v = simulate(scene, n).velocities
    np.testing.assert_allclose(v, np.tile(np.array([1.0, 2.0, -1.0]) / (1 + 3.0 * h) ** n, (len(v), 1)), rtol=1e-9)


def test_a_force_field_sees_arrays_of_its_body_at_the_start_of_the_step():
    """m cos(t): v_n = h sum cos(k h). Positions, velocities and time are those before the step; copies."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(pl.shapes.ball(0.1, 1), LAW)
    body = scene.add_solid(MESH, LAW)
    masses, seen = body.masses, []

    def field(positions, velocities, time):
        seen.append((positions.copy(), velocities.copy(), time))
        positions[:] = velocities[:] = np.nan
        return masses[:, None] * (0.0, np.cos(time), 0.0)

    body.add_force(field)
    n, h = 25, 0.01
    sim = simulate(scene, n)
    expected = h * np.cos(h * np.arange(n)).sum()
    v = sim.velocities
    np.testing.assert_allclose(v[-MESH.n_vertices :], np.tile((0, expected, 0), (MESH.n_vertices, 1)), atol=1e-9)
    np.testing.assert_allclose(v[: -MESH.n_vertices], 0, atol=1e-13)
    assert [time for _, _, time in seen] == pytest.approx(h * np.arange(n))
    np.testing.assert_array_equal(seen[0][0], MESH.points)
    np.testing.assert_allclose(seen[-1][1][:, 1], h * np.cos(h * np.arange(n - 1)).sum(), atol=1e-9)


@pytest.mark.parametrize(
    ("returned", "part"),
    [
        (None, "NoneType"),
        (np.zeros(3), "shape (3,)"),
        (np.full((MESH.n_vertices, 3), np.inf), "vertex 0"),
        ("wind", "str"),
    ],
    ids=["none", "one", "infinite", "text"],
)
def test_a_bad_force_names_body_and_time(returned, part):
    scene = pl.Scene()
    body = scene.add_solid(MESH, LAW, name="block")
    body.add_force(lambda x, v, t: returned if t > 0.015 else np.zeros_like(x))
    with pytest.raises(pl.SceneError) as error:
        simulate(scene, 3)
    for wanted in ("block: force at t = 0.02 s", part, "[N]"):
        assert wanted in str(error.value)
