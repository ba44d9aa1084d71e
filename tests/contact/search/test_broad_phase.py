"""Candidates of a whole surface: every near pair, none that shares a vertex, none that the rules forbid."""

import numpy as np
import pytest

from contact_arrays import impact_times, open_rules
from pliant.contact.search.broad_phase import Rules, edge_edge_pairs, surface_of, vertex_triangle_pairs
from pliant.contact.search.colliders import fit_surface, make_colliders
from pliant.geometry import shapes
from pliant.kernels.threads import Team

N = 120


def soup(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """150 random triangles of 120 vertices, at two positions."""
    rng = np.random.default_rng(seed)
    x0 = rng.random((N, 3))
    return rng.integers(0, N, (150, 3)), x0, x0 + rng.normal(0, 0.03, x0.shape)


def candidates(team: Team, triangles: np.ndarray, x0: np.ndarray, x1: np.ndarray, rules: Rules, separation: float):
    """Sets of vertex tuples (v, a, b, c) and (a, b, c, d)."""
    colliders = make_colliders(triangles, np.zeros((0, 4), int), rules)
    surface = colliders.surface
    trees = fit_surface(team, colliders, x0, x1, separation)
    vt, ee = vertex_triangle_pairs(team, trees, surface, rules), edge_edge_pairs(team, trees, surface, rules)
    vertex_triangle = np.column_stack([surface.vertices[vt.first], surface.triangles[vt.second]])
    edge_edge = np.column_stack([surface.edges[ee.first], surface.edges[ee.second]])
    return {tuple(p) for p in vertex_triangle.tolist()}, {tuple(p) for p in edge_edge.tolist()}


def expected(triangles: np.ndarray, x0: np.ndarray, x1: np.ndarray, rules: Rules, separation: float):
    """The same by comparing each with each."""
    surface = surface_of(triangles, N)

    def pairs(first, second, is_same):
        out = set()
        for i, a in enumerate(first.tolist()):
            for j, b in enumerate(second.tolist()):
                if is_same and j <= i:
                    continue
                p, q = np.concatenate([x0[a], x1[a]]), np.concatenate([x0[b], x1[b]])
                near = np.all(p.min(0) <= q.max(0) + separation) and np.all(q.min(0) <= p.max(0) + separation)
                off = rules.excluded[a + b].any() or not rules.allowed[rules.body[a[0]], rules.body[b[0]]]
                if near and not off and not set(a) & set(b):
                    out.add((*a, *b))
        return out

    return pairs(surface.vertices, surface.triangles, False), pairs(surface.edges, surface.edges, True)


def assert_only_those_apart_are_missing(got, near, x0: np.ndarray, x1: np.ndarray, separation: float) -> None:
    """Of pairs with boxes that meet, the culling leaves out none that hits, and at least half of those that do not."""
    for kind, (found, boxes) in enumerate(zip(got, near, strict=True)):
        assert found <= boxes
        pairs = np.array(sorted(boxes))
        hits = np.isfinite(impact_times(kind, x0[pairs], x1[pairs], separation))
        is_found = np.array([tuple(pair) in found for pair in pairs.tolist()])
        assert hits.sum() > 20
        assert is_found[hits].all()
        assert (~is_found[~hits]).mean() > 0.5


def test_open_rules_leave_out_common_vertices_only(team: Team) -> None:
    """A soup of triangles, some of which name a vertex twice."""
    triangles, x0, x1 = soup(0)
    triangles[:5, 1] = triangles[:5, 0]
    rules = open_rules(N)
    got, near = candidates(team, triangles, x0, x1, rules, 0.02), expected(triangles, x0, x1, rules, 0.02)
    assert_only_those_apart_are_missing(got, near, x0, x1, 0.02)


def test_rules_of_bodies_and_vertices(team: Team) -> None:
    """Three bodies: 0 touches 1 and itself, 1 nothing else, 2 only itself; some vertices touch nothing."""
    _, x0, x1 = soup(1)
    rng = np.random.default_rng(2)
    triangles = np.concatenate([rng.integers(40 * b, 40 * b + 40, (50, 3)) for b in range(3)])
    allowed = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]], bool)
    rules = Rules(np.repeat(np.arange(3), 40).astype(np.int32), allowed, rng.random(N) < 0.1)
    got = candidates(team, triangles, x0, x1, rules, 0.1)
    assert_only_those_apart_are_missing(got, expected(triangles, x0, x1, rules, 0.1), x0, x1, 0.1)
    assert {(int(rules.body[a]), int(rules.body[c])) for a, _, c, _ in got[1]} <= {(0, 0), (0, 1), (1, 0), (2, 2)}


@pytest.mark.parametrize("cells", [1, 3])
def test_surface_of_a_closed_mesh(cells: int) -> None:
    """Euler: vertices - edges + triangles = 2, and three edges for two triangles."""
    mesh = shapes.box(cells=cells)
    surface = surface_of(mesh.surface_triangles, mesh.n_vertices)
    assert len(surface.vertices) - len(surface.edges) + len(surface.triangles) == 2
    assert 2 * len(surface.edges) == 3 * len(surface.triangles)


def test_no_triangles(team: Team) -> None:
    """An empty surface has no pairs."""
    assert candidates(team, np.zeros((0, 3), int), np.zeros((N, 3)), np.zeros((N, 3)), open_rules(N), 0.0) == (
        set(),
        set(),
    )
