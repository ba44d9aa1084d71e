"""Solids and convex rigid bodies whose boxes overlap, against NumPy."""

import numpy as np

import pliant as pl


def test_pairs_are_those_of_boxes_that_overlap() -> None:
    scene, rng = pl.Scene(contact=pl.Contact()), np.random.default_rng(3)
    law = pl.StableNeoHookean.from_young(1e5, 0.3)
    for _ in range(6):
        scene.add_solid(pl.shapes.box((1, 1, 1), (1, 1, 1)).transformed(translation=rng.uniform(0, 3, 3)), law)
        scene.add_rigid(pl.Box((1, 1, 1)), position=rng.uniform(0, 3, 3), orientation=rng.normal(size=4))
    sim = pl.Simulation(scene, pl.VBD(iterations=1))
    detector = sim._detector
    assert detector is not None
    assert detector.at_convex is not None
    x, model = sim.state.x, sim.model
    expected = []
    for solid in range(0, 12, 2):
        for rigid in range(1, 12, 2):
            corners = [x[model.vertices_of(k)] for k in (solid, rigid)]
            corners[1] = corners[1][np.isin(model.vertices_of(rigid), detector.convex.vertices)]
            kept = [detector.colliders.radius[model.vertices_of(k)[-1]] for k in (solid, rigid)]
            low, high = ([f(p, axis=0) for p in corners] for f in (np.min, np.max))
            gap = np.maximum(low[0] - high[1], low[1] - high[0]).max()
            if gap <= sum(kept):
                expected.append((solid, rigid))
    assert 3 < len(expected) < 36
    np.testing.assert_array_equal(detector.at_convex._near_bodies(x), expected)
