"""Going back in place, copies, and parameters that change between steps."""

import copy
import gc
import pickle
import tracemalloc

import numpy as np
import pytest

import pliant as pl

LAW = pl.StableNeoHookean.from_young(1e6, 0.3)


def falling_box(**options):
    """A small box that falls on a plane and slides."""
    scene = pl.Scene(contact=pl.Contact(stiffness=1e5))
    mesh = pl.shapes.box((0.1, 0.1, 0.1), (1, 1, 1))
    body = scene.add_solid(mesh, LAW)
    body.set_positions(mesh.points + np.array([0.0, 0.0, 0.051]))
    body.set_velocities((0.5, 0.0, 0.0))
    plane = scene.add_plane()
    return pl.Simulation(scene, **options), body, plane


def path_of(sim, steps=12):
    path = []
    for _ in range(steps):
        sim.step()
        path.append(np.concatenate([sim.positions, sim.velocities]))
    return np.array(path)


def test_reset_repeats_bit_for_bit_and_keeps_the_solver():
    sim, _, plane = falling_box()
    work = sim._work
    first = path_of(sim)
    plane.set_velocity((0.1, 0, 0))
    sim.step()
    sim.reset()
    assert sim.time == 0
    assert np.array_equal(path_of(sim), first)
    assert sim._work is work, "nothing is built again"
    fresh, _, _ = falling_box()
    assert np.array_equal(path_of(fresh), first)


def test_a_state_can_be_gone_back_to_and_handed_on():
    sim, _, plane = falling_box()
    plane.set_velocity((0.1, 0, 0))
    path_of(sim, 5)
    kept = sim.state_dict()
    rest = path_of(sim)
    sim.reset(kept)
    assert np.array_equal(path_of(sim), rest)
    other, _, other_plane = falling_box()
    other.load_state_dict(kept)
    assert np.array_equal(path_of(other), rest)
    assert np.array_equal(other_plane.position, plane.position)
    with pytest.raises(pl.SimulationError, match="'x' is missing"):
        sim.load_state_dict({})
    with pytest.raises(pl.PliantError, match=r"state.x has shape \(3, 3\)"):
        sim.load_state_dict({**kept, "x": np.zeros((3, 3))})


def test_reset_holds_released_vertices_and_mends_what_was_deleted():
    scene = pl.Scene()
    body = scene.add_solid(pl.shapes.box((0.1, 0.1, 0.1), (1, 1, 1)), LAW)
    body.pin([0, 1], until=0.01)
    sim = pl.Simulation(scene)
    first = path_of(sim, 6)
    sim.reset()
    assert np.array_equal(path_of(sim, 6), first)
    sim.reset()
    sim.delete(body, [0])
    sim.step()
    sim.reset()
    assert len(body.tets) == body.n_elements
    assert np.array_equal(path_of(sim, 6), first)


@pytest.mark.slow
def test_episodes_keep_no_memory():
    sim, _, _ = falling_box(threads=1)
    path_of(sim, 3)
    sizes = []
    tracemalloc.start()
    for _ in range(2):
        for _ in range(500):  # in the first of them, caches of calls fill
            sim.reset()
            sim.step()
            sim.step()
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert sizes[1] - sizes[0] < 10_000, "bytes in 500 episodes"


def test_views_share_memory_and_cannot_be_written():
    sim, _, _ = falling_box()
    assert np.shares_memory(sim.x, sim.state.x)
    assert np.shares_memory(sim.v, sim.state.v)
    with pytest.raises(ValueError, match="read-only"):
        sim.x[0] = 0.0
    assert np.array_equal(np.from_dlpack(sim.x), sim.positions)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))])
def test_copies_of_simulations_go_on_with_the_same_bits(again):
    sim, _, plane = falling_box()
    plane.set_velocity((0.1, 0, 0))
    path_of(sim, 4)
    other = again(sim)
    assert other.scene is not sim.scene
    assert np.array_equal(path_of(other), path_of(sim))


@pytest.mark.parametrize("again", [copy.deepcopy, lambda scene: pickle.loads(pickle.dumps(scene))])
def test_copies_of_scenes_are_scenes_of_their_own(again):
    sim, body, _ = falling_box()
    sim.step()
    other = again(sim.scene)
    assert np.array_equal(other.bodies[0].positions, body.initial_positions)
    fresh, _, _ = falling_box()
    assert np.array_equal(path_of(pl.Simulation(other)), path_of(fresh))


def test_gravity_changes_between_steps_without_building():
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(pl.shapes.box((0.1, 0.1, 0.1), (1, 1, 1)), LAW)
    sim = pl.Simulation(scene, precision="double")
    work = sim._work
    sim.set_gravity((0, 0, -2.0))
    sim.step()
    assert sim.model.mass @ sim.velocities[:, 2] / sim.model.mass.sum() == pytest.approx(-2.0 * sim.h, rel=1e-9)
    assert sim._work is work


def resting_on_the_ground(kind: str) -> pl.Simulation:
    """A soft block, a rigid box or grains that slide on a plane; none of them has a friction of its own."""
    scene = pl.Scene(gravity=(0, 0, -9.81), contact=pl.Contact(friction=0.4))
    scene.add_plane()
    if kind == "grains":
        scene.add_particles([(0, 0, 0.05), (0.11, 0, 0.05), (0.05, 0, 0.14)], 0.05).set_velocities((1.0, 0, 0))
    elif kind == "layer":
        scene.add_particles([(0, 0, 0.05), (0.11, 0, 0.05)], 0.05).set_velocities((1.0, 0, 0))
    elif kind == "rigid":
        scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), position=(0, 0, 0.05), velocity=(1.0, 0, 0))
    else:
        mesh = pl.shapes.box((0.1, 0.1, 0.1), (1, 1, 1))
        body = scene.add_solid(mesh, LAW)
        body.set_positions(mesh.points + np.array([0.0, 0.0, 0.051]))
        body.set_velocities((1.0, 0.0, 0.0))
    return pl.Simulation(scene)


@pytest.mark.parametrize("kind", ["soft", "rigid", "grains"])
def test_what_was_changed_between_steps_is_in_copies(kind):
    """Gravity and friction reach all that was chosen from them, so that a copy, built from the scene, has its bits."""
    sim = resting_on_the_ground(kind)
    path_of(sim, 3)
    sim.set_gravity((0.5, 0, -2.0))
    sim.set_friction(0.1)
    other = copy.deepcopy(sim)
    assert np.array_equal(path_of(other), path_of(sim))


@pytest.mark.parametrize("kind", ["rigid", "layer"])
def test_friction_of_rigid_bodies_and_grains_changes_between_steps(kind):
    """Both slow down by mu g, mu the geometric mean of theirs and the plane's."""
    sim = resting_on_the_ground(kind)
    path_of(sim, 5)
    plane = sim.scene.shapes[0].friction
    for mu in (0.0, 0.2):
        sim.set_friction(mu, sim.scene.bodies[0])
        before = sim.velocities[:, 0].mean()
        path_of(sim, 10)
        slowed = np.sqrt(mu * plane) * 9.81 * 10 * sim.h
        assert before - sim.velocities[:, 0].mean() == pytest.approx(slowed, rel=0.02, abs=1e-3)


def test_friction_changes_between_steps_without_building():
    sim, body, plane = falling_box()
    work = sim._work
    path_of(sim, 20)
    sim.set_friction(0.0, plane)
    before = sim.velocities[:, 0].mean()
    path_of(sim, 30)
    assert sim.velocities[:, 0].mean() == pytest.approx(before, abs=1e-4), "nothing slows it down"
    sim.set_friction(0.5, plane)
    sim.set_friction(0.5, body)
    path_of(sim, 6)
    assert before - sim.velocities[:, 0].mean() == pytest.approx(0.5 * 9.81 * 6 * sim.h, rel=0.05)
    assert sim._work is work


def test_a_material_changes_between_steps_as_if_built_so():
    def pulled(young):
        scene = pl.Scene()
        body = scene.add_solid(pl.shapes.box((0.1, 0.1, 0.1), (1, 1, 1)), pl.StableNeoHookean.from_young(young, 0.3))
        body.pin(body.initial_positions[:, 2] > 0.04)
        return pl.Simulation(scene), body

    sim, body = pulled(1e4)
    sim.set_material(body, pl.StableNeoHookean.from_young(1e5, 0.3))
    expected, _ = pulled(1e5)
    assert np.array_equal(path_of(sim), path_of(expected))
    with pytest.raises(pl.SceneError, match="has a StableNeoHookean; give one, not a ARAP"):
        sim.set_material(body, pl.ARAP(1e5))


def test_bad_settings_are_refused():
    sim, _, _ = falling_box()
    with pytest.raises(pl.SceneError, match="neither a body nor an obstacle"):
        sim.set_friction(0.1, object())
    with pytest.raises(pl.SceneError, match="gravity"):
        sim.set_gravity((0, 1))
    with pytest.raises(pl.SceneError, match="coefficient"):
        sim.set_friction(-1.0)


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
def test_a_state_goes_on_at_its_time_with_steps_of_another_length(integrator):
    """In free fall a step adds g h to the speed, and to the way v h, v the new speed in implicit Euler, whatever came
    before.
    """
    scene = pl.Scene()
    scene.add_solid(pl.shapes.box((0.1, 0.1, 0.1), (1, 1, 1)), LAW)
    before, after = (pl.Simulation(scene, substeps=n, integrator=integrator, threads=1) for n in (5, 10))
    for _ in range(3):
        before.advance()
    after.load_state_dict(before.state_dict())
    assert after.time == pytest.approx(before.time, abs=1e-12)
    assert np.array_equal(after.positions, before.positions)
    after.step()
    h = 1 / 600
    np.testing.assert_allclose(after.velocities[:, 2], before.velocities[:, 2] - 9.81 * h, rtol=1e-5)
    way = after.positions[:, 2] - before.positions[:, 2]
    if integrator == "euler":
        np.testing.assert_allclose(way, h * after.velocities[:, 2], rtol=1e-4)
    else:  # a first step of second order: within a third of the change of speed
        np.testing.assert_allclose(way, h * (after.velocities + before.velocities)[:, 2] / 2, atol=9.81 * h**2 / 3)
    after.step()
    with pytest.raises(pl.SimulationError, match=r"between two steps of this simulation, which are 0\.00238095 s long"):
        pl.Simulation(scene, substeps=7, threads=1).load_state_dict(after.state_dict())
