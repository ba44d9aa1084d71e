"""Beams on supports with rims: edges of the beam lie across edges of obstacles."""

import numpy as np
import pytest

import pliant as pl


def test_a_beam_rests_on_the_inner_rims_of_two_boxes():
    """It sags, so that it leaves the tops of the boxes and touches their inner rims alone; each carries half its
    weight, and forces are across the beam there but for friction.
    """
    scene = pl.Scene()
    mesh = pl.shapes.beam(length=1.0, width=0.05, height=0.05, cells=(20, 1, 1)).transformed(translation=(0, 0, 0.126))
    beam = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e7, 0.0), name="beam")
    boxes = [scene.add_box((x, 0, 0.05), (0.04, 0.1, 0.1), friction=0.3) for x in (-0.4, 0.4)]
    scene.contact = pl.Contact(friction=0.3)
    found = pl.equilibrium(scene)
    assert found.report.converged
    weight = beam.masses.sum() * 9.81
    for box in boxes:
        assert box.contact_force[2] == pytest.approx(-0.5 * weight, rel=1e-3)
    assert boxes[0].contact_force[0] == pytest.approx(-boxes[1].contact_force[0], abs=1e-3 * weight)
    presses = found.contacts.presses
    assert np.abs(found.contacts.points[presses, 0]) == pytest.approx(0.38, abs=1e-4)
    x = beam.positions
    bottom = np.flatnonzero((mesh.points[:, 2] < 0.102) & (mesh.points[:, 1] < 0))
    bottom = bottom[np.argsort(x[bottom, 0])]
    middles = 0.5 * (x[bottom[1:], 0] + x[bottom[:-1], 0])
    slope = np.interp(-0.38, middles, np.diff(x[bottom, 2]) / np.diff(x[bottom, 0]))
    normals = found.contacts.normals[presses & (found.contacts.points[:, 0] < 0)]
    assert normals.mean(axis=0)[0] == pytest.approx(-slope, abs=0.3 * abs(slope))
    assert np.abs(normals[:, 1]).max() < 1e-3  # diagonals of the mesh too
    assert slope < -0.01
