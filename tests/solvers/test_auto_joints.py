"""Joints of infinite stiffness in scenes with soft bodies, without a named solver (decision 0052)."""

import numpy as np
import pytest

import pliant as pl


def chain_with_a_soft_weight(youngs_modulus: float = 1e8) -> tuple[pl.Scene, pl.Body]:
    """Ten links of 25 g, level, that hold a soft ball of 15 kg by eight attachments."""
    scene, link = pl.Scene(contact=None), None
    for k in range(10):
        shape, position = pl.Capsule(0.01, 0.08), (0.05 + 0.1 * k, 0, 1)
        before, link = link, scene.add_rigid(shape, position=position, orientation=(0.5**0.5, 0, 0.5**0.5, 0))
        scene.add_joint("ball", link, before, point=(0.1 * k, 0, 1))
    mesh = pl.shapes.ball(radius=0.1, cells=3)
    law = pl.StableNeoHookean.from_young(youngs_modulus, 0.4)
    weight = scene.add_solid(pl.TetMesh(mesh.points + np.array([1.1, 0, 1]), mesh.tets), law, density=5000.0)
    near = np.argsort(np.linalg.norm(weight.initial_positions - [1, 0, 1], axis=1))[:8]
    places = [link.point(place) for place in weight.initial_positions[near]]
    scene.attach(weight, near, link, places, stiffness=1e5)
    return scene, weight


def gap(sim: pl.Simulation) -> float:
    """The largest of all links of joints [m]."""
    pairs = next(block.elements for block in sim.model.blocks if type(block).__name__ == "JointLinks")
    ends = sim.state.x[pairs]
    return float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).max())


@pytest.mark.slow
@pytest.mark.parametrize("youngs_modulus", [1e5, 1e8])
def test_a_chain_keeps_its_length_with_a_soft_weight(youngs_modulus: float) -> None:
    """Joints of links of 25 g that carry 15 kg are less than 0.1 mm apart, and every step converges. Penalties, which
    the same masses take, are 18 mm apart.
    """
    scene, _ = chain_with_a_soft_weight(youngs_modulus)
    sim = pl.Simulation(scene)
    assert sim.solver == pl.Auto(iterations_max=600)  # ten rigid bodies and more among soft ones (decision 0104)
    worst = 0.0
    for _ in range(60):
        assert sim.step().converged
        worst = max(worst, gap(sim))
    assert worst < 1e-4


@pytest.mark.slow
def test_the_motion_is_that_of_converged_multipliers() -> None:
    """A tenth of a second of AVBD in 3,000 iterations and double precision: the weight to 0.2 mm."""
    places = []
    for solver, precision in ((None, "single"), (pl.AVBD(iterations=3000), "double")):
        scene, weight = chain_with_a_soft_weight(1e5)
        sim = pl.Simulation(scene, solver, precision=precision)
        for _ in range(30):
            sim.step()
        places.append(weight.positions)
    np.testing.assert_allclose(places[0], places[1], atol=2e-4)


def driven_scene() -> pl.Scene:
    """Links, directions, a rope, and drives of both kinds."""
    scene = pl.Scene()
    boxes = [scene.add_rigid(pl.Box((0.2, 0.1, 0.1)), position=(0.3 * k, 0, 0)) for k in range(4)]
    motor = pl.Motor(speed=2.0, max_torque=5.0)
    scene.add_joint("hinge", boxes[0], None, point=(-0.1, 0, 0), axis=(0, 1, 0), motor=motor)
    scene.add_joint("universal", boxes[1], boxes[0], point=(0.15, 0, 0), axis=(0, 0, 1))
    scene.add_joint("slider", boxes[2], boxes[1], point=(0.45, 0, 0), axis=(0, 0, 1), limits=(-0.001, 0.1))
    scene.add_joint("distance", boxes[3], boxes[2], point=(0.8, 0, 0), other_point=(0.7, 0, 0))
    return scene


@pytest.mark.slow
def test_multipliers_are_updated_as_the_kernels_do() -> None:
    """After an iteration in double precision, to rounding: what Newton's method uses is what block descent does."""
    sim = pl.Simulation(driven_scene(), pl.AVBD(iterations=5), precision="double")
    for _ in range(10):
        sim.step()
    problem, work, solver = sim.problem(), sim._work, sim.solver
    solver.begin_step(problem, work)
    x, rows = problem.x_guess.copy(), work.rows
    before = {k: dual.shift.copy() for k, dual in rows.duals.items()}
    solver.sweep(problem, x, work, 1)
    expected = {k: dual.multipliers.copy() for k, dual in rows.duals.items()}
    for k, dual in rows.duals.items():
        dual.shift[:] = before[k]
    rows.update(problem, x, work.tables)
    assert len(expected) == 5
    for k, multipliers in expected.items():
        assert np.abs(multipliers).max() > 0
        np.testing.assert_allclose(rows.duals[k].multipliers, multipliers, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
def test_the_same_bits_after_resume(tmp_path) -> None:
    """Multipliers of Auto are in checkpoints."""
    scene, _ = chain_with_a_soft_weight()
    sim = pl.Simulation(scene)
    for _ in range(10):
        sim.step()
    sim.save(tmp_path / "run.npz")
    resumed = pl.Simulation.resume(tmp_path / "run.npz")
    for _ in range(10):
        sim.step()
        resumed.step()
    assert np.array_equal(sim.state.x, resumed.state.x)
