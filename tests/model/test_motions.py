"""Motions that files keep: where they lead vertices, and that vertices are let go in time."""

import numpy as np
import pytest

import pliant as pl
from pliant.model.motions import Keyframes, Slide, Turn

POINTS = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, -1.0]])


def test_slide_moves_between_begin_and_end():
    slide = Slide(POINTS, (1.0, 0.0, -2.0), begin=0.5, seconds=2.0)
    np.testing.assert_array_equal(slide(0.25), POINTS)
    np.testing.assert_allclose(slide(1.0), POINTS + np.array([0.5, 0, -1.0]), atol=1e-15)
    np.testing.assert_allclose(slide(9.0), POINTS + np.array([2.0, 0, -4.0]), atol=1e-15)
    np.testing.assert_allclose(Slide(POINTS, (0, 0, 1))(7.0), POINTS + np.array([0, 0, 7.0]), atol=1e-15)


def test_turn_reaches_its_angle_and_holds():
    turn = Turn([[1.0, 0.0, 2.0]], turns=0.25, seconds=1.2)
    np.testing.assert_allclose(turn(0.0), [[1, 0, 2]], atol=1e-15)
    np.testing.assert_allclose(turn(0.6), [[np.sqrt(0.5), np.sqrt(0.5), 2]], atol=1e-15)
    np.testing.assert_allclose(turn(5.0), [[0, 1, 2]], atol=1e-15)


def test_turn_about_a_skew_axis_keeps_lengths_and_heights():
    """Distances from the centre and heights along the axis stay; a third of a turn about (1, 1, 1) permutes."""
    axis, centre = np.array([1.0, 2.0, -0.5]), np.array([0.3, 0.1, 0.2])
    moved = Turn(POINTS, axis, centre, turns=0.37, seconds=1.0, smooth=False)(0.8)
    np.testing.assert_allclose(np.linalg.norm(moved - centre, axis=1), np.linalg.norm(POINTS - centre, axis=1))
    np.testing.assert_allclose((moved - POINTS) @ axis, 0, atol=1e-14)
    third = Turn([[1.0, 2.0, 3.0]], (1, 1, 1), turns=1 / 3, seconds=1.0)(1.0)
    np.testing.assert_allclose(third, [[3.0, 1.0, 2.0]], atol=1e-14)


def test_keyframes_interpolate_repeat_and_stay():
    keys = {"times": (1.0, 2.0, 4.0), "offsets": ((0, 0, 0), (1, 0, 0), (1, 4, 0))}
    path = Keyframes(POINTS, **keys)
    for time, offset in [(0, (0, 0, 0)), (1.5, (0.5, 0, 0)), (2.5, (1, 1, 0)), (9, (1, 4, 0))]:
        np.testing.assert_allclose(path(time), POINTS + offset, atol=1e-15)
    np.testing.assert_allclose(
        Keyframes(POINTS, **keys, smooth=True)(2.5), POINTS + np.array([1, 4 * 0.15625, 0]), atol=1e-15
    )
    np.testing.assert_allclose(Keyframes(POINTS, **keys, repeat=True)(5.5), POINTS + np.array([0.5, 0, 0]), atol=1e-15)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Slide([[0, 0]], (1, 0, 0)), "Slide: points"),
        (lambda: Slide(POINTS, (1, 0)), "Slide: velocity"),
        (lambda: Slide(POINTS, (1, 0, 0), seconds=0), "Slide: seconds is 0"),
        (lambda: Turn(POINTS, (0, 0, 0)), "Turn: axis"),
        (lambda: Turn(POINTS, turns=np.nan), "Turn: turns"),
        (lambda: Turn(POINTS, smooth=1), "Turn: smooth is 1"),
        (lambda: Keyframes(POINTS, (0, 0), ((0, 0, 0), (1, 1, 1))), "Keyframes: times"),
        (lambda: Keyframes(POINTS, (0, 1), ((0, 0, 0),)), "Keyframes: offsets"),
        (lambda: Keyframes(POINTS, (0,), ((0, 0, 0),), repeat=True), "to repeat"),
    ],
)
def test_impossible_motions_are_told(make, words):
    with pytest.raises(pl.SceneError, match=words):
        make()


def held_block(hold):
    """A block whose top is held by `hold(body, top)`."""
    scene = pl.Scene()
    mesh = pl.shapes.box((0.2, 0.2, 0.2), 2)
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e6, 0.3), name="block")
    hold(body, mesh.points[:, 2] > 0.09)
    return pl.Simulation(scene, pl.Newton(iterations=20), frame_rate=100, substeps=1, precision="double")


def test_a_released_body_goes_on_with_the_velocity_it_was_led_with():
    """12 steps of 0.01 s at 0.3 m/s without gravity, of which the first 5 are led: 0.036 m."""

    def hold(body, top):
        body.gravity = (0, 0, 0)
        body.move(top, Slide(body.initial_positions[top], (0.3, 0.0, 0.0)), until=0.05)
        body.set_velocities((0.3, 0, 0))

    sim = held_block(hold)
    for _ in range(12):
        sim.advance()
    np.testing.assert_allclose(sim.positions - sim.model.positions, np.tile((0.036, 0, 0), (27, 1)), atol=1e-9)
    assert sim.model.is_free.all()
    assert sim.model.kinematic == ()


def test_pins_hold_until_their_time():
    sim = held_block(lambda body, top: body.pin(top, until=0.04))
    top = sim.model.positions[:, 2] > 0.09
    for step in range(1, 8):
        sim.step()
        moved = np.abs(sim.positions[top] - sim.model.positions[top]).max()
        assert (moved == 0) == (step <= 4)


def test_a_run_resumed_before_and_after_a_release_has_the_same_bits(tmp_path):
    def hold(body, top):
        body.move(top, Turn(body.initial_positions[top], turns=0.1, seconds=0.1), until=0.06)
        body.colour = (0.1, 0.2, 0.3)

    whole = held_block(hold)
    for step in range(12):
        if step in (3, 9):
            whole.save(tmp_path / f"{step}.npz")
        whole.step()
    for step in (3, 9):
        resumed = pl.Simulation.resume(tmp_path / f"{step}.npz")
        assert resumed.scene.bodies[0].colour == (0.1, 0.2, 0.3)
        for _ in range(12 - step):
            resumed.step()
        np.testing.assert_array_equal(resumed.state.x, whole.state.x)
        np.testing.assert_array_equal(resumed.state.v, whole.state.v)


def test_free_undoes_every_hold():
    mesh = pl.shapes.box((0.2, 0.2, 0.2), 2)
    body = pl.Scene().add_solid(mesh, pl.StableNeoHookean.from_young(1e6, 0.3), name="block")
    body.pin([0, 1], until=1.0)
    body.move([2, 3], Slide(mesh.points[2:4], (0, 0, 1)))
    body.constrain_to_line([4], (1, 0, 0))
    body.free([1, 2, 3, 4])
    assert np.flatnonzero(body.subspace != 3).tolist() == [0]
    assert body.motions == []
    assert [(held.tolist(), time) for held, time in body.releases] == [([0], 1.0)]
    body.move([5, 6], Slide(mesh.points[5:7], (0, 0, 1)))
    with pytest.raises(pl.SceneError, match=r"vertex 5 is moved together with 1 others"):
        body.free([5])
