"""Free rotation of rigid bodies against the analytic solution, and what implicit Euler loses."""

import numpy as np
import pytest
from scipy.special import ellipj

import pliant as pl
from pliant.geometry import rotations

# [kg m^2]; 1 : 2 : 3 would be a plate without thickness
MOMENTS = np.array([1.0, 2.0, 2.9])


def top(spin: tuple[float, float, float], rate: float) -> tuple[pl.Simulation, object]:
    """A free box with the moments of inertia MOMENTS [kg m^2] that starts with a spin in its own axes."""
    J = np.sum(MOMENTS) / 2 - MOMENTS  # second moments: I = tr(J) - J
    size = np.sqrt(12 * J)  # of a mass of 1 kg
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_rigid(pl.Box(size), density=1 / size.prod(), angular_velocity=spin)
    np.testing.assert_allclose(np.diag(body.inertia), MOMENTS, rtol=1e-12)
    return pl.Simulation(scene, pl.VBD(iterations=5), frame_rate=rate, substeps=1, precision="double"), body


def analytic(spin: np.ndarray, time: float) -> np.ndarray:
    """Angular velocity in the body's axes of a free top that starts with spin (a, 0, c), by Jacobi's functions
    (Landau and Lifshitz, Mechanics, Section 37); 2 E I2 < L^2 for the spins below.
    """
    I1, I2, I3 = MOMENTS
    E2, L2 = np.sum(MOMENTS * spin**2), np.sum((MOMENTS * spin) ** 2)
    assert L2 > E2 * I2
    tau = time * np.sqrt((I3 - I2) * (L2 - E2 * I1) / (I1 * I2 * I3))
    k2 = (I2 - I1) * (E2 * I3 - L2) / ((I3 - I2) * (L2 - E2 * I1))
    sn, cn, dn, _ = ellipj(tau, k2)
    return np.array([
        np.sqrt((E2 * I3 - L2) / (I1 * (I3 - I1))) * cn,
        np.sqrt((E2 * I3 - L2) / (I2 * (I3 - I2))) * sn,
        np.sqrt((L2 - E2 * I1) / (I3 * (I3 - I1))) * dn,
    ])  # fmt: skip


def own_spin(body) -> np.ndarray:
    return rotations.matrices(body.orientation).T @ body.angular_velocity


def test_free_rotation_approaches_the_analytic_one_as_the_step_shrinks() -> None:
    """The error of implicit Euler halves with h, while the angular momentum is kept to rounding."""
    spin, errors = (0.8, 0.0, 1.2), []
    for rate in (100, 200, 400):
        sim, body = top(spin, rate)
        for _ in range(2 * rate):
            sim.step()
        errors.append(np.linalg.norm(own_spin(body) - analytic(np.array(spin), 2.0)))
        R = rotations.matrices(body.orientation)
        np.testing.assert_allclose(R @ (MOMENTS * own_spin(body)), MOMENTS * spin, rtol=1e-8, atol=1e-9)
    assert errors[0] < 0.03
    assert errors[1] / errors[0] == pytest.approx(0.5, abs=0.03)
    assert errors[2] / errors[1] == pytest.approx(0.5, abs=0.03)


@pytest.mark.slow
def test_a_body_spun_about_its_middle_axis_flips() -> None:
    """Dzhanibekov: the middle axis turns over; about the last it stays."""
    for axis, flips in ((1, True), (2, False)):
        spin = np.full(3, 1e-3)
        spin[axis] = 5.0
        sim, body = top(tuple(spin), 150)
        lowest = 1.0
        for _ in range(700):
            sim.step()
            lowest = min(lowest, own_spin(body)[axis] / 5.0)
        assert (lowest < -0.9) if flips else (lowest > 0.999)


def test_what_is_lost_per_turn() -> None:
    """About a principal axis nothing; a body that tumbles loses, in a turn, a part of its energy in proportion to w h:
    halved with the step.
    """
    sim, body = top((0.0, 0.0, 10.0), 60)
    before = body.kinetic_energy
    for _ in range(240):
        sim.step()
    assert body.kinetic_energy == pytest.approx(before, rel=1e-9)
    lost = []
    for rate in (200, 400):
        sim, body = top((2.0, 5.0, 2.0), rate)
        before = body.kinetic_energy
        for _ in range(rate):
            sim.step()
        lost.append(1 - body.kinetic_energy / before)
    assert 0 < lost[0] < 0.05
    assert lost[1] / lost[0] == pytest.approx(0.5, abs=0.06)


@pytest.mark.slow
def test_two_free_bodies_that_collide_keep_momentum_and_angular_momentum() -> None:
    """An off-centre hit of two boxes and a ball, each step solved to the end: the sum of all momenta stays, and no
    energy comes from nothing.
    """
    scene = pl.Scene(gravity=(0, 0, 0))
    bodies = [
        scene.add_rigid(pl.Box((0.2, 0.3, 0.4)), position=(-0.5, 0.05, 0.02), velocity=(2, 0, 0)),
        scene.add_rigid(pl.Box((0.3, 0.2, 0.2)), position=(0, 0, 0), angular_velocity=(0, 1, 2)),
        scene.add_rigid(pl.Sphere(0.15), position=(0.6, 0.1, 0.05), velocity=(-1.5, 0, 0)),
    ]
    scene.contact = pl.Contact(friction=0.3)
    sim = pl.Simulation(scene, pl.Newton(iterations=30, residual=1e-8), precision="double")

    def momenta() -> np.ndarray:
        mass = sim.model.mass[:, None]
        p = mass * sim.velocities
        return np.concatenate([p.sum(axis=0), np.cross(sim.positions, p).sum(axis=0)])

    start, energy = momenta(), sum(body.kinetic_energy for body in bodies)
    touched = 0
    for _ in range(110):
        sim.step()
        touched += sim.n_contacts > 0 and any(np.linalg.norm(body.contact_force) > 0 for body in bodies)
    assert touched > 5
    scale = bodies[0].mass * 2
    np.testing.assert_allclose(momenta()[:3], start[:3], atol=1e-6 * scale)
    np.testing.assert_allclose(momenta()[3:], start[3:], atol=1e-2 * scale * 0.3)
    assert sum(body.kinetic_energy for body in bodies) < energy
