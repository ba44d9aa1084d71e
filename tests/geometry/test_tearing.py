"""How sheets come apart at overstretched edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.geometry.tearing import fans_of, overstretched, split


def torn(mesh, edges, x=None, is_free=None, mass=None):
    corners = mesh.triangles.ravel()
    n = mesh.n_vertices
    x = mesh.points if x is None else x
    is_free = np.ones(n, bool) if is_free is None else is_free
    shares = np.repeat(mesh.areas / 3, 3)
    mass = np.bincount(corners, shares, minlength=n) if mass is None else mass
    return split(np.asarray(edges), x, corners, np.arange(n), is_free, mass, shares, fans_of(corners, n))


def edge_of(mesh, a, b):
    """The number 3 t + c of the edge from a to b, in either direction."""
    start, end = mesh.triangles.ravel(), np.roll(mesh.triangles, -1, axis=1).ravel()
    return int(np.flatnonzero(((start == a) & (end == b)) | ((start == b) & (end == a)))[0])


def edge_parts(triangles):
    """Number of parts of triangles that hang together by edges."""
    part = np.arange(len(triangles))
    sides = [[frozenset(t[[i, (i + 1) % 3]]) for i in range(3)] for t in triangles]
    owners: dict = {}
    for t, edges in enumerate(sides):
        for edge in edges:
            owners.setdefault(edge, []).append(t)
    changed = True
    while changed:
        changed = False
        for members in owners.values():
            least = min(part[t] for t in members)
            for t in members:
                changed, part[t] = changed or part[t] != least, least
    return len(set(part.tolist()))


def test_only_edges_that_are_long_and_grow_tear():
    mesh = pl.shapes.cloth((1, 1), (2, 2))
    lengths = np.linalg.norm(
        np.roll(mesh.points[mesh.triangles], -1, axis=1) - mesh.points[mesh.triangles], axis=2
    ).ravel()
    x = mesh.points * [1.5, 1, 1]
    outward = x * [1, 0, 0]
    found = overstretched(x, outward, mesh.triangles.ravel(), 1.4 * lengths)
    start, end = mesh.triangles.ravel()[found], np.roll(mesh.triangles, -1, axis=1).ravel()[found]
    assert len(found) == 8  # six edges along x, the two inner ones seen from both sides
    np.testing.assert_allclose(np.abs(x[end] - x[start])[:, 0], 0.75, atol=1e-12)
    np.testing.assert_allclose(np.abs(x[end] - x[start])[:, 1], 0.0, atol=1e-12)
    assert len(overstretched(x, -outward, mesh.triangles.ravel(), 1.4 * lengths)) == 0


def test_a_vertex_is_split_across_the_edge():
    """In the middle of a 2 x 2 sheet: triangles on the side of the edge keep it, the others get a new one."""
    mesh = pl.shapes.cloth((2, 2), (2, 2))
    middle = int(np.argmin(np.linalg.norm(mesh.points, axis=1)))
    right = int(np.argmin(np.linalg.norm(mesh.points - [1, 0, 0], axis=1)))
    is_free = np.zeros(mesh.n_vertices, bool)
    is_free[middle] = True
    result = torn(mesh, [edge_of(mesh, middle, right)], is_free=is_free)
    assert result.parents.tolist() == [middle]
    assert result.origins.tolist() == [middle]
    sides = np.sign(mesh.points[mesh.triangles].mean(axis=1)[:, 0])
    at_middle = (mesh.triangles == middle).any(axis=1)
    now = result.corners.reshape(-1, 3)
    new_side = sides[at_middle & (now == mesh.n_vertices).any(axis=1)]
    old_side = sides[at_middle & (now == middle).any(axis=1)]
    assert len(set(new_side)) == 1
    assert len(set(old_side)) == 1
    assert new_side[0] != old_side[0]


def test_a_tear_through_a_strip_leaves_two_pieces():
    """A strip one cell wide: splitting a vertex of its lower side leaves the halves hanging on one of the upper side,
    which is split too.
    """
    mesh = pl.shapes.cloth((4, 1), (4, 1))
    a = int(np.argmin(np.linalg.norm(mesh.points - [0, -0.5, 0], axis=1)))
    b = int(np.argmin(np.linalg.norm(mesh.points - [1, -0.5, 0], axis=1)))
    result = torn(mesh, [edge_of(mesh, a, b)])
    assert edge_parts(mesh.triangles) == 1
    assert edge_parts(result.corners.reshape(-1, 3)) == 2
    assert len(result.parents) == 2


def test_held_vertices_are_not_split():
    mesh = pl.shapes.cloth((2, 2), (2, 2))
    result = torn(mesh, np.arange(3 * mesh.n_triangles), is_free=np.zeros(mesh.n_vertices, bool))
    assert len(result.parents) == 0
    np.testing.assert_array_equal(result.corners, mesh.triangles.ravel())


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), cells=st.tuples(st.integers(1, 6), st.integers(1, 6)))
def test_tearing_keeps_triangles_and_mass(seed, cells):
    """Triangles keep their corners' origins, every vertex is used, a fan hangs together, mass is kept."""
    rng = np.random.default_rng(seed)
    mesh = pl.shapes.cloth((1, 1), cells)
    n = mesh.n_vertices
    x = mesh.points + 0.2 * rng.normal(size=(n, 3)) / max(cells)
    edges = rng.permutation(3 * mesh.n_triangles)[: rng.integers(1, 3 * mesh.n_triangles + 1)]
    mass = rng.uniform(1, 2, n)
    result = torn(mesh, edges, x=x, mass=mass)
    origin = np.concatenate([np.arange(n), result.origins])
    np.testing.assert_array_equal(origin[result.corners], mesh.triangles.ravel())
    assert set(result.corners.tolist()) == set(range(n + len(result.parents)))
    assert result.mass.sum() == pytest.approx(mass.sum(), rel=1e-14)
    assert result.mass.min() > 0
    of_origins = np.bincount(origin, result.mass, minlength=n)
    np.testing.assert_allclose(of_origins, mass, rtol=1e-13)
    triangles = result.corners.reshape(-1, 3)
    for v in result.parents.tolist() + list(range(n, n + len(result.parents))):
        assert edge_parts_around(triangles, v) == 1


def edge_parts_around(triangles, v):
    """Parts of the triangles at v that hang together by edges at v."""
    fan = triangles[(triangles == v).any(axis=1)]
    part = list(range(len(fan)))
    for _ in fan:
        for i in range(len(fan)):
            for j in range(len(fan)):
                if (set(fan[i]) & set(fan[j])) - {v}:
                    part[i] = part[j] = min(part[i], part[j])
    return len(set(part))


def test_new_vertices_find_room_however_many():
    """One edge after another until nothing is left to tear: every triangle alone has three corners of its own."""
    mesh = pl.shapes.cloth((1, 1), (4, 4))
    corners, origin, x = mesh.triangles.ravel(), np.arange(mesh.n_vertices), mesh.points
    mass, shares = np.ones(mesh.n_vertices), np.repeat(mesh.areas / 3, 3)
    fans = fans_of(corners, mesh.n_vertices)
    for _ in range(40):
        result = split(np.arange(len(corners)), x, corners, origin, np.ones(len(x), bool), mass, shares, fans)
        corners, mass = result.corners, result.mass
        origin, x = np.concatenate([origin, result.origins]), np.concatenate([x, x[result.parents]])
    fan_sizes = np.bincount(corners)
    assert fan_sizes.max() <= 2  # two triangles of a fan on one side of every plane are not torn apart
    assert mass.sum() == pytest.approx(mesh.n_vertices, rel=1e-13)
