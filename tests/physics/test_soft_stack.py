"""Soft cubes on each other with default settings, undamped."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

CUBES, SIDE = 10, 0.2


def column(young: float) -> pl.Scene:
    """Cubes that touch face to face as they start; q L^3 / E I = 2.4 at 1e7 Pa, below the 7.84 at which it buckles."""
    scene = pl.Scene()
    scene.contact = pl.Contact(friction=0.5)
    scene.add_plane((0, 0, 0), (0, 0, 1))
    for k in range(CUBES):
        mesh = pl.shapes.box((SIDE, SIDE, SIDE), (2, 2, 2)).transformed(translation=(0, 0, (k + 0.5) * SIDE))
        scene.add_solid(mesh, pl.StableNeoHookean.from_young(young, 0.3), density=1000.0)
    return scene


@pytest.mark.slow
@pytest.mark.parametrize("young", [1e7, 1e8])
def test_ten_cubes_stand_for_ten_seconds(young: float) -> None:
    """They settle without drift, sway by little more than a millimetre, and gain no energy; steps converge."""
    sim = pl.Simulation(column(young))
    lowest, rise, places, converged = sim.energies()["total"], 0.0, [], []
    while sim.time < 10.0 - 1e-9:
        converged.append(sim.step().converged)
        total = sim.energies()["total"]
        lowest, rise = min(lowest, total), max(rise, total - lowest)
        places.append(sim.positions.reshape(CUBES, -1, 3).mean(axis=1))
    assert np.mean(converged) > 0.99
    second = len(places) // 10
    drift = np.mean(places[-second:], axis=0) - np.mean(places[second : 2 * second], axis=0)
    assert np.abs(drift).max() < 1e-3
    assert np.abs(np.array(places)[:, :, :2]).max() < 1.2e-3
    assert rise < 1e-3 * CUBES * SIDE**3 * 1000.0 * 9.81 * SIDE
