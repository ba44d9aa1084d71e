"""Spheres under gravity: numbers from mechanics."""

import numpy as np
import pytest

import pliant as pl


def name_of(value):
    return type(value).__name__


SCHEMES = {
    "VTS": pl.VelocityTimeStepping(),
    "VTS-GaussSeidel": pl.VelocityTimeStepping(pl.GaussSeidel()),
    "SP": pl.SequentialPositions(),
    "SP-velocity-first": pl.SequentialPositions(pl.GaussSeidel(), velocity_iterations=5),
    "PBD": pl.PositionBased(),
}
every_scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
G, R = 9.81, 0.01


def ball_on_incline(angle, mu, spin=False, scheme=None, start=0.0):
    """Speed down the incline after 0.2 s from `start` [m/s], and the angular speed times the radius."""
    scene = pl.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    grains = scene.add_particles([[0, 0, R]], radius=R, spin=spin)
    grains.set_velocities((start, 0, 0))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=mu)
    sim = pl.Simulation(
        scene, scheme or pl.VelocityTimeStepping(pl.GaussSeidel()), frame_rate=60, substeps=5, precision="double"
    )
    for _ in range(60):
        sim.step()
    assert sim.positions[0, 2] == pytest.approx(R, abs=1e-6)
    return sim.velocities[0, 0], (sim.state.spins[0, 1] * R if spin else 0.0)


@pytest.mark.parametrize("mu", [0.1, 0.3, 0.7])
def test_sticks_below_the_angle_of_friction_and_slides_above(mu):
    """Without spin: at rest below atan(mu), g (sin - mu cos) above it; the threshold lies within 1 %."""
    angle = np.arctan(mu)
    assert abs(ball_on_incline(0.99 * angle, mu)[0]) < 1e-9
    steeper = 1.01 * angle
    expected = G * (np.sin(steeper) - mu * np.cos(steeper)) * 0.2
    assert ball_on_incline(steeper, mu)[0] == pytest.approx(expected, rel=1e-6)


def test_rolls_at_five_sevenths():
    angle = np.radians(20)
    speed, turning = ball_on_incline(angle, 0.5, spin=True)
    assert speed == pytest.approx(5 / 7 * G * np.sin(angle) * 0.2, rel=1e-6)
    assert turning == pytest.approx(speed, rel=1e-6)  # without slip


def test_slides_and_turns_where_friction_is_too_weak_to_roll():
    """Below mu = 2/7 tan: a = g (sin - mu cos), and r dw/dt = 5/2 mu g cos."""
    angle, mu = np.radians(40), 0.1
    speed, turning = ball_on_incline(angle, mu, spin=True)
    assert speed == pytest.approx(G * (np.sin(angle) - mu * np.cos(angle)) * 0.2, rel=1e-6)
    assert turning == pytest.approx(2.5 * mu * G * np.cos(angle) * 0.2, rel=1e-6)


@pytest.mark.parametrize(
    "scheme", [pl.VelocityTimeStepping(), pl.SequentialPositions(pl.GaussSeidel())], ids=lambda s: type(s).__name__
)
def test_friction_stops_what_slides(scheme):
    """From 1 m/s at mu = 0.3 after v^2 / (2 mu g)."""
    scene = pl.Scene()
    grains = scene.add_particles([[0, 0, R]], radius=R)
    grains.set_velocities((1.0, 0, 0))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.3)
    sim = pl.Simulation(scene, scheme, substeps=5, precision="double")
    for _ in range(150):
        sim.step()
    assert abs(sim.velocities).max() < 1e-6
    h = 1 / 300
    assert sim.positions[0, 0] == pytest.approx(1 / (2 * 0.3 * G), abs=1.0 * h)


@every_scheme
def test_a_column_carries_its_weight(scheme):
    """20 spheres on each other: after a second the floor carries them all within 1 %, and no overlap is above 2 % of
    the diameter.
    """
    scene = pl.Scene()
    points = np.column_stack([np.zeros(20), np.zeros(20), R + 2 * R * np.arange(20)])
    grains = scene.add_particles(points, radius=R, friction=0.0)
    grains.set_positions(points)
    floor = scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.0)
    sim = pl.Simulation(scene, scheme, substeps=5, precision="double")
    forces = []
    for k in range(300):
        sim.step()
        if k >= 200:
            forces.append(-floor.contact_force[2])
    weight = 20 * 2500 * 4 / 3 * np.pi * R**3 * G
    assert np.mean(forces) == pytest.approx(weight, rel=0.01)
    assert -sim.contacts.gaps.min() < 0.02 * 2 * R
    assert grains.contact_force[2] == pytest.approx(weight, rel=0.05)


@every_scheme
def test_contacts_keep_momentum(scheme):
    """A cloud of spheres of different radii, spinning, flies together: nothing acts from outside."""
    scene, random = pl.Scene(gravity=(0, 0, 0)), np.random.default_rng(5)
    points = pl.shapes.packed_spheres((0.1,), radius=R, fill="ball", spacing=1.05, jitter=1.0)
    grains = scene.add_particles(points, radius=random.uniform(0.008, 0.01, len(points)), friction=0.4, spin=True)
    grains.set_velocities(-5 * points + random.normal(scale=0.1, size=points.shape))
    sim = pl.Simulation(scene, scheme, substeps=2, precision="double")
    masses = sim.model.mass[:, None]
    moments = sim.model.particles.moments(sim.model.mass)[:, None]

    def momenta():
        turning = np.cross(sim.positions, masses * sim.velocities) + moments * sim.state.spins
        return (masses * sim.velocities).sum(axis=0), turning.sum(axis=0)

    p, L = momenta()
    speed = np.abs(sim.velocities).mean()
    for _ in range(20):
        sim.step()
    assert sim.n_contacts == 0 or len(sim.contacts) > 20
    assert np.abs(sim.velocities).mean() < 0.7 * speed  # they have met
    after, turned = momenta()
    np.testing.assert_allclose(after, p, atol=1e-13)
    if scheme.capabilities.particles and scheme is SCHEMES["VTS"]:
        # impulses act at the points of touch of the start of the step: turning momentum holds to first order in h
        np.testing.assert_allclose(turned, L, atol=0.02 * np.abs(masses * sim.velocities).sum() * 0.1)


@every_scheme
def test_two_spheres_meet(scheme):
    """Without rebound they go on together: m1 v1 / (m1 + m2)."""
    scene = pl.Scene(gravity=(0, 0, 0))
    grains = scene.add_particles([[0, 0, 0], [0.03, 0, 0]], radius=[R, 1.2 * R])
    grains.set_velocities([[1.0, 0, 0], [0, 0, 0]])
    sim = pl.Simulation(scene, scheme, substeps=20, precision="double")
    for _ in range(40):
        sim.step()
    together = 1 / (1 + 1.2**3)
    np.testing.assert_allclose(sim.velocities[:, 0], together, rtol=0.02)
    assert np.diff(sim.positions[:, 0])[0] == pytest.approx(2.2 * R, rel=0.01)


def test_spring_stiffness_is_kept():
    """A mass on a spring hangs m g / k lower."""
    scene = pl.Scene()
    net = scene.add_springs([[0, 0, 0], [0, 0, -0.1]], [[0, 1]], stiffness=50.0, mass=0.2)
    net.pin([0])
    net.air_damping = 20.0
    sim = pl.Simulation(scene, pl.VelocityTimeStepping(pl.GaussSeidel()), precision="double")
    for _ in range(1500):
        sim.step()
    assert sim.positions[1, 2] == pytest.approx(-0.1 - 0.2 * G / 50, abs=1e-6)


@pytest.mark.parametrize("relaxation", [pl.GaussSeidel(), pl.ImprovedJacobi(omega=0.4)], ids=name_of)
def test_masses_that_differ_by_1e5(relaxation):
    """Spheres of six densities from 1 to 1e5 kg/m^3, mixed, come to rest in a box (Figure 9): nothing flies off, and
    the box carries the weight of all.
    """
    scene, random = pl.Scene(), np.random.default_rng(2)
    points = random.permutation(pl.shapes.packed_spheres((0.08, 0.08, 0.08), radius=R, spacing=1.1, jitter=0.5))
    for k, part in enumerate(np.array_split(points + np.array([0, 0, 0.05]), 6)):
        scene.add_particles(part, radius=R, density=10.0**k, friction=0.2)
    box = scene.add_container((0, 0, 0.5), (0.08, 0.08, 1.0), friction=0.2)
    sim = pl.Simulation(scene, pl.VelocityTimeStepping(relaxation), substeps=5, precision="double")
    fastest, force = 0.0, []
    for k in range(450):
        sim.step()
        fastest = max(fastest, np.abs(sim.velocities).max())
        if k >= 350:
            force.append(box.contact_force[2])
    assert fastest < 3.0
    assert -np.mean(force) == pytest.approx(G * sim.model.mass.sum(), rel=0.02)


@every_scheme
def test_overlapping_starts_come_apart_gently(scheme, caplog):
    """Two spheres half in each other: apart in the end, never faster than their radius in a tenth of a second."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_particles([[0, 0, 0], [R, 0, 0]], radius=R)
    sim = pl.Simulation(scene, scheme, substeps=5, precision="double")
    fastest = 0.0
    for _ in range(60):
        sim.step()
        fastest = max(fastest, np.abs(sim.velocities).max())
    assert np.diff(sim.positions[:, 0])[0] >= 2 * R * 0.99
    assert fastest <= 0.1 * R * 300 * 1.01
    assert any("overlap" in record.message for record in caplog.records)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda s: s.add_particles([[0, 0, 0]], radius=0.0),
            r"particles0: radius: particle 0 has 0.0: give a positive",
        ),
        (lambda s: s.add_particles([[0, 0, 0]], radius=np.nan), r"particles0: radius: particle 0 has nan"),
        (lambda s: s.add_particles([[0, 0, 0]], radius=[1, 2]), r"give one number \[m\] or one per particle \(1,\)"),
        (lambda s: s.add_particles([[0, 0, np.nan]]), r"particles0: points: vertex 0 is"),
        (lambda s: s.add_particles([]), r"particles0: points"),
        (lambda s: s.add_particles([[0, 0, 0]], density=-1), r"particles0: density is -1"),
        (lambda s: s.add_particles([[0, 0, 0]], friction=-1), r"particles0: friction is -1"),
    ],
)
def test_bad_particles(make, words):
    with pytest.raises(pl.SceneError, match=words):
        make(pl.Scene())


def test_all_in_one_place():
    scene = pl.Scene()
    scene.add_particles(np.zeros((3000, 3)))
    with pytest.raises(pl.SimulationError, match=r"they lie in each other. Start particles apart"):
        pl.Simulation(scene, pl.VelocityTimeStepping(), precision="double").step()


def test_other_solvers_refuse_particles_and_these_refuse_solids():
    scene = pl.Scene()
    scene.add_particles([[0, 0, 0]])
    with pytest.raises(pl.SolverError, match=r"LBFGS does not support particles: use Auto, VBD, AVBD, Newton, GPBD or"):
        pl.Simulation(scene, pl.LBFGS())
    scene.add_solid(pl.shapes.box(cells=1), pl.NeoHookean.from_young(1e5, 0.3))
    with pytest.raises(pl.SolverError, match=r"VelocityTimeStepping has no constraints for Solids: it takes particles"):
        pl.Simulation(scene, pl.VelocityTimeStepping())


def test_everything_held():
    scene = pl.Scene()
    scene.add_particles([[0, 0, 0]]).pin([0])
    with pytest.raises(pl.SceneError, match=r"nothing is left to simulate"):
        pl.Simulation(scene, pl.VelocityTimeStepping())
