"""Wind on surfaces: total force and torque of plates against the formula, and what must not matter."""

import numpy as np
import pytest

import pliant as pl
from pliant.model import build_model

MEMBRANE = pl.StVenantKirchhoff(1e3, 1e3)
SIZE = (0.6, 0.4)


def turn(angle, axis=1):
    """Rotation matrix about a coordinate axis."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    R = np.eye(3)
    R[i, i] = R[j, j] = c
    R[i, j], R[j, i] = -s, s
    return R


def plate_force(wind, angle=0.0, velocity=(0.0, 0.0, 0.0), shift=(0.0, 0.0, 0.0), time=0.0):
    """Corner positions and forces (n, 3) of a plate in the xy plane turned about y; its normal is then
    (sin, 0, cos).
    """
    scene = pl.Scene(gravity=(0, 0, 0))
    sheet = scene.add_cloth(pl.shapes.cloth(SIZE, (6, 4)), MEMBRANE)
    x = sheet.mesh.points @ turn(angle).T + np.array(shift)
    scene.wind = wind
    model = build_model(scene)
    v = np.tile(velocity, (len(x), 1)).astype(float)
    return x, model.acceleration(x, v, time) * model.mass[:, None]


@pytest.mark.parametrize("degrees", [0, 20, 45, 70, 89, 110, 160, 180])
@pytest.mark.parametrize(("drag", "lift"), [(1.1, 0.0), (0.0, 0.8), (1.1, 0.8)])
def test_force_and_torque_on_a_flat_plate(degrees, drag, lift):
    """Wind along x on a plate turned by an angle: drag 1/2 rho C_D A |c| w^2 along x and lift
    1/2 rho C_L A |c| w^2 s across, c = n . e and s = |n - c e|, towards the lee side of the normal; both act at the
    centre of the plate.
    """
    w, rho, A = 7.0, 1.3, SIZE[0] * SIZE[1]
    angle, shift = np.radians(degrees), np.array([0.3, -0.2, 0.5])
    x, f = plate_force(pl.Wind((w, 0, 0), drag, lift, rho), angle, shift=shift)
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    normal *= 1 if normal[0] >= 0 else -1
    dynamic = 0.5 * rho * A * w**2
    expected = dynamic * normal[0] * np.array([drag, 0.0, lift * normal[2]])
    np.testing.assert_allclose(f.sum(axis=0), expected, rtol=0, atol=1e-12 * dynamic)
    torque = np.cross(x, f).sum(axis=0)
    np.testing.assert_allclose(torque, np.cross(shift, expected), rtol=0, atol=1e-12 * dynamic)


def test_a_corner_gets_a_third_of_its_triangles():
    """Of a plate that faces the wind: in proportion to the areas around."""
    x, f = plate_force(pl.Wind((0, 0, 3.0)))
    mesh = pl.shapes.cloth(SIZE, (6, 4))
    thirds = np.bincount(mesh.triangles.ravel(), np.repeat(mesh.areas / 3, 3), minlength=len(x))
    np.testing.assert_allclose(f[:, 2], 0.5 * 1.2 * thirds * 9.0, rtol=1e-12)


def test_only_the_relative_velocity_counts():
    """Galilean invariance; no force on what moves with the air."""
    wind, drift = np.array([4.0, 1.0, -2.0]), np.array([10.0, -3.0, 5.0])
    _, one = plate_force(pl.Wind(wind, lift=0.5), 0.4, velocity=(1.0, 0.0, 2.0))
    _, other = plate_force(pl.Wind(wind + drift, lift=0.5), 0.4, velocity=drift + np.array([1.0, 0.0, 2.0]))
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * np.abs(one).max())
    _, none = plate_force(pl.Wind(wind, lift=0.5), 0.4, velocity=wind)
    np.testing.assert_array_equal(none, 0)


def test_a_sheet_feels_both_sides_a_solid_its_front():
    """A cube in a wind along x: one face of drag, none on the lee side and along the others."""
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.shapes.box((0.5, 0.5, 0.5), (2, 2, 2))
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3))
    scene.wind = pl.Wind((6.0, 0, 0), drag=1.1)
    model = build_model(scene)
    f = model.acceleration(mesh.points, np.zeros_like(mesh.points), 0.0) * model.mass[:, None]
    np.testing.assert_allclose(f.sum(axis=0), (0.5 * 1.2 * 1.1 * 0.25 * 36.0, 0, 0), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(f[mesh.points[:, 0] > -0.24], 0)
    for side in (-1.0, 1.0):
        _, f = plate_force(pl.Wind((0, 0, side * 6.0), drag=1.1))
        assert f.sum(axis=0)[2] == pytest.approx(side * 0.5 * 1.2 * 1.1 * 0.24 * 36.0, rel=1e-12)


def test_wind_of_time():
    """Evaluated at the time given; a bad return is told with it."""
    _, f = plate_force(pl.Wind(lambda t: (0, 0, 2 * t)), time=1.5)
    assert f.sum(axis=0)[2] == pytest.approx(0.5 * 1.2 * 0.24 * 9.0, rel=1e-12)
    with pytest.raises(pl.SceneError, match=r"Wind: velocity at t = 1\.5 s.*shape \(2,\)"):
        plate_force(pl.Wind(lambda t: (1.0, t)), time=1.5)


def test_a_plate_falls_at_the_speed_at_which_drag_is_its_weight():
    """sigma g = 1/2 rho C_D v^2, in air that stands still."""
    scene = pl.Scene(gravity=(0, 0, -9.81))
    scene.add_cloth(pl.shapes.cloth(SIZE, (2, 2)), MEMBRANE, density=0.3, bending=0.0)
    scene.wind = pl.Wind((0, 0, 0), drag=1.2)
    sim = pl.Simulation(scene, pl.VBD(iterations=20), frame_rate=100, substeps=1, precision="double")
    for _ in range(300):
        sim.step()
    fall = sim.model.mass @ sim.velocities[:, 2] / sim.model.mass.sum()
    assert fall == pytest.approx(-np.sqrt(2 * 0.3 * 9.81 / (1.2 * 1.2)), rel=1e-6)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"velocity": (1, 2)}, "Wind: velocity"),
        ({"velocity": (1, 2, np.nan)}, "Wind: velocity"),
        ({"velocity": (1, 0, 0), "drag": -1.0}, "Wind: drag is -1.0"),
        ({"velocity": (1, 0, 0), "lift": "high"}, "Wind: lift is 'high'"),
        ({"velocity": (1, 0, 0), "air_density": np.inf}, "Wind: air_density is inf"),
    ],
)
def test_bad_winds_are_told(options, part):
    with pytest.raises(pl.SceneError) as error:
        pl.Wind(**options)
    assert part in str(error.value)


def test_only_a_wind_is_wind():
    with pytest.raises(pl.SceneError, match=r"Scene: wind is a tuple: give pl\.Wind"):
        pl.Scene().wind = (1, 0, 0)
