"""The newcomer's scene, a soft ball that falls on a pinned cloth with no number of contact given, for masses and
stiffnesses that are scaled apart from each other.
"""

import numpy as np
import pytest

import pliant as pl

pytestmark = pytest.mark.slow
SCALES = (1e-6, 1e-3, 1.0, 1e3, 1e6)
STIFFEST = 1e6  # of stiffness over mass: h^2 k / m is then 4e7; a thousand times more is beyond rounding and warned of


def newcomers_scene(mass: float, stiffness: float) -> pl.Scene:
    scene = pl.Scene(contact=pl.Contact())
    ball = pl.shapes.ball(0.075, 2).transformed(translation=(0.003, 0.002, 0.375))
    scene.add_solid(ball, pl.StableNeoHookean.from_young(3e4 * stiffness, 0.3), density=300.0 * mass)
    law = pl.StableNeoHookean(mu=2000.0 * stiffness, lam=2000.0 * stiffness)
    cloth = scene.add_cloth(pl.shapes.cloth((1, 1), (8, 8)), law, density=0.2 * mass, bending=1e-5 * stiffness)
    cloth.pin(np.flatnonzero(np.abs(cloth.initial_positions[:, :2]).min(axis=1) > 0.499))
    return scene


@pytest.mark.parametrize("stiffness", SCALES)
@pytest.mark.parametrize("mass", SCALES)
def test_nothing_explodes_whatever_bodies_weigh_and_are_made_of(mass: float, stiffness: float) -> None:
    """Over the impact after 0.25 s: the energy falls in every step, to a millionth; no edge goes through a triangle; no
    vertex is below free fall, beside the cloth, or higher than it began. Where cloth is so soft that it falls as the
    ball does, they never meet.
    """
    if stiffness / mass > STIFFEST:
        pytest.skip("h^2 k / m is beyond rounding")
    sim = pl.Simulation(newcomers_scene(mass, stiffness))
    before = start = sim.energies()["total"]
    has_met = False
    for _ in range(90):
        report = sim.step()
        after = sim.energies()["total"]
        assert after - before < 1e-6 * start
        assert report.contact.energy_rise < 1e-5 * start
        before, has_met = after, has_met or report.contact.touching > 0
        assert len(sim.intersections().crossing) == 0
    x = sim.positions
    assert has_met == (stiffness / mass >= 1)
    assert np.abs(x[:, :2]).max() < 0.51
    assert x[:, 2].min() > -0.5 * 9.81 * sim.time * (sim.time + sim.h) - 0.01  # of implicit Euler
    assert x[:, 2].max() < 0.45
