"""Looking ahead saves searches and changes nothing else."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact.search import surface_pairs
from pliant.contact.search.straight_ways import MOST, SAFETY, StraightWays


def folding_cloth(guarantee: bool) -> pl.Simulation:
    """A cloth over a small ball, whose sides meet."""
    scene = pl.Scene(contact=pl.Contact(guarantee=guarantee))
    cloth = scene.add_cloth(pl.shapes.cloth((0.4, 0.4), (16, 16)), pl.StableNeoHookean(2000, 2000), 0.2)
    cloth.set_positions(cloth.initial_positions + np.array([0, 0, 0.075]))
    scene.add_sphere((0, 0, 0), 0.05)
    return pl.Simulation(scene, pl.VBD(10), frame_rate=300, substeps=1)


@pytest.mark.parametrize(("guarantee", "share"), [(False, 0.6), (True, 0.75)])
def test_steps_make_fewer_searches_and_end_with_the_same_bits(
    monkeypatch: pytest.MonkeyPatch, guarantee: bool, share: float
) -> None:
    """Sixty steps with looking ahead, and without it: one search per step in place of two, but where vertices are held
    back from the way that was looked at.
    """
    searches = []
    fit = surface_pairs.fit_surface
    monkeypatch.setattr(surface_pairs, "fit_surface", lambda *about: searches.append(1) or fit(*about))
    ends, counts = [], []
    for looks in (True, False):
        if not looks:
            monkeypatch.setattr(StraightWays, "reach", None)
        searches.clear()
        sim = folding_cloth(guarantee)
        for _ in range(60):
            sim.step()
        ends.append(sim.state.x)
        counts.append(len(searches))
    assert np.array_equal(*ends)
    assert counts[1] >= 119
    assert counts[0] < share * counts[1]


def test_reach_is_what_the_last_way_was_off_the_line() -> None:
    """Half as much again; nothing where that is unknown, or much for an edge."""
    x0, x1 = np.zeros((2, 3)), np.array([[0.1, 0, 0], [0, 0.2, 0]])
    ways = StraightWays(edge=1.0)
    assert ways.reach is None
    ways.meet(x0, x1)
    assert ways.reach is None
    ways.go_on(x0, x1)
    ways.meet(x1, np.array([[0.2, 0, 0.01], [0, 0.4, 0.004]]))
    assert ways.reach == pytest.approx(SAFETY * 0.01)
    ways.meet(x1, np.array([[0.2, 0, 1.01 * MOST / SAFETY], [0, 0.4, 0]]))
    assert ways.reach is None
