"""Checkpoints of what acts from outside: the same bits after resuming; functions of time are asked for."""

import numpy as np
import pytest

import pliant as pl

MESH = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
BAG = pl.shapes.ball(0.1, 2).surface()
FUNCTIONS = {
    "wind.velocity": lambda t: (3.0, np.sin(20 * t), 0.0),
    "bag.pressure": lambda t: 30.0 * (1 + t),
}


def simulation():
    scene = pl.Scene()
    block = scene.add_solid(MESH, pl.NeoHookean.from_young(1e5, 0.4), name="block")
    bag = scene.add_cloth(BAG, pl.StVenantKirchhoff(500.0, 500.0), name="bag")
    bag.set_positions(BAG.points + np.array([0.26, 0.0, 0.0]))
    block.gravity, block.air_damping, block.pressure, block.viscosity = (0, 1, -5), 0.7, -321.0, 4.0
    bag.pressure = FUNCTIONS["bag.pressure"]
    scene.wind = pl.Wind(FUNCTIONS["wind.velocity"], drag=0.9, lift=0.3, air_density=1.1)
    scene.world_box = pl.WorldBox((None, -1, -0.12), (np.inf, 1, 1), stiffness=3e3)
    scene.attach(block, [33, 34], bag, [0, 1], 70.0)
    scene.attach(block, [[0, 1, 2]], bag, [3], 7.0, [[0.3, 0.3, 0.4]])
    return pl.Simulation(scene, pl.VBD(iterations=4), frame_rate=60, substeps=2)


@pytest.mark.slow
def test_a_resumed_run_continues_with_the_same_bits(tmp_path):
    sim = simulation()
    for _ in range(5):
        sim.step()
    sim.save(tmp_path / "run.npz")
    resumed = pl.Simulation.resume(tmp_path / "run.npz", functions=FUNCTIONS, threads=3)
    state_terms = ("kinetic", "elastic", "gravity", "pressure", "attachment", "bounds", "total")
    assert [resumed.energies()[name] for name in state_terms] == [sim.energies()[name] for name in state_terms]
    for _ in range(5):
        sim.step()
        resumed.step()
    np.testing.assert_array_equal(resumed.positions, sim.positions)
    np.testing.assert_array_equal(resumed.velocities, sim.velocities)
    assert resumed.energies() == sim.energies()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_time_must_be_passed_again(tmp_path, name):
    simulation().save(tmp_path / "run.npz")
    others = {key: function for key, function in FUNCTIONS.items() if key != name}
    with pytest.raises(pl.FileError) as error:
        pl.Simulation.resume(tmp_path / "run.npz", functions=others)
    assert f"{name} is a Python function of time" in str(error.value)
    assert f"functions={{'{name}': function}}" in str(error.value)


def test_functions_the_file_does_not_miss_are_told(tmp_path):
    simulation().save(tmp_path / "run.npz")
    with pytest.raises(pl.FileError, match=r"'block\.pressure', but those of the file are wind\.velocity, bag\.pres"):
        pl.Simulation.resume(tmp_path / "run.npz", functions={**FUNCTIONS, "block.pressure": lambda t: t})
