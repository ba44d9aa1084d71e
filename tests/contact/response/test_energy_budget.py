"""What a step gains beyond what is put in is measured, and taken out of velocities; momenta stay (decision 0040)."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.contact.response.rigid_velocities import rigid_velocities
from pliant.contact.response.step_account import TOLERANCE, StepEnds


def pressed_balls() -> tuple[pl.Simulation, np.ndarray, np.ndarray]:
    """Two balls that press each other, and the positions and velocities at the start of their last step."""
    scene = pl.Scene(gravity=(0, 0, 0), contact=pl.Contact())
    for side in (-1, 1):
        mesh = pl.shapes.ball(0.1, 2).transformed(translation=(0.1005 * side, 0.01 * side, 0))
        body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3), density=1000.0)
        body.set_velocities((-0.5 * side, 0.1, 0))
    sim = pl.Simulation(scene, pl.VBD(20), threads=1)
    for _ in range(4):
        x, v = sim.positions, sim.velocities
        report = sim.step()
    assert report.contact.touching > 0
    return sim, x, v


def ends(sim: pl.Simulation, x: np.ndarray, v: np.ndarray, factor: float) -> StepEnds:
    """The last step, with velocities at its end that are too large by a factor."""
    still = np.zeros_like(x)
    return sim._detector.ends_of(sim._solved.model, still, (x, v), (sim.positions, factor * sim.velocities))


def test_what_a_step_has_gained_is_taken_out_and_momenta_stay() -> None:
    """Velocities that are 1.5 times too large have 5/4 of the kinetic energy too much, but for what the step lost."""
    sim, x, v = pressed_balls()
    budget = sim._detector.budget
    mass, step = sim.model.mass, ends(sim, x, v, 1.5)
    before, momentum = step.v.copy(), mass @ step.v
    spin = (mass[:, None] * np.cross(step.x, step.v)).sum(axis=0)
    looked_at = budget.settle(step, is_enforced=False)
    assert looked_at.removed == 0
    assert np.array_equal(step.v, before)
    rise = budget.settle(step, is_enforced=True)
    kinetic = [0.5 * float(np.sum(mass[:, None] * values**2)) for values in (before, step.v)]
    assert rise.risen == looked_at.risen > 0.1 * kinetic[0]
    assert kinetic[0] - kinetic[1] == pytest.approx(rise.removed, rel=1e-9)
    assert rise.removed == pytest.approx(rise.risen, rel=1e-9)
    assert np.abs(mass @ step.v - momentum).max() < 1e-12
    assert np.abs((mass[:, None] * np.cross(step.x, step.v)).sum(axis=0) - spin).max() < 1e-12
    again = budget.settle(step, is_enforced=True)
    assert again.risen <= 2 * TOLERANCE * kinetic[0]


def test_a_step_that_loses_energy_stays_as_it_is() -> None:
    sim, x, v = pressed_balls()
    step = ends(sim, x, v, 0.9)
    before = step.v.copy()
    assert sim._detector.budget.settle(step, is_enforced=True) == (0.0, 0.0)
    assert np.array_equal(step.v, before)


def test_who_cannot_give_back_what_a_step_has_gained() -> None:
    """Velocities that are too large pay for themselves; elastic energy of a step that ends at rest does not, and all
    vertices of both balls owe it.
    """
    sim, x, v = pressed_balls()
    budget = sim._detector.budget
    assert not budget.unpaid(ends(sim, x, v, 1.5)).any()
    step = ends(sim, x, v, 0.0)
    assert not budget.unpaid(step).any()
    assert budget.unpaid(replace(step, v0=np.zeros_like(v), x=1.3 * step.x)).all()


def test_rigid_velocities_have_the_momenta_of_what_moves() -> None:
    """Of two bodies, and nothing for vertices of none; what is left has no momentum and no angular momentum."""
    rng = np.random.default_rng(0)
    x, v, mass = rng.normal(size=(30, 3)), rng.normal(size=(30, 3)), rng.uniform(0.5, 2, 30)
    label = np.repeat([0, 1, -1], 10)
    rigid = rigid_velocities(label, 2, mass, x, v)
    assert not rigid[20:].any()
    for body in range(2):
        own = label == body
        left = mass[own, None] * (v - rigid)[own]
        assert np.abs(left.sum(axis=0)).max() < 1e-12
        assert np.abs(np.cross(x[own], left).sum(axis=0)).max() < 1e-12
    turning = np.cross([0.3, -0.2, 1.0], x) + np.array([1.0, 2.0, 3.0])
    assert np.abs(rigid_velocities(label, 2, mass, x, turning)[:20] - turning[:20]).max() < 1e-12
