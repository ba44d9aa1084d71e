"""Ids of contacts last from step to step, and multipliers are found again by them."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact.contact_set import ContactSet, chosen, joined, obstacle_contacts, pair_contacts
from pliant.contact.detector import Detector
from pliant.contact.tracking.identity import contact_ids, places_among
from pliant.contact.tracking.multipliers import multipliers_of, no_multipliers, restore_multipliers
from pliant.elements.closest import EDGE_EDGE, VERTEX_OBSTACLE, VERTEX_TRIANGLE


def pairs(kind: int, vertices: list[list[int]]) -> ContactSet:
    k = len(vertices)
    return pair_contacts(kind, np.array(vertices), np.zeros((k, 4)), np.zeros((k, 3)), np.zeros(k), np.zeros(k))


def several() -> ContactSet:
    nothing = np.zeros((2, 3))
    return joined(
        pairs(VERTEX_TRIANGLE, [[9, 4, 2, 7], [2, 4, 9, 7]]),
        pairs(EDGE_EDGE, [[8, 3, 5, 1], [3, 8, 2, 6]]),
        obstacle_contacts(1, np.array([4, 9]), nothing, nothing, nothing, np.zeros(2)),
    )


def test_ids_do_not_depend_on_the_order_of_corners() -> None:
    expected = [
        [VERTEX_TRIANGLE, 9, 2, 4, 7],
        [VERTEX_TRIANGLE, 2, 4, 7, 9],
        [EDGE_EDGE, 1, 5, 3, 8],
        [EDGE_EDGE, 2, 6, 3, 8],
        [VERTEX_OBSTACLE, 4, 1, -1, -1],
        [VERTEX_OBSTACLE, 9, 1, -1, -1],
    ]
    np.testing.assert_array_equal(contact_ids(several()), expected)
    other = joined(pairs(VERTEX_TRIANGLE, [[9, 7, 4, 2]]), pairs(EDGE_EDGE, [[1, 5, 8, 3]]))
    np.testing.assert_array_equal(contact_ids(other), [expected[0], expected[2]])


def test_places_are_those_of_a_dictionary() -> None:
    """2,000 random ids of which half are known, some twice: equal ones are given out in order, each once."""
    rng = np.random.default_rng(0)
    known, ids = (rng.integers(-1, 6, (2000, 5)).astype(np.int32) for _ in range(2))
    left: dict[tuple, list[int]] = {}
    for place, row in enumerate(known.tolist()):
        left.setdefault(tuple(row), []).append(place)
    expected = [left[tuple(row)].pop(0) if left.get(tuple(row)) else -1 for row in ids.tolist()]
    places = places_among(ids, known)
    np.testing.assert_array_equal(places, expected)
    assert 100 < (places >= 0).sum() < 1900


def test_multipliers_are_found_again_by_id() -> None:
    before = several()
    before.normal_multiplier[:] = [1, 2, 0, 4, 5, 6]
    before.tangential_multiplier[:, 0] = [0.1, 0.2, 0.0, 0.4, 0.5, 0.6]
    kept = multipliers_of(before)
    assert len(kept.ids) == 5
    after = joined(pairs(VERTEX_TRIANGLE, [[1, 2, 3, 4]]), chosen(several(), np.array([5, 3, 2, 0])))
    restore_multipliers(after, kept)
    np.testing.assert_array_equal(after.normal_multiplier, [0, 6, 4, 0, 1])
    np.testing.assert_array_equal(after.tangential_multiplier[:, 0], [0, 0.6, 0.4, 0, 0.1])
    assert multipliers_of(several()).ids.shape == no_multipliers().ids.shape


@pytest.fixture
def resting() -> pl.Simulation:
    """A cube on a plane, pressed a little into another."""
    law = pl.StableNeoHookean.from_young(1e6, 0.3)
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=1e5, friction=0.3)
    for z in (0.05, 0.1499):
        scene.add_solid(pl.shapes.box((0.1,) * 3, (2, 2, 2)).transformed(translation=(0.02 * z, 0, z)), law)
    scene.add_plane((0, 0, 0), (0, 0, 1))
    return pl.Simulation(scene, pl.VBD(iterations=20), frame_rate=60, substeps=2, precision="double")


def detector_of(sim: pl.Simulation) -> Detector:
    assert sim._detector is not None
    return sim._detector


def test_multipliers_stay_within_a_step_and_from_step_to_step(resting: pl.Simulation, tmp_path) -> None:
    """As a solver sets them; also through a checkpoint, bit by bit, and zero if none does."""
    detector, x = detector_of(resting), resting.positions
    detector.begin_step(x)
    first = detector.detect(x, x, 0.0).contacts
    assert first.size > 12
    assert not first.normal_multiplier.any()
    rng = np.random.default_rng(1)
    first.normal_multiplier[:] = rng.random(first.size)
    first.tangential_multiplier[:] = rng.random((first.size, 3))
    again = detector.detect(x, x, 0.0).contacts
    np.testing.assert_array_equal(again.normal_multiplier, first.normal_multiplier)
    detector.end(x, x)
    resting.save(tmp_path / "kept.npz")
    for sim in (resting, pl.Simulation.resume(tmp_path / "kept.npz")):
        detector_of(sim).begin_step(x)
        later = detector_of(sim).detect(x, x, 0.0).contacts
        np.testing.assert_array_equal(contact_ids(later), contact_ids(first))
        np.testing.assert_array_equal(later.normal_multiplier, first.normal_multiplier)
        np.testing.assert_array_equal(later.tangential_multiplier, first.tangential_multiplier)


def test_every_contact_has_the_scenes_stiffness(resting: pl.Simulation) -> None:
    contacts = detector_of(resting).contacts_at(resting.positions, 0.0)[0].contacts
    np.testing.assert_array_equal(contacts.stiffness, np.full(contacts.size, 1e5))
