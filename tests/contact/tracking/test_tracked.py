"""Whose sides are tracked: not those of pairs that are known from where they are."""

import numpy as np

import pliant as pl
from pliant.contact.detector import Detector


def detector_of(boxes: int, has_cloth: bool = False, has_ball: bool = False) -> Detector:
    scene = pl.Scene(contact=pl.Contact())
    law = pl.StableNeoHookean.from_young(1e5, 0.3)
    scene.add_solid(pl.shapes.box((1, 1, 1), (2, 2, 2)), law)
    for k in range(boxes):
        scene.add_rigid(pl.Box((1, 1, 1)), position=(0.5, 0.5, 3 + 2 * k))
    if has_ball:
        scene.add_rigid(pl.Sphere(0.5), position=(5, 0, 3))
    if has_cloth:
        cloth = pl.shapes.cloth((1, 1), (2, 2)).transformed(translation=(0, 0, 10))
        scene.add_cloth(cloth, pl.StVenantKirchhoff(mu=100.0, lam=100.0))
    detector = pl.Simulation(scene, pl.VBD(iterations=1))._detector
    assert detector is not None
    return detector


def test_one_convex_rigid_body_among_solids_needs_no_sides() -> None:
    assert not detector_of(boxes=1)._tracked.has_thin
    assert not detector_of(boxes=1, has_ball=True)._tracked.has_thin


def test_what_touches_other_than_solids_does() -> None:
    assert detector_of(boxes=2)._tracked.has_thin  # two boxes may pass each other
    assert detector_of(boxes=1, has_cloth=True)._tracked.has_thin
    assert detector_of(boxes=0, has_cloth=True)._tracked.has_thin


def test_a_rigid_body_that_falls_fast_passes_no_tet_of_a_solid_at_rest() -> None:
    """Tets are half a metre wide at least along some axis; the box falls by two metres in the step."""
    detector = detector_of(boxes=1, has_ball=True)
    x, body, width = detector.model.positions, detector.model.body, detector.least_width
    falls = x - np.where(body[:, None] > 0, (0, 0, 2.0), 0.0)
    passes, after = detector._tracked.may_pass_solids(detector.team, x, falls, width)
    assert not passes
    assert after == width
    is_corner = np.arange(len(x)) == np.flatnonzero(body == 0)[0]
    moved = x - np.where(is_corner[:, None], (0, 0, 2.0), 0.0)
    assert detector._tracked.may_pass_solids(detector.team, x, moved, width)[0]
