"""Searches that are remembered have all pairs that another way needs, and others are searched for again."""

import numpy as np
import pytest

from contact_arrays import impact_times, open_rules
from pliant.contact.search.colliders import Colliders, make_colliders
from pliant.contact.search.overlaps import Pairs
from pliant.contact.search.surface_pairs import surface_pairs
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.geometry import shapes
from pliant.kernels.threads import Team

CELLS, GAP = 6, 0.03


def two_sheets(rng: np.random.Generator) -> tuple[Colliders, np.ndarray]:
    """One above the other, both rough."""
    mesh = shapes.cloth(size=(1, 1), cells=(CELLS, CELLS))
    n = len(mesh.points)
    x = np.concatenate([mesh.points, mesh.points + np.array([0.03, 0.02, GAP])]) + rng.normal(0, 0.005, (2 * n, 3))
    rules = open_rules(2 * n, np.repeat([0, 1], n))
    triangles = np.concatenate([mesh.triangles, mesh.triangles + n])
    return make_colliders(triangles, np.zeros((0, 4), int), rules, start=x), x


def near_pairs_by_comparing(colliders: Colliders, x0: np.ndarray, x1: np.ndarray, separation: float) -> set:
    """Vertices and triangles that come nearer than a separation, each compared with each."""
    surface = colliders.surface
    v, t = (places.ravel() for places in np.indices((len(surface.vertices), len(surface.triangles))))
    shares = (surface.vertices[v] == surface.triangles[t]).any(axis=1)
    v, t = v[~shares], t[~shares]
    corners = np.column_stack([surface.vertices[v], surface.triangles[t]])
    near = np.isfinite(impact_times(VERTEX_TRIANGLE, x0[corners], x1[corners], separation))
    return set(zip(v[near].tolist(), t[near].tolist(), strict=True))


def near_edges_by_comparing(colliders: Colliders, x0: np.ndarray, x1: np.ndarray, separation: float) -> set:
    """The same of edges, first < second."""
    edges = colliders.surface.edges
    i, j = np.triu_indices(len(edges), 1)
    apart = ~(edges[i][:, :, None] == edges[j][:, None, :]).any(axis=(1, 2))
    i, j = i[apart], j[apart]
    corners = np.column_stack([edges[i], edges[j]])
    near = np.isfinite(impact_times(EDGE_EDGE, x0[corners], x1[corners], separation))
    return set(zip(i[near].tolist(), j[near].tolist(), strict=True))


def listed(pairs: Pairs) -> list:
    return list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))


@pytest.mark.parametrize("strays", [0, 2])
def test_a_search_is_used_for_ways_that_end_near(team: Team, strays: int) -> None:
    """Another end, no vertex of which is further away than half of what the separation is larger, but for a few: those
    alone are searched for again. All that comes nearer than the separation is found once, as comparing each with each
    shows, and what is not near on the way is left out.
    """
    rng = np.random.default_rng(1)
    colliders, x0 = two_sheets(rng)
    x1 = x0 + np.array([0.5, 0.0, 0.2]) + rng.normal(0, 0.01, x0.shape)
    surface_pairs(team, colliders, x0, x1, 0.06)
    known, off = colliders.searches[0], rng.normal(size=x0.shape)
    x2 = x1 + 0.0099 * off / np.linalg.norm(off, axis=1)[:, None]
    x2[:strays] += np.array([0.1, 0.1, 0.1])
    found, now = surface_pairs(team, colliders, x0, x2, 0.04), colliders.searches[0]
    assert (now is known) == (strays == 0)
    assert np.array_equal(now.x1[strays:], known.x1[strays:])
    assert np.array_equal(now.x1[:strays], x2[:strays])
    both = (near_pairs_by_comparing, found.at_triangles), (near_edges_by_comparing, found.of_edges)
    for near_by, pairs in both:
        near, own = near_by(colliders, x0, x2, 0.04), listed(pairs)
        assert len(near) > 100
        assert near <= set(own)
        assert len(set(own)) == len(own)
        assert len(own) < 1.1 * len(near)


def test_other_ways_are_searched_for_again(team: Team) -> None:
    """From another start, to an end that is further away for many, or with a larger separation."""
    rng = np.random.default_rng(2)
    colliders, x0 = two_sheets(rng)
    x1 = x0 + rng.normal(0, 0.01, x0.shape)
    surface_pairs(team, colliders, x0, x1, 0.05)
    known = colliders.searches[0]
    surface_pairs(team, colliders, x0, x1, 0.05)
    assert colliders.searches == [known]
    further = x1.copy()
    further[::2, 1] += 0.0051
    for other in ((x0 + 1e-12, x1, 0.05), (x0, further, 0.04), (x0, x1, 0.06)):
        surface_pairs(team, colliders, *other)
        assert not np.shares_memory(colliders.searches[0].x1, known.x1)
        assert np.array_equal(colliders.searches[0].x1, other[1])


def test_a_search_ahead_serves_two_ways_in_a_straight_line(team: Team) -> None:
    """One that goes on as far again has all that comes near on the first part, and on the second one, which may end a
    little off the line; no second search is made, and what is near on neither part is left out of it.
    """
    rng = np.random.default_rng(3)
    colliders, x0 = two_sheets(rng)
    x1, off = x0 + np.array([0.3, 0.0, 0.1]) + rng.normal(0, 0.01, x0.shape), rng.normal(size=x0.shape)
    x2 = 2 * x1 - x0 + 0.0049 * off / np.linalg.norm(off, axis=1)[:, None]
    for start, end, ahead in ((x0, x1, 0.005), (x1, x2, None)):
        found = surface_pairs(team, colliders, start, end, 0.04, ahead)
        assert len(colliders.searches) == 1
        assert colliders.searches[0].goes_on_from(x1)
        both = (near_pairs_by_comparing, found.at_triangles), (near_edges_by_comparing, found.of_edges)
        for near_by, pairs in both:
            near, own = near_by(colliders, start, end, 0.04), listed(pairs)
            assert len(near) > 100
            assert near <= set(own)
            assert len(set(own)) == len(own) < 1.1 * len(near)
    surface_pairs(team, colliders, x1, x2 + 0.0002, 0.04)
    assert not colliders.searches[0].goes_on_from(x1)
