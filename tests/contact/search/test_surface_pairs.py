"""Searches that are remembered have all pairs that another way needs, and others are searched for again."""

import numpy as np

from pliant.contact.primitives.time_of_impact import impact_times
from pliant.contact.search.broad_phase import open_rules
from pliant.contact.search.colliders import Colliders, make_colliders
from pliant.contact.search.surface_pairs import surface_pairs
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


def test_a_search_is_used_for_ways_that_end_near(team: Team) -> None:
    """Another end, no vertex of which is further away than half of what the separation is larger: no new search, and
    all that comes nearer than the separation is in it, as comparing each with each shows.
    """
    rng = np.random.default_rng(1)
    colliders, x0 = two_sheets(rng)
    x1 = x0 + np.array([0.5, 0.0, 0.2]) + rng.normal(0, 0.01, x0.shape)
    known = surface_pairs(team, colliders, x0, x1, 0.06)
    off = rng.normal(size=x0.shape)
    x2 = x1 + 0.0099 * off / np.linalg.norm(off, axis=1)[:, None]
    assert surface_pairs(team, colliders, x0, x2, 0.04) is known
    surface, found = colliders.surface, known.at_triangles
    sets = {tuple(pair) for pair in zip(found.first.tolist(), found.second.tolist(), strict=True)}
    v, t = (places.ravel() for places in np.indices((len(surface.vertices), len(surface.triangles))))
    shares = (surface.vertices[v] == surface.triangles[t]).any(axis=1)
    v, t = v[~shares], t[~shares]
    corners = np.column_stack([surface.vertices[v], surface.triangles[t]])
    near = np.isfinite(impact_times(0, x0[corners], x2[corners], 0.04))
    assert near.sum() > 100
    assert {(int(i), int(j)) for i, j in zip(v[near], t[near], strict=True)} <= sets


def test_other_ways_are_searched_for_again(team: Team) -> None:
    """From another start, to an end that is further away, or with a larger separation."""
    rng = np.random.default_rng(2)
    colliders, x0 = two_sheets(rng)
    x1 = x0 + rng.normal(0, 0.01, x0.shape)
    known = surface_pairs(team, colliders, x0, x1, 0.05)
    assert surface_pairs(team, colliders, x0, x1, 0.05) is known
    further = x1.copy()
    further[3, 1] += 0.0051
    for other in ((x0 + 1e-12, x1, 0.05), (x0, further, 0.04), (x0, x1, 0.06)):
        assert surface_pairs(team, colliders, *other) is not known
