"""Static shapes of what obstacles with prescribed motions press on."""

import numpy as np
import pytest

import pliant as pl

EDGE, E, STRAIN = 0.2, 1e5, 0.01


@pytest.mark.parametrize("load_steps", [None, 1])
def test_a_plane_presses_a_block_with_the_force_of_hooke(load_steps):
    """A block on a plane, under another one that comes down by a hundredth of its height; in one load step or in ten.
    The plane is in the block as each of them begins.
    """
    scene = pl.Scene()
    scene.gravity = (0, 0, 0)
    mesh = pl.shapes.box((EDGE, EDGE, EDGE), (2, 2, 2)).transformed(translation=(0, 0, EDGE / 2))
    block = scene.add_solid(mesh, pl.StableNeoHookean.from_young(E, 0.0), name="block")
    block.pin(np.abs(mesh.points[:, :2]).max(axis=1) < 1e-9, components="xy")
    floor = scene.add_plane((0, 0, 0), (0, 0, 1))
    press = scene.add_plane(
        (0, 0, EDGE), (0, 0, -1), motion=lambda t: ((0.0, 0.0, -STRAIN * EDGE * min(t, 1.0)), np.eye(3))
    )
    scene.contact = pl.Contact(friction=0.0)
    found = pl.equilibrium(scene, load_steps=load_steps)
    assert found.report.converged
    force = E * EDGE**2 * STRAIN
    assert press.contact_force[2] == pytest.approx(force, rel=0.01)
    assert floor.contact_force[2] == pytest.approx(-force, rel=0.01)
    assert np.ptp(block.positions[:, 2]) == pytest.approx(EDGE * (1 - STRAIN), rel=1e-4)
