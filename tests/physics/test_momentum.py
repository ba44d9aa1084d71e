"""Momentum: implicit Euler keeps the linear one and loses angular momentum at a known rate, however few iterations."""

import numpy as np
import pytest

import pliant as pl
from pliant.kernels.rigid_alignment import write_alignment
from pliant.materials import SOLID_LAWS
from pliant.model import build_model
from pliant.momentum_correction import FreeComponents

SPIN = np.array([0.0, 0.0, 4.0])  # [rad/s]
LAW = pl.StableNeoHookean.from_young(1e6, 0.3)


def spinning(h, law=pl.StableNeoHookean, solver=None, drift=(0.5, 0.0, 0.2), stretch=1.05):
    """A free block that turns about z, drifts, and if stretched vibrates too."""
    mesh = pl.shapes.box((0.4, 0.3, 0.2), (2, 2, 1))
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(mesh, law.from_young(2e5, 0.0 if law is pl.ARAP else 0.3))
    body.set_positions(mesh.points * (stretch, 1, 1))
    body.set_velocities(np.cross(SPIN, mesh.points) + drift)
    solver = pl.Newton(iterations=8) if solver is None else solver
    return pl.Simulation(scene, solver, frame_rate=1 / h, substeps=1, precision="double")


def momentum(sim):
    return sim.model.mass @ sim.velocities


def angular_momentum(sim):
    """About the centre of mass."""
    m = sim.model.mass
    r = sim.positions - m @ sim.positions / m.sum()
    return m @ np.cross(r, sim.velocities)


@pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
@pytest.mark.parametrize("solver", [pl.Newton(iterations=8), pl.VBD(iterations=300)], ids=["Newton", "VBD"])
def test_linear_momentum_is_kept(law, solver):
    """To 1e-9 over 10 converged steps."""
    sim = spinning(0.01, law, solver)
    before = momentum(sim)
    for _ in range(10):
        sim.step()
    np.testing.assert_allclose(momentum(sim), before, rtol=0, atol=1e-9 * np.linalg.norm(before))


@pytest.mark.parametrize(
    ("integrator", "kept", "part"), [("euler", None, 1e-3), ("bdf2", 1.0, 1e-3), ("midpoint", 1.0, 1e-9)]
)
def test_spin_of_a_soft_body_is_lost_as_its_integrator_loses_it(integrator, kept, part):
    """In 1 s from 8 rad/s, with default settings: dw/dt = -h w^3 with implicit Euler, none with the others."""
    spin, mesh = 8.0, pl.shapes.box((0.3, 0.2, 0.1), (3, 2, 1))
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e7, 0.3))
    body.set_velocities(np.cross((0, 0, spin), mesh.points))
    sim = pl.Simulation(scene, integrator=integrator)
    before = angular_momentum(sim)[2]
    for _ in range(300):
        sim.step()
    kept = 1 / np.sqrt(1 + 2 * sim.h * spin**2) if kept is None else kept
    assert angular_momentum(sim)[2] / before == pytest.approx(kept, rel=part)


def test_each_step_loses_the_angular_momentum_implicit_euler_loses():
    """No elastic torque at the new positions gives L_(n+1) = L_n + h sum m v_(n+1) x v_n, exactly."""
    sim = spinning(0.01, drift=(0, 0, 0))
    for _ in range(10):
        before, v = angular_momentum(sim), sim.velocities
        sim.step()
        expected = before + sim.h * sim.model.mass @ np.cross(sim.velocities, v)
        np.testing.assert_allclose(angular_momentum(sim), expected, rtol=0, atol=1e-10 * np.linalg.norm(before))


def test_angular_momentum_decreases_and_half_the_step_halves_the_loss():
    """Loss per second is about omega^2 h: monotone, and in proportion to h within 25 %."""
    seconds, loss = 0.4, {}
    for h in (0.01, 0.005):
        sim = spinning(h, stretch=1.0)
        course = [angular_momentum(sim)[2]]
        for _ in range(round(seconds / h)):
            sim.step()
            course.append(angular_momentum(sim)[2])
        assert np.diff(course).max() < 0
        loss[h] = np.log(course[0] / course[-1]) / seconds
    assert loss[0.01] / loss[0.005] == pytest.approx(2, rel=0.25)
    assert loss[0.005] == pytest.approx(SPIN[2] ** 2 * 0.005, rel=0.25)


def free_box(solver, precision, spin=(0.01, 5.0, 0.0), stretch=(1.0, 1.0, 1.0), young=1e6, gravity=(0, 0, 0)):
    mesh = pl.shapes.box((0.3, 0.2, 0.1), (6, 4, 2))
    scene = pl.Scene(gravity=gravity)
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(young, 0.3))
    body.set_positions(mesh.points * stretch)
    body.set_velocities(np.cross(spin, mesh.points))
    return pl.Simulation(scene, solver, precision=precision)


@pytest.mark.parametrize("precision", ["double", "single"])
def test_a_stiff_box_that_is_let_go_does_not_drift(precision):
    """With 5 iterations per step, far from converged, its centre of mass stays at rest to rounding, in single precision
    too: momenta are restored in double.
    """
    sim = free_box(pl.VBD(iterations=5), precision, (0, 0, 0), (1.1, 1.0, 0.95), 1e7)
    for _ in range(60):
        sim.step()
        assert np.abs(momentum(sim) / sim.model.mass.sum()).max() < 1e-11


@pytest.mark.parametrize("iterations", [1, 20])
def test_a_box_that_turns_about_its_middle_axis_gains_nothing(iterations):
    """Angular momentum changes as implicit Euler changes it, to 1e-12 per step, with 20 iterations and with one. With
    20 the total energy never grows.
    """
    sim = free_box(pl.VBD(iterations=iterations), "double")
    first, energy = np.linalg.norm(angular_momentum(sim)), sim.energies()["total"]
    start = energy
    for _ in range(120):
        before, v = angular_momentum(sim), sim.velocities
        sim.step()
        expected = before + sim.h * sim.model.mass @ np.cross(sim.velocities, v)
        np.testing.assert_allclose(angular_momentum(sim), expected, rtol=0, atol=1e-12 * first)
        last, energy = energy, sim.energies()["total"]
        assert iterations < 20 or energy <= last + 1e-9 * start


def test_momentum_grows_by_weight_alone():
    """A falling, turning box: m g h per step to rounding, with two iterations."""
    sim = free_box(pl.VBD(iterations=2), "single", gravity=(0, 0, -9.81))
    weight = sim.model.mass.sum() * np.array([0, 0, -9.81])
    for _ in range(20):
        before = momentum(sim)
        sim.step()
        np.testing.assert_allclose(momentum(sim) - before, sim.h * weight, rtol=0, atol=1e-11)


@pytest.mark.parametrize("solver", [pl.VBD(5), pl.AVBD(5)], ids=["VBD", "AVBD"])
def test_rigid_bodies_that_meet_keep_their_momentum(solver):
    """A box at 2 m/s against a plate, five iterations: momentum to rounding, never more energy than before. Without the
    correction of poses 20 iterations of AVBD gave 1.9 times the momentum.
    """
    scene = pl.Scene(gravity=(0, 0, 0), contact=pl.Contact())
    box = {"position": (0.03, 0.02, 0.07), "velocity": (0.2, 0, -2.0), "angular_velocity": (3.0, 1.0, 0)}
    scene.add_rigid(pl.Box((0.06, 0.08, 0.1)), density=500.0, **box)
    scene.add_rigid(pl.Box((0.5, 0.5, 0.01)))
    sim = pl.Simulation(scene, solver)
    start = sum(body.mass * body.velocity for body in scene.bodies)
    energies = [sim.energies()["kinetic"]]
    for _ in range(30):
        sim.step()
        energies.append(sim.energies()["kinetic"])
        now = sum(body.mass * body.velocity for body in scene.bodies)
        np.testing.assert_allclose(now, start, rtol=0, atol=1e-11 * np.linalg.norm(start))
    assert np.linalg.norm(scene.bodies[1].velocity) > 0.05
    assert max(energies) <= energies[0] * (1 + 1e-9)


def test_what_is_held_is_left_alone():
    """A pinned vertex keeps its place, and its body its other vertices: no rigid motion is added."""
    mesh = pl.shapes.box((0.3, 0.2, 0.1), (6, 4, 2))
    scene = pl.Scene()
    bodies = [scene.add_solid(mesh.transformed(translation=(k, 0, 0)), LAW) for k in range(2)]
    bodies[0].pin(np.arange(len(mesh.points)) == 0)
    free = FreeComponents.of(build_model(scene))
    n = len(mesh.points)
    np.testing.assert_array_equal(free.component, np.repeat([-1, 0], n))
    touched = np.zeros(2 * n, bool)
    touched[-1] = True
    assert len(free.without(touched).turns) == 0


def test_a_rope_is_not_turned_about_itself():
    """Points on a line have no moment about it: the rotation found is the one across it alone."""
    line = np.column_stack([np.linspace(-1, 1, 9), np.zeros(9), np.zeros(9)])
    angle = 0.3
    turned = line @ np.array([[np.cos(angle), np.sin(angle), 0], [-np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    less = np.empty((3, 3))
    write_alignment(turned.T @ line, less)
    R = less + np.eye(3)
    np.testing.assert_allclose(R @ line.T, turned.T, atol=1e-14)
    np.testing.assert_allclose(R @ (0, 0, 1), (0, 0, 1), atol=1e-14)


def test_parts_that_contacts_join_are_one() -> None:
    """Six parts of two vertices: contacts join 0 and 2, and 1 with what is held; 3 touches an obstacle, 4 itself."""
    free = FreeComponents(np.repeat([0, 1, -1, 2, 3, 4, 5], 2), np.array([True, True, True, True, True, False]))
    vertices = np.array([(0, 1, 6, 7), (2, 4, 4, 5), (8, -1, -1, -1), (10, 11, 10, 11)], np.int32)
    joined = free.joined(vertices, np.array([True, True, False, True]))
    np.testing.assert_array_equal(joined.component, np.repeat([0, -1, -1, 0, -1, 1, 2], 2))
    np.testing.assert_array_equal(joined.turns, [False, False, False])
    apart = free.joined(vertices[2:3], np.array([False]))
    np.testing.assert_array_equal(apart.component, np.repeat([0, 1, -1, 2, -1, 3, 4], 2))
    np.testing.assert_array_equal(apart.turns, [True, True, True, True, False])
