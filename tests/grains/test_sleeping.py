"""Particles at rest sleep, and wake when something disturbs them."""

import numpy as np
import pytest

import pliant as pl

R = 0.01
SLOW = 0.005  # [m/s]; what 15 iterations leave of g h = 0.033 m/s is 0.002 m/s
LAYERS = [[x, y, R * (1 + 2 * z)] for z in range(3) for x in (-0.02, 0.0, 0.02) for y in (-0.02, 0.0, 0.02)]


def pile(sleep_speed, threads=None, shot=False):
    """27 spheres that stand on each other, and one that waits far above if there is a shot."""
    scene = pl.Scene()
    grains = scene.add_particles(LAYERS, radius=R, friction=0.5)
    scene.add_plane(friction=0.5)
    bullet = scene.add_particles([[0.0, 0.0, 0.75]], radius=R, friction=0.5) if shot else None
    solver = pl.VelocityTimeStepping(sleep_speed=sleep_speed)
    return pl.Simulation(scene, solver, precision="double", threads=threads), grains, bullet


def asleep(report):
    """How many particles a report says are asleep."""
    words = report.reason.split("(")[-1].split()
    return int(words[0]) if "asleep" in report.reason else 0


def test_a_pile_falls_asleep_and_stays_as_it_is():
    """After a quarter of a second it has neither velocity nor contacts, and is within 1e-4 of the radius of where the
    same pile is that does not sleep.
    """
    (sleeping, grains, _), (awake, others, _) = pile(SLOW), pile(0.0)
    for _ in range(200):
        sleeping.step()
        awake.step()
    assert asleep(sleeping.step()) == 27
    assert not asleep(awake.step())
    assert (sleeping.velocities == 0).all()
    assert len(sleeping.contacts.forces) == 0
    np.testing.assert_allclose(grains.positions, others.positions, atol=1e-4 * R)


def test_a_shot_wakes_it():
    """A sphere lands on the pile that sleeps: from the step of the contact on it moves as the pile does that never
    slept, within a hundredth of the radius for a tenth of a second.
    """
    runs = [pile(SLOW, shot=True), pile(0.0, shot=True)]
    numbers = []
    for sim, _, bullet in runs:
        asleep_before, counts = False, []
        while bullet.positions[0, 2] > 7.3 * R:
            count = asleep(sim.step())
            counts.append(count)
            asleep_before |= count == 27
        for _ in range(30):
            counts.append(asleep(sim.step()))
        numbers.append((asleep_before, counts[-1], sim.positions.copy(), sim.velocities.copy()))
    (slept, at_end, x, v), (never, _, x_awake, v_awake) = numbers
    assert slept
    assert not never
    assert at_end == 0
    np.testing.assert_allclose(x, x_awake, atol=1e-2 * R)
    np.testing.assert_allclose(v, v_awake, atol=1e-2)


def rest(sim):
    """Step until all sleep."""
    for _ in range(400):
        if asleep(sim.step()) == len(LAYERS):
            return
    raise AssertionError("it does not fall asleep")


def test_forces_and_people_wake_it():
    """A velocity, or another place, that somebody gives one of its particles wakes the whole island."""
    sim, _, _ = pile(SLOW)
    rest(sim)
    sim.state.v[26] = (0.0, 0.0, 0.3)  # a sphere on top
    assert asleep(sim.step()) == 0
    assert sim.velocities[26, 2] == pytest.approx(0.3 - 9.81 * sim.h, abs=1e-6)
    rest(sim)
    sim.state.x[26] += (0.0, 0.0, 0.5 * R)
    assert asleep(sim.step()) == 0


def test_moving_obstacles_wake_all():
    scene = pl.Scene()
    scene.add_particles([[0, 0, R], [0.1, 0, R]], radius=R)
    scene.add_plane()
    scene.add_box((0, 0, 1.0), (0.1, 0.1, 0.1), motion=lambda t: ((0, 0, max(0.0, t - 1.0)), np.eye(3)))
    sim = pl.Simulation(scene, pl.VelocityTimeStepping(sleep_speed=SLOW))
    counts = [asleep(sim.step()) for _ in range(330)]
    assert max(counts[:299]) == 2
    assert max(counts[302:]) == 0


def test_what_lies_on_a_sheet_stays_awake():
    scene = pl.Scene()
    mesh = pl.shapes.cloth(size=(0.2, 0.2), cells=(4, 4))
    cloth = scene.add_cloth(mesh, pl.StVenantKirchhoff.from_young(1e3, 0.3))
    cloth.pin(np.abs(mesh.points[:, :2]).max(axis=1) > 0.09)
    scene.add_particles([[0, 0, 1.5 * R]], radius=R)
    sim = pl.Simulation(scene, pl.SequentialPositions(sleep_speed=1.0))
    assert max(asleep(sim.step()) for _ in range(150)) == 0


def test_the_same_bits_on_any_number_of_threads_and_after_saving(tmp_path):
    """Asleep, and awake again after a shot."""
    ends = []
    for threads in (1, 2):
        sim, _, _ = pile(SLOW, threads=threads, shot=True)
        for k in range(140):
            sim.step()
            if k == 100 and threads == 2:
                sim.save(tmp_path / "kept.npz")
        ends.append(sim.positions.copy())
    np.testing.assert_array_equal(*ends)
    sim = pl.Simulation.resume(tmp_path / "kept.npz")
    for _ in range(39):
        sim.step()
    np.testing.assert_array_equal(sim.positions, ends[0])


def test_bad_speeds_are_refused():
    with pytest.raises(pl.SolverError, match="VelocityTimeStepping: sleep_speed is -1"):
        pl.VelocityTimeStepping(sleep_speed=-1)
