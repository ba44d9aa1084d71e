"""Damping of strain rates: vibrations decay as theory says, and rigid motion does not know of it."""

import numpy as np
import pytest

import pliant as pl

BOX = pl.shapes.box((0.3, 0.2, 0.1), (3, 2, 1))
FORM = "strain_rate"
SOFT = pl.StableNeoHookean.from_young(1e5, 0.3)
SOLVERS = {"VBD": pl.VBD(iterations=60, start="accelerated"), "Newton": pl.Newton(iterations=20, residual=1e-10)}


def run(damping, solver, *, velocity=(0, 0, 0), spin=(0, 0, 0), gravity=(0, 0, 0), steps=30, law=SOFT, form=FORM):
    scene = pl.Scene(gravity=gravity)
    body = scene.add_solid(BOX, law, damping=damping, damping_form=form)
    arms = BOX.points - BOX.points.mean(axis=0)
    body.set_velocities(np.asarray(velocity) + np.cross(spin, arms))
    sim = pl.Simulation(scene, solver, frame_rate=200, substeps=1, precision="double")
    for _ in range(steps):
        sim.step()
    return sim


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_free_fall_is_that_of_an_undamped_body(solver):
    """v = v0 + g t to 1e-9 at every vertex, with a k_d that damps every vibration within a step."""
    sim = run(0.1, solver, velocity=(1.0, -2.0, 3.0), gravity=(0.0, 0.0, -9.81))
    expected = np.array([1.0, -2.0, 3.0 - 9.81 * sim.time])
    np.testing.assert_allclose(sim.velocities, np.tile(expected, (len(BOX.points), 1)), rtol=0, atol=1e-9)


def test_free_rotation_is_that_of_an_undamped_body():
    """A body that is as good as rigid, 0.15 rad per step, E = 1e10 Pa, k_d w of its softest vibration far above 1:
    positions after 30 steps as without damping, to 5e-7 of its size, its strain; vertex
    blocks stop the same body in one step.
    """
    options = {"solver": SOLVERS["Newton"], "spin": (3.0, -2.0, 30.0), "law": pl.StableNeoHookean.from_young(1e10, 0.3)}
    plain, damped = run(0.0, **options), run(0.05, **options)
    np.testing.assert_allclose(damped.positions, plain.positions, rtol=0, atol=1.5e-7)
    stopped = run(0.05, **options, form="vertex_block", steps=1)
    assert np.abs(stopped.velocities).max() < 1e-3


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_damping_has_neither_force_nor_torque(solver):
    """sum m (x - y) = 0 and sum m x x (x - y) = 0 in every step of a soft body that turns, stretches and vibrates."""
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(BOX, SOFT, damping=0.01)
    body.set_velocities(np.cross((3.0, -5.0, 30.0), BOX.points))
    sim = pl.Simulation(scene, solver, frame_rate=200, substeps=1, precision="double")
    for _ in range(10):
        x, v, m = sim.positions.copy(), sim.velocities.copy(), sim.model.mass[:, None]
        sim.step()
        owed = m * (sim.positions - x - sim.h * v)
        assert np.abs(owed.sum(axis=0)).max() < 1e-12 * np.abs(owed).sum()
        assert np.abs(np.cross(sim.positions, owed).sum(axis=0)).max() < 1e-12 * np.abs(owed).sum()


@pytest.mark.slow
def test_a_spring_has_the_damping_ratio_of_theory():
    """zeta = k_d w / 2: w_d and the decay of two masses on a spring, h = 1 / 1000 of a period, within 1 %."""
    k, m, zeta = 100.0, 0.5, 0.1
    w = np.sqrt(2 * k / m)
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_springs([(0, 0, 0), (1, 0, 0)], [(0, 1)], k, m, damping=2 * zeta / w)
    body.set_positions([(-5e-4, 0, 0), (1 + 5e-4, 0, 0)])
    rate = 2000 * w / (2 * np.pi)
    sim = pl.Simulation(scene, pl.VBD(iterations=40), frame_rate=rate, substeps=1, precision="double")
    stretch = []
    for _ in range(5000):
        sim.step()
        stretch.append(sim.positions[1, 0] - sim.positions[0, 0] - 1)
    z = np.array(stretch)
    peaks = np.flatnonzero((z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])) + 1
    decrement = np.log(z[peaks[0]] / z[peaks[1]])
    own = w * sim.h / 2  # implicit Euler damps a vibration by itself
    assert decrement == pytest.approx(2 * np.pi * (zeta + own) / np.sqrt(1 - zeta**2), rel=0.01)


@pytest.mark.slow
def test_a_mode_of_a_beam_has_the_damping_ratio_of_theory():
    """The softest mode of a cantilever from the stiffness and mass matrices: a step multiplies it by the root of
    (1 + w^2 h^2 + w^2 h k_d) z^2 - (2 + w^2 h k_d) z + 1 = 0, whose decay is k_d w^2 / 2 as h -> 0.
    """
    mesh = pl.shapes.box((1.0, 0.1, 0.1), (8, 1, 1))
    left = np.flatnonzero(mesh.points[:, 0] < mesh.points[:, 0].min() + 1e-9)
    scene = pl.Scene(gravity=(0, 0, 0))
    k_d = 2e-2
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e6, 0.3), damping=k_d)
    body.pin(left)
    sim = pl.Simulation(scene, pl.Newton(residual=1e-10), frame_rate=500, substeps=1, precision="double")
    problem, h = sim.problem(), sim.h
    free = np.flatnonzero(np.repeat(problem.model.is_free, 3))
    x = problem.x_prev
    inertia = np.repeat(problem.inertia, 3)[free]
    # without the damping's part, which is k_d / h times the elastic one
    K = (problem.hessian(x).toarray()[np.ix_(free, free)] - np.diag(inertia)) / (1 + k_d / h)
    root = np.sqrt(inertia * h**2)
    values, modes = np.linalg.eigh(K / root[:, None] / root)
    w, mode = np.sqrt(values[0]), modes[:, 0]
    small = np.zeros(x.size)
    small[free] = 3e-4 * mode / root / np.abs(mode / root).max()
    body.set_positions(x + small.reshape(x.shape))
    sim = pl.Simulation(scene, pl.Newton(residual=1e-10), frame_rate=500, substeps=1, precision="double")
    stiff, drag = (w * h) ** 2, w**2 * h * k_d
    expected, measured = [1.0, 1.0], []
    for _ in range(60):
        sim.step()
        along = ((sim.positions - x).ravel()[free] * root) @ mode
        measured.append(along / ((small[free] * root) @ mode))
        expected.append(((2 + drag) * expected[-1] - expected[-2]) / (1 + stiff + drag))
    assert 0.02 < k_d * w / 2 < 0.5
    np.testing.assert_allclose(measured, expected[2:], rtol=0, atol=1e-4)
