"""What is changed in a scene after its simulation was built has no effect on it, and is told once."""

import copy
import logging
import pickle
from collections.abc import Callable

import numpy as np
import pytest

import pliant as pl

JELLY = pl.StableNeoHookean.from_young(1e4, 0.4)


@pytest.fixture
def scene() -> pl.Scene:
    scene = pl.Scene(contact=pl.Contact())
    scene.add_solid(pl.shapes.box((0.1, 0.1, 0.1), 1), JELLY, name="cube").set_velocities((0, 0, 1))
    return scene


def simulation(scene: pl.Scene) -> pl.Simulation:
    return pl.Simulation(scene, pl.VBD(iterations=2), threads=1)


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if getattr(record, "entry", "") == "scene-changed"]


LATE: dict[str, Callable[[pl.Scene, pl.Body], object]] = {
    "cube.pin()": lambda scene, cube: cube.pin([0]),
    "cube.free()": lambda scene, cube: cube.free([0]),
    "cube.constrain_to_plane()": lambda scene, cube: cube.constrain_to_plane([1], (0, 0, 1)),
    "cube.set_positions()": lambda scene, cube: cube.set_positions(cube.positions + 1.0),
    "cube.set_velocities()": lambda scene, cube: cube.set_velocities((1, 0, 0)),
    "cube.add_force()": lambda scene, cube: cube.add_force(lambda x, v, t: np.ones_like(x)),
    "cube.pressure was set": lambda scene, cube: setattr(cube, "pressure", 10.0),
    "scene.gravity was set": lambda scene, cube: setattr(scene, "gravity", (0, 0, 0)),
    "scene.wind was set": lambda scene, cube: setattr(scene, "wind", pl.Wind(velocity=(5, 0, 0))),
    "scene's obstacles changed from 0 to 1": lambda scene, cube: scene.add_plane((0, 0, -1)),
    "scene's bodies changed from 1 to 2": lambda scene, cube: scene.add_rigid(pl.Sphere(0.1), position=(2, 0, 0)),
}


@pytest.mark.parametrize("late", LATE)
def test_a_change_that_comes_too_late_is_told_once_and_has_no_effect(
    scene: pl.Scene, late: str, caplog: pytest.LogCaptureFixture
) -> None:
    changed, other = simulation(scene), simulation(scene)
    expected = [other.step() and other.positions for _ in range(3)]
    with caplog.at_level(logging.WARNING, "pliant"):
        changed.step()
        assert told(caplog) == []
        LATE[late](scene, scene.bodies[0])
        for k in (1, 2):
            changed.step()
            assert np.array_equal(changed.positions, expected[k])
    (message,) = told(caplog)
    assert late in message
    caplog.clear()
    simulation(scene).step()
    assert told(caplog) == []


def test_what_a_simulation_changes_by_itself_is_not_told(scene: pl.Scene, caplog: pytest.LogCaptureFixture) -> None:
    cube = scene.bodies[0]
    sim = simulation(scene)
    for change in (
        lambda: sim.set_gravity((0, 0, -1)),
        lambda: sim.set_friction(0.1, cube),
        lambda: sim.set_friction(0.2),
        lambda: sim.set_material(cube, pl.StableNeoHookean.from_young(2e4, 0.4)),
        lambda: setattr(cube, "colour", (1, 0, 0)),
        sim.reset,
    ):
        change()
        sim.step()
    for other in (copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))):
        other.step()
    assert told(caplog) == []


def test_a_body_is_added_once(scene: pl.Scene) -> None:
    with pytest.raises(pl.SceneError, match="cube is in this scene already"):
        scene.add(scene.bodies[0])


def test_what_is_printed_says_what_there_is(scene: pl.Scene) -> None:
    assert repr(scene.bodies[0]) == "<Solid cube: 8 vertices, 5 tets>"
    assert repr(scene) == "<Scene: 1 bodies, 0 obstacles, 0 joints: cube>"
    size = "8 vertices in 1 bodies, steps of 0.00333333 s"
    assert repr(simulation(scene)).startswith(f"<Simulation at t = 0 s: {size}, VBD(")
