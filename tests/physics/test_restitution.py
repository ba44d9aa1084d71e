"""Impacts that go on from body to body: rows of spheres against the exact solution, Newton's cradle, a flat landing."""

import numpy as np
import pytest

import pliant as pl
from pliant.model.rigid import RigidBody

RADIUS = 0.05  # [m]


def row_of_spheres(densities: list[float], e: float) -> tuple[pl.Simulation, list[RigidBody]]:
    """Spheres that touch; the first one comes from 0.3 m away with 2 m/s."""
    scene = pl.Scene(gravity=(0, 0, 0), contact=pl.Contact())
    bodies = []
    for i, density in enumerate(densities):
        place, speed = 2 * RADIUS * i - 0.3 * (i == 0), 2.0 * (i == 0)
        about = {"position": (place, 0, 0), "velocity": (speed, 0, 0), "restitution": e}
        bodies.append(scene.add_rigid(pl.Sphere(RADIUS), density=density, **about))
    return pl.Simulation(scene), bodies


def after_impacts(sim: pl.Simulation, bodies: list[RigidBody]) -> tuple[np.ndarray, np.ndarray]:
    """Velocities along the row [m/s] before and after two thirds of a second."""
    before = np.array([body.velocity[0] for body in bodies])
    for _ in range(40):
        sim.advance()
    return before, np.array([body.velocity[0] for body in bodies])


def one_after_another(masses: np.ndarray, velocities: np.ndarray, e: float) -> np.ndarray:
    """The exact result of impacts of neighbours, each before the next one begins."""
    v = velocities.copy()
    while True:
        meeting = np.flatnonzero(v[:-1] > v[1:] + 1e-12)
        if not meeting.size:
            return v
        i, m = meeting[0], masses[meeting[0] : meeting[0] + 2]
        impulse = (1 + e) * (v[i] - v[i + 1]) / np.sum(1 / m)
        v[i], v[i + 1] = v[i] - impulse / m[0], v[i + 1] + impulse / m[1]


def test_the_last_of_a_row_leaves_with_all_that_the_first_one_brought() -> None:
    before, after = after_impacts(*row_of_spheres([1000.0] * 5, 1.0))
    np.testing.assert_allclose(after, before[::-1], atol=2e-4)


@pytest.mark.parametrize("densities", [[1000.0, 3000.0], [1000.0, 8000.0, 1000.0], [8000.0, 3000.0, 1000.0]])
def test_a_row_of_unequal_spheres_ends_as_by_impacts_one_after_another(densities: list[float]) -> None:
    sim, bodies = row_of_spheres(densities, 1.0)
    masses = np.array(densities)
    before, after = after_impacts(sim, bodies)
    np.testing.assert_allclose(after, one_after_another(masses, before, 1.0), atol=2e-4)
    assert masses @ after == pytest.approx(masses @ before, rel=1e-9)


@pytest.mark.parametrize("e", [0.3, 0.7, 1.0])
def test_impacts_in_a_row_keep_momentum_and_gain_no_energy(e: float) -> None:
    before, after = after_impacts(*row_of_spheres([1000.0, 2000.0, 500.0, 4000.0, 1000.0], e))
    masses = np.array([1000.0, 2000.0, 500.0, 4000.0, 1000.0])
    assert masses @ after == pytest.approx(masses @ before, rel=1e-9)
    kept = (masses @ after**2) / (masses @ before**2)
    assert kept < 1 + 2e-4  # what the springs of contacts give back besides
    assert np.all(np.diff(after) > -1e-3)  # nobody goes on approaching the next


@pytest.mark.parametrize("lifted", [1, 2])
def test_newtons_cradle(lifted: int) -> None:
    """As many leave on the other side as came, and reach nine tenths of the height; the others stay."""
    scene = pl.Scene(contact=pl.Contact())
    bodies = []
    for i in range(5):
        angle = -0.6 if i < lifted else 0.0
        place = np.array([2 * RADIUS * i + np.sin(angle), 0, -np.cos(angle)])
        bodies.append(scene.add_rigid(pl.Sphere(RADIUS), density=7800, position=place, restitution=1.0, friction=0.0))
        scene.add_joint("ball", bodies[-1], None, point=(2 * RADIUS * i, 0, 0))
    sim = pl.Simulation(scene)
    for _ in range(61):
        sim.advance()
    swung = np.array([body.position[0] for body in bodies]) - 2 * RADIUS * np.arange(5)
    np.testing.assert_allclose(swung[: 5 - lifted], 0.0, atol=5e-3)
    assert np.all(swung[5 - lifted :] > 0.95 * np.sin(0.6))


def test_a_box_that_lands_flat_does_not_turn() -> None:
    scene = pl.Scene()
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    box = scene.add_rigid(pl.Box((0.4, 0.3, 0.2)), position=(0, 0, 1.1), restitution=0.6)
    sim, heights = pl.Simulation(scene), []
    for _ in range(80):
        sim.advance()
        heights.append(box.position[2] - 0.1)
    landed = int(np.argmin(heights[:40]))
    assert max(heights[landed:]) == pytest.approx(0.36, abs=0.02)
    np.testing.assert_allclose(box.angular_velocity, 0.0, atol=1e-6)
