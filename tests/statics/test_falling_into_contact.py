"""Static shapes of what starts apart: load steps meet contacts that were far away as they began."""

import numpy as np
import pytest

import pliant as pl

EDGE, E = 0.2, 1e6


@pytest.mark.parametrize("gap", [0.001, 0.005, 0.02])
def test_blocks_that_start_apart_end_as_a_stack(gap):
    """Three blocks, the upper ones a gap above the next. A step of Newton's method falls through such gaps at once.

    Each is shorter by rho g L^2 / E times the blocks above it and a half; the plane carries their weight.
    """
    scene, mesh = pl.Scene(), pl.shapes.box((EDGE, EDGE, EDGE), (4, 4, 4))
    law = pl.StableNeoHookean.from_young(E, 0.0)
    blocks = [scene.add_solid(mesh.transformed(translation=(0, 0, EDGE / 2 + k * (EDGE + gap))), law) for k in range(3)]
    plane = scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.3)
    scene.contact = pl.Contact()
    found = pl.equilibrium(scene)
    assert found.report.converged
    assert found.report.load_factors == [1.0]
    assert plane.contact_force == pytest.approx([0, 0, -3 * 1000 * 9.81 * EDGE**3], abs=1e-3)
    shorter = 1000 * 9.81 * EDGE**2 / E * np.array([2.5, 1.5, 0.5])
    heights = np.array([np.ptp(block.positions[:, 2]) for block in blocks])
    assert EDGE - heights == pytest.approx(shorter, rel=0.05)
    middles = np.array([block.positions.mean(axis=0) for block in blocks])
    assert np.abs(middles[:, :2]).max() < 1e-5
