"""Static shapes of cloth that turns and folds a long way from where it starts."""

import numpy as np
import pytest

import pliant as pl


def test_a_square_held_by_one_corner_hangs_below_it():
    """Its weight is held there, its middle is straight below, no part of it above; it is longer than a side."""
    scene = pl.Scene()
    mesh = pl.shapes.cloth((1, 1), (8, 8))
    sheet = scene.add_cloth(mesh, pl.StableNeoHookean.from_young(1e4, 0.3), bending=1e-4)
    corner = int(np.argmin(mesh.points.sum(axis=1)))
    sheet.pin([corner])
    found = pl.equilibrium(scene)
    assert found.report.converged
    assert found.reaction_force(sheet) == pytest.approx([0, 0, sheet.masses.sum() * 9.81], abs=1e-5)
    x = found.positions - found.positions[corner]
    middle = np.average(x, axis=0, weights=sheet.masses)
    assert middle[:2] == pytest.approx([0, 0], abs=1e-5)
    assert x[:, 2].max() < 1e-6
    assert 1.0 < -x[:, 2].min() < 1.01 * np.sqrt(2)
