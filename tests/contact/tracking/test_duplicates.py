"""Contacts of the same place are listed once, the first of them; compared with sets in Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.contact.contact_set import ContactSet, joined, no_contacts, pair_contacts
from pliant.contact.tracking.duplicates import without_duplicates
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE


def contact(kind: int, vertices: tuple[int, ...], weights: tuple[float, ...]) -> ContactSet:
    return pair_contacts(kind, np.array([vertices]), np.array([weights], float), np.zeros((1, 3)), np.zeros(1), [0])


def name(vertices: np.ndarray, weights: np.ndarray) -> frozenset:
    """Both sides as sets; which is which does not matter."""
    sides = (frozenset(vertices[weights > 1e-12].tolist()), frozenset(vertices[weights < -1e-12].tolist()))
    return frozenset(sides)


def test_a_vertex_at_a_common_edge_and_edges_closest_at_an_end_are_the_same() -> None:
    several = joined(
        contact(VERTEX_TRIANGLE, (9, 1, 2, 3), (1, -0.5, -0.5, 0)),
        contact(VERTEX_TRIANGLE, (9, 2, 1, 4), (1, -0.3, -0.7, 0)),  # the neighbour at the edge 1 2
        contact(EDGE_EDGE, (9, 8, 1, 2), (1, 0, -0.5, -0.5)),  # an edge that ends in 9
        contact(EDGE_EDGE, (1, 2, 8, 9), (0.5, 0.5, 0, -1)),  # the same from the other side
        contact(VERTEX_TRIANGLE, (9, 1, 2, 3), (1, -0.4, -0.4, -0.2)),  # over the triangle: another
        contact(EDGE_EDGE, (9, 8, 1, 2), (0.5, 0.5, -0.5, -0.5)),  # edges that cross: another
        contact(VERTEX_TRIANGLE, (9, 1, 2, 3), (1, -1, 0, 0)),  # two vertices: another
        contact(VERTEX_TRIANGLE, (1, 9, 8, 7), (1, -1, 0, 0)),  # and the same from the other side
    )
    once = without_duplicates(several)
    np.testing.assert_array_equal(once.vertices, several.vertices[[0, 4, 5, 6]])
    np.testing.assert_array_equal(once.weights, several.weights[[0, 4, 5, 6]])
    assert len(without_duplicates(no_contacts()).kind) == 0


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.permutations(range(6)), st.integers(0, 15)), max_size=60))
def test_the_first_of_each_is_kept_in_order(rows) -> None:
    lists, pairs = [], set()
    for kind, vertices, pattern in rows:
        own = 1 if kind == VERTEX_TRIANGLE else 2
        pair = frozenset((frozenset(vertices[:own]), frozenset(vertices[own:4])))
        if pair in pairs:  # detection lists a pair once
            continue
        pairs.add(pair)
        used = [(pattern >> i) & 1 for i in range(4)]
        ours, theirs = (used[:1], used[1:]) if kind == VERTEX_TRIANGLE else (used[:2], used[2:])
        ours, theirs = (side if any(side) else [1] * len(side) for side in (ours, theirs))
        weights = [w / sum(ours) for w in ours] + [-w / sum(theirs) for w in theirs]
        lists.append(contact(kind, tuple(vertices[:4]), tuple(weights)))
    several = joined(no_contacts(), *lists)
    seen: set[frozenset] = set()
    expected = []
    for k in range(len(several.kind)):
        own = name(several.vertices[k], several.weights[k])
        if own not in seen:
            expected.append(k)
            seen.add(own)
    np.testing.assert_array_equal(without_duplicates(several).vertices, several.vertices[expected])
