"""Rolling resistance: numbers from mechanics."""

import numpy as np
import pytest

import pliant as pl

G, R = 9.81, 0.01
RELAXATIONS = {"ImprovedJacobi": pl.ImprovedJacobi(), "GaussSeidel": pl.GaussSeidel()}
every_relaxation = pytest.mark.parametrize("relaxation", RELAXATIONS.values(), ids=RELAXATIONS)


def speed_on_incline(angle, resistance, scheme, start=0.0, plate=False):
    """Speed down the incline after 0.2 s, on a plane or on a heavy rigid plate; it does not slip."""
    scene = pl.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    grains = scene.add_particles([[0, 0.3, R]], radius=R, spin=True, rolling_resistance=resistance, friction=0.9)
    grains.set_velocities((start, 0, 0))
    if plate:
        scene.gravity = (0, 0, 0)
        scene.add_rigid(pl.Box((2, 2, 0.1)), density=1e6, position=(0, 0, -0.05))
        grains.add_force(lambda x, v, t: np.array([[G * np.sin(angle), 0, -G * np.cos(angle)]]) * MASS)
    else:
        scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.9)
    sim = pl.Simulation(scene, scheme, frame_rate=60, substeps=5, precision="double")
    if start:
        sim.state.spins[0] = (0, start / R, 0)
    for _ in range(60):
        sim.step()
    v, w = sim.velocities[0, 0], sim.state.spins[0, 1]
    assert w * R == pytest.approx(v, rel=1e-3, abs=1e-5)
    return v


MASS = 2500 * 4 / 3 * np.pi * R**3


@every_relaxation
def test_begins_to_roll_at_the_slope_that_it_names(relaxation):
    """At rest below atan(mu_r), 5/7 g (sin - mu_r cos) above it; the threshold lies within 1 %."""
    mu, scheme = 0.2, pl.VelocityTimeStepping(relaxation, iterations=40)
    assert abs(speed_on_incline(0.99 * np.arctan(mu), mu, scheme)) < 1e-5
    for angle in (1.01 * np.arctan(mu), np.radians(25)):
        expected = 5 / 7 * G * (np.sin(angle) - mu * np.cos(angle)) * 0.2
        assert speed_on_incline(angle, mu, scheme) == pytest.approx(expected, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("scheme", [pl.VelocityTimeStepping(), pl.SequentialPositions()], ids=["VTS", "SP"])
@pytest.mark.parametrize("plate", [False, True], ids=["plane", "rigid-plate"])
def test_slows_down_what_rolls(scheme, plate):
    """On the level by 5/7 mu_r g."""
    if plate:
        assert speed_on_incline(0.0, 0.1, scheme, 1.0, True) == pytest.approx(1 - 5 / 7 * 0.1 * G * 0.2, rel=5e-3)
    else:
        assert speed_on_incline(0.0, 0.1, scheme, 1.0) == pytest.approx(1 - 5 / 7 * 0.1 * G * 0.2, rel=1e-3)


def test_torques_between_spheres_cancel():
    """Two spheres pressed against each other that turn about one axis: their spins meet, angular momentum stays."""
    scene = pl.Scene(gravity=(0, 0, 0))
    grains = scene.add_particles([[0, 0, 0], [1.5 * R, 0, 0]], radius=[R, R / 2], spin=True, rolling_resistance=0.3)
    scene.contact = pl.Contact(friction=0.0)
    grains.set_velocities([[0.5, 0, 0], [-0.5, 0, 0]])
    sim = pl.Simulation(scene, pl.VelocityTimeStepping(), precision="double", frame_rate=300, substeps=1)
    sim.state.spins[:] = [[0, 5.0, 0], [0, -2.0, 0]]
    inertia = 0.4 * sim.model.mass[:2] * np.array([R, R / 2]) ** 2
    before = inertia @ sim.state.spins
    sim.step()
    after = sim.state.spins
    np.testing.assert_allclose(inertia @ after, before, rtol=1e-12, atol=1e-18)
    assert abs(after[0, 1] - after[1, 1]) < 1e-3 * 7.0


def test_files_and_refusals(tmp_path):
    scene = pl.Scene()
    scene.add_particles([[0, 0, 1]], spin=True, rolling_resistance=0.25, name="sand")
    scene.add_emitter((0, 0, 2), 10, (0, 0, -1), 1.0, spin=True, rolling_resistance=0.5)
    pl.save_scene(scene, tmp_path / "scene.toml")
    bodies = pl.load_scene(tmp_path / "scene.toml").bodies
    assert [body.rolling_resistance for body in bodies] == [0.25, 0.5]
    with pytest.raises(
        pl.SceneError, match=r"rolling_resistance is 0.1, but its particles do not turn: give spin=True"
    ):
        pl.Scene().add_particles([[0, 0, 1]], rolling_resistance=0.1)
    with pytest.raises(pl.SolverError, match=r"rolling_resistance, which ConjugateResiduals does not find"):
        pl.Simulation(scene, pl.VelocityTimeStepping(pl.ConjugateResiduals()))
