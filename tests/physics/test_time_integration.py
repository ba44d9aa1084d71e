"""Time integrators: orders of convergence, energy, the same minimum for all solvers, history that is kept."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.geometry import rotations

NAMES = ("euler", "bdf2", "midpoint")


def pendulum(integrator, steps=32, seconds=0.5, solver=None, precision="double"):
    """Two masses on springs that swing down from the side."""
    scene = pl.Scene()
    points = [[0, 0, 0], [0.5, 0, 0], [0.9, 0, 0]]
    rope = scene.add_springs(points, [[0, 1], [1, 2]], stiffness=100.0, mass=1.0)
    rope.pin([0])
    solver = pl.Newton(tolerance=1e-11) if solver is None else solver
    return pl.Simulation(scene, solver, steps / seconds, 1, precision, integrator=integrator)


def end_of(sim, steps):
    for _ in range(steps):
        sim.step()
    return sim.positions


def exact_pendulum(seconds=0.5):
    """The same as a differential equation, by a Runge-Kutta method to 1e-12."""
    rest, k = np.array([0.5, 0.4]), 100.0

    def rate(t, state):
        x, v = np.zeros((3, 3)), np.zeros((3, 3))
        x[1:], v[1:] = state.reshape(2, 2, 3)
        f = np.zeros((3, 3))
        for i in range(2):
            d = x[i + 1] - x[i]
            n = d / np.linalg.norm(d)
            pull = k * (np.linalg.norm(d) - rest[i])
            f[i] += pull * n
            f[i + 1] -= pull * n
        return np.concatenate([v[1:].ravel(), (f[1:] + np.array([0, 0, -9.81])).ravel()])

    begin = np.concatenate([[0.5, 0, 0, 0.9, 0, 0], np.zeros(6)])
    return solve_ivp(rate, (0, seconds), begin, rtol=1e-12, atol=1e-12).y[:6, -1].reshape(2, 3)


@pytest.mark.parametrize(("name", "order"), [("euler", 1), ("bdf2", 2), ("midpoint", 2)])
def test_order_of_convergence_of_a_pendulum(name, order):
    truth = exact_pendulum()
    errors = [np.abs(end_of(pendulum(name, n), n)[1:] - truth).max() for n in (64, 128, 256)]
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert rates[-1] == pytest.approx(order, abs=0.15)
    assert errors[-1] < {"euler": 1e-2, "bdf2": 2e-4, "midpoint": 5e-5}[name]


def line(integrator, steps_per_period, damping=0.0):
    """A mass that vibrates along x, so that the spring is linear; its amplitude is 1 cm."""
    scene = pl.Scene(gravity=(0, 0, 0))
    rope = scene.add_springs([[0, 0, 0], [1.0, 0, 0]], [[0, 1]], stiffness=4 * np.pi**2, mass=1.0, damping=damping)
    rope.pin([0])
    rope.set_positions([[0, 0, 0], [1.01, 0, 0]])
    return pl.Simulation(scene, pl.Newton(tolerance=1e-12), steps_per_period, 1, "double", integrator=integrator)


@pytest.mark.slow
def test_damping_per_period_is_that_of_theory():
    """Energy left after ten periods of 40 steps: |R|^2 per step, with R the root of the scheme's polynomial."""
    z = 2j * np.pi / 40
    bdf2 = max(abs(np.roots([3 - 2 * z, -4, 1])))
    factors = {"euler": 1 / abs(1 - z), "bdf2": bdf2, "midpoint": 1.0}
    for name in NAMES:
        sim = line(name, 40)
        before = sim.energies()["total"]
        end_of(sim, 400)
        left = sim.energies()["total"] / before
        assert left == pytest.approx(factors[name] ** 800, rel=3e-2), name
    assert factors["euler"] ** 800 < 1e-4, "implicit Euler has lost nearly all"


def test_midpoint_keeps_the_energy_of_a_linear_system():
    sim = line("midpoint", 7)  # long steps
    before = sim.energies()["total"]
    energies = [end_of(sim, 1) is not None and sim.energies()["total"] for _ in range(100)]
    np.testing.assert_allclose(energies, before, rtol=1e-6)


@pytest.mark.parametrize("name", ["bdf2", "midpoint"])
def test_damping_of_strain_rates_is_of_second_order_too(name):
    """A vibration along a line of angular frequency w = 2 pi and damping ratio k_d w / 2, after half a period."""
    k_d, w = 0.05, 2 * np.pi
    decay, turn = k_d * w**2 / 2, w * np.sqrt(1 - (k_d * w / 2) ** 2)
    truth = 0.01 * np.exp(-decay / 2) * (np.cos(turn / 2) + decay / turn * np.sin(turn / 2))
    errors = [abs(end_of(line(name, n, k_d), n // 2)[1, 0] - 1 - truth) for n in (40, 80)]
    assert np.log2(errors[0] / errors[1]) > 1.8


@pytest.mark.parametrize("name", ["bdf2", "midpoint"])
def test_descent_finds_the_minimum_that_newton_finds(name):
    reference = end_of(pendulum(name), 8)
    for solver in (pl.VBD(iterations=300), pl.Chebyshev(pl.VBD(iterations=200), 0.5), pl.LBFGS(iterations=100)):
        np.testing.assert_allclose(end_of(pendulum(name, solver=solver), 8), reference, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "order"), [("euler", 1), ("bdf2", 2), ("midpoint", 2)])
def test_order_of_convergence_of_free_rotation(name, order):
    spin = np.array([0.3, 5.0, 0.2])

    def turned(steps):
        scene = pl.Scene()
        scene.add_rigid(pl.Box((1.0, 0.6, 0.2)), angular_velocity=spin)
        sim = pl.Simulation(scene, pl.Newton(), steps, 1, "double", integrator=name)
        momenta = lambda: sim.model.carried.momenta(sim.state.poses, sim.state.twists)  # noqa: E731
        before = momenta()
        end_of(sim, steps)
        np.testing.assert_allclose(momenta(), before, rtol=1e-8)
        return rotations.matrices(sim.state.poses[:, 3:])[0], scene.bodies[0].inertia

    def rate(t, state):
        R, w = state[:9].reshape(3, 3), state[9:]
        W = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([(R @ W).ravel(), np.linalg.solve(inertia, -np.cross(w, inertia @ w))])

    coarse, inertia = turned(50)
    fine, _ = turned(100)
    truth = solve_ivp(rate, (0, 1), np.concatenate([np.eye(3).ravel(), spin]), rtol=1e-11, atol=1e-11)
    errors = [np.abs(R - truth.y[:9, -1].reshape(3, 3)).max() for R in (coarse, fine)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)
    assert errors[1] < (5e-4 if order == 2 else 5e-2)


def test_prescribed_motion_is_met_at_the_end_of_every_step():
    for name in NAMES:
        scene = pl.Scene()
        rope = scene.add_springs([[0, 0, 0], [0.5, 0, 0]], [[0, 1]], stiffness=100.0, mass=1.0)
        rope.move([0], lambda t: np.array([[np.sin(9 * t), 0, 0]]))
        sim = pl.Simulation(scene, pl.Newton(), 60, 1, "double", integrator=name)
        for _ in range(5):
            sim.step()
            assert sim.positions[0, 0] == pytest.approx(np.sin(9 * sim.time), abs=1e-14)


@pytest.mark.parametrize("name", ["bdf2", "midpoint"])
def test_history_is_kept_with_the_same_bits(name, tmp_path):
    def make():
        return pendulum(name, solver=pl.VBD(iterations=5), precision="single")

    sim = make()
    first = end_of(sim, 3)
    sim.save(tmp_path / "run.npz")
    kept = sim.state_dict()
    last = end_of(sim, 4)
    resumed = pl.Simulation.resume(tmp_path / "run.npz")
    assert resumed.integrator == name
    assert np.array_equal(end_of(resumed, 4), last)
    sim.reset(kept)
    assert np.array_equal(end_of(sim, 4), last)
    sim.reset()
    assert np.array_equal(end_of(sim, 3), first)
    assert np.array_equal(end_of(make(), 7), last)


def test_velocities_changed_by_hand_start_bdf2_again():
    sim = line("bdf2", 40)
    end_of(sim, 5)
    sim.state.v[1] = 0.0, 2.0, 0.0
    before = sim.positions[1]
    sim.step()
    assert (sim.positions[1] - before)[1] == pytest.approx(2.0 / 40, rel=0.02), "not 4/3 of it"


def test_what_an_integrator_cannot_do_is_refused():
    scene = pl.Scene()
    scene.add_springs([[0, 0, 1.0], [0.5, 0, 1.0]], [[0, 1]], stiffness=100.0, mass=1.0)
    with pytest.raises(pl.PliantError, match=r"integrator is 'rk4': choose one of euler, bdf2, midpoint"):
        pl.Simulation(scene, integrator="rk4")
    scene.add_plane()
    with pytest.raises(pl.PliantError, match=r"'midpoint' has no damping, which contact needs: use 'bdf2'"):
        pl.Simulation(scene, integrator="midpoint")
    grains = pl.Scene()
    grains.add_particles([[0, 0, 1.0]], radius=0.01)
    with pytest.raises(pl.PliantError, match=r"'bdf2' does not work with VelocityTimeStepping"):
        pl.Simulation(grains, integrator="bdf2")


def falling_box(integrator):
    """As of test_restoring: an elastic box that falls on a plane and slides."""
    scene = pl.Scene(contact=pl.Contact(stiffness=1e5))
    mesh = pl.shapes.box((0.1, 0.1, 0.1), (1, 1, 1))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e6, 0.3))
    body.set_positions(mesh.points + np.array([0.0, 0.0, 0.07]))
    body.set_velocities((0.5, 0.0, -1.0))
    scene.add_plane(friction=0.5)
    return pl.Simulation(scene, integrator=integrator)


def test_contact_does_not_throw_back_with_bdf2():
    sim = falling_box("bdf2")
    energies = []
    for _ in range(40):
        energies.append(sim.energies()["total"])
        sim.step()
    assert max(energies) <= energies[0] * (1 + 1e-3)
    kinetic = sim.energies()["kinetic"]
    assert kinetic < 0.1 * 0.5 * sim.model.mass.sum() * 1.25
    assert sim.positions[:, 2].min() > -2e-3
    assert sim.positions[:, 2].min() < 1e-3, "it lies on the plane"


def test_sliding_stops_where_theory_says_with_bdf2():
    """v^2 / (2 mu g), however often contacts take a little of the normal velocity out."""
    scene = pl.Scene(contact=pl.Contact(stiffness=1e5))
    mesh = pl.shapes.box((0.1, 0.1, 0.1), (1, 1, 1))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e6, 0.3))
    body.set_positions(mesh.points + np.array([0.0, 0.0, 0.05]))
    body.set_velocities((2.0, 0.0, 0.0))
    scene.add_plane(friction=0.5)
    sim = pl.Simulation(scene, integrator="bdf2")
    way = end_of(sim, 180)[:, 0].mean() - mesh.points[:, 0].mean()
    assert way == pytest.approx(4 / (2 * 0.5 * 9.81), rel=0.02)
    assert np.abs(sim.velocities).max() < 1e-3
