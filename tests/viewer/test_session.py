"""A session without a browser: what knobs do to the simulation, and that its thread gives the same bits."""

import time

import numpy as np
import pytest

import pliant as pl
from pliant.io.results import open_result
from pliant.viewer.leash import Leash
from pliant.viewer.picking import nearest_to_ray
from pliant.viewer.session import Session


def simulation():
    scene = pl.Scene()
    mesh = pl.shapes.box((0.2, 0.2, 0.4), (2, 2, 4))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(3e4, 0.4), name="block")
    body.pin(mesh.points[:, 2] < -0.19)
    return pl.Simulation(scene, pl.VBD(iterations=5), threads=1)


@pytest.fixture
def session():
    session = Session(simulation())
    yield session
    session.close()


def wait_for(condition, seconds=20.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_steps_are_those_of_a_plain_simulation(session):
    plain = simulation()
    for _ in range(3):
        session.step()
        session.settled()
        plain.advance()
    np.testing.assert_array_equal(session.latest.positions, plain.positions)
    assert session.latest.time == plain.time


def test_play_keeps_to_the_speed_and_pause_stops(session):
    session.set_speed(0.5)
    session.play()
    began = session.settled().time
    time.sleep(1.0)
    session.pause()
    simulated = session.settled().time - began
    assert 0.2 < simulated < 0.6  # half a second in one; a busy computer may be slower
    number = session.latest.number
    time.sleep(0.2)
    assert session.latest.number == number


def test_reset_goes_back_to_the_first_bits(session):
    first = session.latest.positions
    session.step()
    session.reset()
    shown = session.settled()
    np.testing.assert_array_equal(shown.positions, first)
    assert shown.time == 0
    session.step()
    plain = simulation()
    plain.advance()
    np.testing.assert_array_equal(session.settled().positions, plain.positions)


def test_knobs_change_the_simulation_and_keep_its_state(session):
    session.step()
    before = session.settled()
    session.set_substeps(8)
    session.set_iterations(9)
    session.set_gravity(1.62)
    session.set_stiffness(100.0)
    after = session.settled()
    sim = session.simulation
    np.testing.assert_array_equal(after.positions, before.positions)
    assert sim.time == pytest.approx(before.time, abs=1e-15)
    assert (sim.substeps, sim.solver.iterations) == (8, 9)
    np.testing.assert_allclose(sim.model.gravity[0], (0, 0, -1.62))
    assert sim.model.solids[0].parameters[0, 0] == pytest.approx(100 * 3e4 / 2.8)
    session.set_stiffness(1.0)
    session.settled()
    assert session.simulation.scene.bodies[0].material.mu == pytest.approx(3e4 / 2.8)


def test_wind_keeps_its_direction_and_drag(session):
    """A scene without wind gets one along x, and none again at 0; one with wind keeps what it says but the speed."""
    session.set_wind(5.0)
    session.settled()
    np.testing.assert_array_equal(session.simulation.scene.wind.velocity, (5, 0, 0))
    session.set_wind(0.0)
    session.settled()
    assert session.simulation.scene.wind is None
    windy = simulation()
    windy.scene.wind = pl.Wind((0, 3, 4), drag=0.7, lift=0.2)
    other = Session(windy)
    for speed in (0.0, 10.0):
        other.set_wind(speed)
    other.settled()
    other.close()
    wind = other.simulation.scene.wind
    np.testing.assert_allclose(wind.velocity, (0, 6, 8))
    assert (wind.drag, wind.lift) == (0.7, 0.2)


def test_friction_is_that_of_contacts_and_obstacles():
    scene = pl.Scene()
    scene.add_solid(pl.shapes.box((0.1, 0.1, 0.1), 1), pl.StableNeoHookean(1e4, 1e4))
    scene.add_plane((0, 0, -0.05), (0, 0, 1), friction=0.2)
    scene.contact = pl.Contact(stiffness=1e3, friction=0.1)
    session = Session(pl.Simulation(scene, threads=1))
    session.set_friction(0.9)
    session.settled()
    session.close()
    contact = session.simulation.model.contact
    assert contact.settings.friction == 0.9
    assert [shape.friction for shape in contact.shapes] == [0.9]


def test_measuring_takes_a_tenth_of_the_time_at_most(session, monkeypatch):
    """Energies that take 50 ms are not asked for again within half a second."""
    energies, asked = session.simulation.energies, []

    def slow_energies():
        asked.append(time.monotonic())
        time.sleep(0.05)
        return energies()

    monkeypatch.setattr(session.simulation, "energies", slow_energies)
    session.set_speed(0.0)
    session.play()
    wait_for(lambda: len(asked) == 3)
    session.pause()
    session.settled()
    assert np.diff(asked[:3]).min() >= 0.5


@pytest.mark.parametrize("name", ["Newton", "Chebyshev"])
def test_the_solver_changes_at_once(session, name):
    session.set_solver(name)
    session.set_iterations(3)
    session.step()
    session.settled()
    assert type(session.simulation.solver).__name__ == name
    assert session.simulation.solver.iterations == 3


def test_a_dragged_vertex_follows_and_is_let_go(session):
    session.set_gravity(0.0)
    start = session.settled().positions
    vertex = int(start[:, 2].argmax())
    session.grab(vertex, radius=0.01)
    session.drag(np.array([0.05, 0.0, 0.1]))
    for _ in range(12):
        session.step()
        session.settled()
    np.testing.assert_allclose(session.latest.positions[vertex], start[vertex] + (0.05, 0, 0.1), atol=1e-12)
    assert session.latest.positions[:, 2].mean() > start[:, 2].mean() + 1e-3  # the body comes along
    session.release()
    assert not session.settled().message
    assert session.simulation.model.is_free[vertex]
    for _ in range(30):
        session.step()
        session.settled()
    assert np.linalg.norm(session.latest.positions[vertex] - start[vertex]) < 0.1


def test_a_pinned_vertex_cannot_be_grabbed(session):
    session.grab(int(session.latest.positions[:, 2].argmin()))
    assert "is held by the scene" in session.settled().message
    assert not session.is_grabbing


@pytest.mark.slow
def test_a_rigid_body_is_pulled_up_by_its_top_and_let_go():
    """The spring is critically damped at 12/s: after a second it is there but for (1 + 12) exp(-12) of the way."""
    scene = pl.Scene()
    scene.add_plane()
    box = scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), position=(0, 0, 0.1))
    held = scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), position=(1, 0, 1.1))
    held.pin()
    session = Session(pl.Simulation(scene, threads=1))

    def second():
        for _ in range(60):
            session.step()
            session.settled()

    try:
        session.grab_rigid(0, np.array([0.0, 0.0, 0.2]))
        session.drag(np.array([0.0, 0.0, 0.3]))
        second()
        assert session.is_grabbing
        np.testing.assert_allclose(box.position, (0, 0, 0.4), atol=1e-3)
        session.release()
        second()
        assert box.forces == []
        np.testing.assert_allclose(box.position, (0, 0, 0.1), atol=1e-3)
        session.grab_rigid(1, np.array([1.0, 0.0, 1.2]))
        assert "is held by the scene" in session.settled().message
        assert not session.is_grabbing
    finally:
        session.close()


def test_the_history_has_what_the_simulation_says(session):
    session.step()
    session.settled()
    times, energies, residuals, milliseconds = session.history.columns()
    assert times.tolist() == [session.simulation.time]
    assert energies[0] == session.simulation.energies()["total"]
    assert residuals[0] > 0
    assert milliseconds[0] > 0


def test_a_recording_goes_on_while_knobs_turn(session, tmp_path):
    session.record(tmp_path / "seen.npz")
    session.step()
    session.settled()
    session.set_gravity(0.0)
    session.set_substeps(2)
    assert "stop recording first" in session.settled().message
    session.step()
    shown = session.settled()
    session.stop_recording()
    session.settled()
    with open_result(tmp_path / "seen.npz") as result:
        np.testing.assert_allclose(result.times, [0, 1 / 60, 2 / 60])
        rows = np.unique(session.simulation.scene.bodies[0].surface)
        np.testing.assert_allclose(result.positions(2), shown.positions[rows], atol=1e-6)


def test_only_the_last_of_many_values_is_taken(session):
    """A slider that is dragged sends hundreds: the thread rebuilds once or twice."""
    built = []
    rebuild = session._rebuild
    session._rebuild = lambda **changes: (built.append(changes), rebuild(**changes))
    for n in range(1, 200):
        session.set_iterations(n)
    session.settled()
    assert session.simulation.solver.iterations == 199
    assert len(built) < 100


def test_a_leash_is_no_faster_than_its_limit():
    leash = Leash(np.zeros((2, 3)), time=1.0, speed=2.0)
    leash.target = np.array([3.0, 4.0, 0.0])
    np.testing.assert_allclose(leash(1.5), np.tile([0.6, 0.8, 0], (2, 1)))
    np.testing.assert_allclose(leash(1.5), np.tile([0.6, 0.8, 0], (2, 1)))
    np.testing.assert_allclose(leash(9.0), np.tile([3.0, 4.0, 0], (2, 1)))


def test_a_ray_finds_the_vertex_in_front():
    points = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.0, 1.0], [0.0, 0.0, 6.0]])
    assert nearest_to_ray(points, np.array([0.01, 0, 5.0]), np.array([0, 0, -2.0])) == 1
    assert nearest_to_ray(points, np.array([0.45, 0, 5.0]), np.array([0, 0, -1.0])) == 2
