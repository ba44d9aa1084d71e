"""Weights of the mass points that put a sliding point where its contact is."""

import numpy as np

from pliant.contact.round_bodies import write_weights
from pliant.geometry import rotations
from pliant.lanes.compiled import cached
from pliant.model.carried import mass_points, weights_of


def test_weights_give_their_places_and_sum_to_one() -> None:
    rng = np.random.default_rng(0)
    turns = rotations.matrices(rotations.normalised(rng.normal(size=(20, 4))))
    own = np.array([mass_points(2.0, np.diag(rng.uniform(0.1, 1, 3))) for _ in turns])
    x = (np.einsum("kab,kib->kia", turns, own) + rng.normal(size=(20, 1, 3))).reshape(-1, 3)
    masses, which, places = np.arange(0, len(x), 4), rng.integers(0, 20, 30), rng.normal(size=(30, 3))
    weights = np.empty((30, 4))
    for k, place in enumerate(places):
        cached(write_weights)(masses[which[k]], tuple(place), x, k, weights)
    points = x[masses[which][:, None] + np.arange(4)]
    np.testing.assert_allclose(np.einsum("ki,kia->ka", weights, points), places, rtol=0, atol=1e-12)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(weights, weights_of(points, places), rtol=0, atol=1e-13)
