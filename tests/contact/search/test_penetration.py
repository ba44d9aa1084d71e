"""Vertices inside solids find the closest boundary point that is reachable through the solid."""

from collections.abc import Callable

import numpy as np
import pytest

from contact_arrays import open_rules
from pliant.contact.search import bvh
from pliant.contact.search.motion import motion_of
from pliant.contact.search.overlaps import Pairs
from pliant.contact.search.penetration import (
    SurfacePoints,
    query_penetrations,
    sort_pairs,
    vertices_in_tets,
    without_inverted,
)
from pliant.contact.search.solid import Solid, solid_of
from pliant.errors import MeshError
from pliant.geometry import boundary_triangles, shapes
from pliant.kernels.threads import Team
from pliant.lanes.compiled import cached


def surface_points_of(team: Team, x: np.ndarray, tets: np.ndarray, body: np.ndarray) -> tuple[Solid, SurfacePoints]:
    """Ways out of all surface vertices that are inside."""
    solid, rules = solid_of(tets, len(x)), open_rules(len(x), body)
    vertices = np.unique(solid.faces)[:, None].astype(np.int32)
    motion = motion_of(team, x, x, 0.0)
    trees = [bvh.build(team, corners, motion, body) for corners in (vertices, solid.tets, solid.faces)]
    pairs = vertices_in_tets(team, trees[0], vertices, trees[1], solid, motion, rules)
    return solid, query_penetrations(team, pairs, trees[2], solid, x, motion, rules.body)


def together(*parts: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, tets and bodies of several meshes."""
    start = np.concatenate([[0], np.cumsum([len(x) for x, _ in parts])])
    tets = np.concatenate([tets + s for (_, tets), s in zip(parts, start, strict=False)])
    return (
        np.concatenate([x for x, _ in parts]),
        tets,
        np.repeat(np.arange(len(parts)), np.diff(start)).astype(np.int32),
    )


def points_at(solid: Solid, points: SurfacePoints, x: np.ndarray) -> np.ndarray:
    """Closest boundary points (k, 3)."""
    return -np.einsum("ki,kia->ka", points.weights[:, 1:], x[solid.faces[points.face]])


@pytest.fixture(scope="module")
def probe() -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """A function: a tiny tet around each of some points, whose first vertex is the point."""

    def make(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        corners = np.array([[0.0, 0, 0], [1e-6, 0, 0], [0, 1e-6, 0], [0, 0, 1e-6]])
        return (points[:, None] + corners).reshape(-1, 3), np.arange(4 * len(points)).reshape(-1, 4)

    return make


def test_pairs_are_sorted() -> None:
    """By vertex, then by tet; as NumPy sorts them."""
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 50, 400).astype(np.int32), rng.integers(0, 90, 400).astype(np.int32)
    pairs = Pairs(np.empty_like(first), np.empty_like(second))
    cached(sort_pairs)(first, second, np.zeros(51, np.int64), pairs)
    order = np.lexsort((second, first))
    np.testing.assert_array_equal(pairs.first, first[order])
    np.testing.assert_array_equal(pairs.second, second[order])


def test_neighbours_and_boundary() -> None:
    """Behind a face lies the tet that shares it; the boundary is that of geometry.surface."""
    mesh = shapes.ball(cells=3)
    solid = solid_of(mesh.tets, mesh.n_vertices)
    np.testing.assert_array_equal(solid.faces, boundary_triangles(mesh.tets, mesh.n_vertices))
    for t, others in enumerate(solid.neighbours):
        for other in others:
            shared = set(mesh.tets[t]) & (set(mesh.tets[other]) if other >= 0 else set(solid.faces[-1 - other]))
            assert len(shared) == 3
    with pytest.raises(MeshError, match="three tets"):
        solid_of(np.array([[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 2, 5]]), 6)


def test_depth_in_a_block(team: Team, probe, outward_normals) -> None:
    """Random points in a block: the depth is the distance to the nearest face of the block; outside ones have none."""
    mesh = shapes.box((1, 1, 1), (4, 4, 4))
    rng = np.random.default_rng(0)
    places = rng.uniform(-0.49, 0.49, (200, 3))
    places[100:] += 1.0
    x, tets, body = together((mesh.points, mesh.tets), probe(places))
    _, points = surface_points_of(team, x, tets, body)
    first = (points.vertex - mesh.n_vertices) % 4 == 0
    assert sorted(((points.vertex - mesh.n_vertices) // 4)[first]) == list(range(100))
    inside = places[((points.vertex - mesh.n_vertices) // 4)[first]]
    normals = outward_normals(solid_of(tets, len(x)), points.vertex[first], x)
    # faces that look the same way as the probe's corner (cosine above 0.3) do not count
    reach = np.concatenate([0.5 - inside, 0.5 + inside], axis=1)
    reach[np.concatenate([normals, -normals], axis=1) > 0.3] = np.inf
    np.testing.assert_allclose(points.depth[first], reach.min(axis=1), rtol=1e-9)
    assert points.is_direct.all()


@pytest.mark.parametrize("depth", [0.02, 0.05, 0.08, 0.098])
def test_finger_goes_back_the_way_it_came(team: Team, depth: float) -> None:
    """Pressed from above into a wall of 0.1 m, its tip is pushed up, also when the other side is much nearer."""
    wall, finger = shapes.box((1, 1, 0.1), (10, 10, 2)), shapes.box((0.2, 0.2, 0.6), (3, 3, 4))
    tip = finger.points + np.array([0.013, 0.013, 0.05 - depth + 0.3])
    x, tets, body = together((wall.points, wall.tets), (tip, finger.tets))
    solid, points = surface_points_of(team, x, tets, body)
    is_tip = body[points.vertex] == 1
    assert is_tip.sum() == 16
    np.testing.assert_allclose(points_at(solid, points, x)[is_tip, 2], 0.05, atol=1e-12)
    np.testing.assert_allclose(points.depth[is_tip], depth, rtol=1e-9)


def bent(points: np.ndarray, angle: float) -> np.ndarray:
    """A beam along x bent into an arc that closes by an angle, so that its ends overlap beyond 2 pi."""
    low, high = points[:, 0].min(), points[:, 0].max()
    phi = (points[:, 0] - low) / (high - low) * angle
    radius = (high - low) / angle + points[:, 2]
    return np.stack([radius * np.sin(phi), points[:, 1], radius * np.cos(phi)], axis=1)


def test_limb_that_has_grown_into_itself(team: Team) -> None:
    """A ring whose end has entered its own beginning by 0.1 m: vertices of either end leave through the other's end
    face or sides, never through the face they belong to, and the straight way lies in the limb they are in.
    """
    beam = shapes.box((4.0, 0.4, 0.4), (40, 4, 4))
    turn = 2 * np.pi + 0.15
    x = bent(beam.points, turn)
    x[:, 1] += 0.03 * (beam.points[:, 0] > 0)  # no two faces coincide
    solid, points = surface_points_of(team, x, beam.tets, np.zeros(len(x), np.int32))
    assert len(points.vertex) > 20
    assert points.is_direct.all()
    along = beam.points[:, 0]  # before bending: -2 ... 2
    start_of_vertex, start_of_face = (
        along[points.vertex] < 0,
        along[solid.faces[points.face]].mean(axis=1) < 0,
    )
    assert (start_of_vertex != start_of_face).all()
    assert (np.abs(along[solid.faces[points.face]]).min(axis=1) > 1.5).all()
    overlap = 0.15 * 4.0 / turn * 1.1
    assert points.depth.max() < overlap + 0.2


def test_a_vertex_that_is_pressed_through_its_own_tets_is_not_inside_its_body(team: Team) -> None:
    """The middle of a face of a block is pressed in by one and a half cells: it is in tets of the block, 0.35 from the
    other side, but its own are inside out. In a second block at the same place it is, and so is a vertex of a limb that
    has grown into the block (the test above).
    """
    block = shapes.box((1.0, 1.0, 1.0), (4, 4, 4), split="kuhn")
    middle = np.argmin(np.linalg.norm(block.points - (0, 0, 0.5), axis=1))
    pressed = block.points + np.array([1e-3, 2e-3, 3e-3])
    pressed[middle, 2] -= 0.375
    x, tets, body = together((pressed, block.tets), (block.points, block.tets))
    solid, rules = solid_of(tets, len(x)), open_rules(len(x), body)
    vertices = np.array([[middle]], np.int32)
    motion = motion_of(team, x, x, 0.0)
    trees = [bvh.build(team, corners, motion, body) for corners in (vertices, solid.tets)]
    found = vertices_in_tets(team, trees[0], vertices, trees[1], solid, motion, rules)
    assert set(body[solid.tets[found.second, 0]]) == {0, 1}
    kept = without_inverted(found, solid, x, body)
    assert set(body[solid.tets[kept.second, 0]]) == {1}
    assert set(kept.first) == {middle}


def test_straight_way_across_a_gap_does_not_count(team: Team, probe, outward_normals) -> None:
    """A U with a point in one leg: the other leg's inner face is nearer than no face of its own, but across the gap."""
    mesh = shapes.box((0.5, 0.3, 1.0), (5, 3, 10))
    centre = mesh.points[mesh.tets].mean(axis=1)
    is_gap = (np.abs(centre[:, 0]) < 0.05) & (centre[:, 2] > -0.3)
    tets = mesh.tets[~is_gap]
    point = np.array([[-0.06, 0.004, 0.3]])  # 0.01 from its own inner face, 0.11 from the other leg's
    x, tets, body = together((mesh.points, tets), probe(point))
    solid, points = surface_points_of(team, x, tets, body)
    chosen = points.vertex == mesh.n_vertices
    assert chosen.sum() == 1
    normal = outward_normals(solid, points.vertex[chosen], x)[0]
    target = points_at(solid, points, x)[chosen][0]
    # the probe's corner looks to -x, so +x faces count: its own leg's inner face, not the other's outer one
    assert normal[0] < 0
    np.testing.assert_allclose(target, [-0.05, 0.004, 0.3], atol=1e-9)


def test_inverted_and_flat_tets_on_the_way(team: Team, probe) -> None:
    """Flat tets have no inside, inverted ones do; a way through them is still found, and nothing hangs."""
    mesh = shapes.box((1, 1, 1), (6, 6, 6))
    rng = np.random.default_rng(5)
    x = mesh.points.copy()
    is_inner = (np.abs(x) < 0.4).all(axis=1)
    x[is_inner] += rng.uniform(-0.15, 0.15, (is_inner.sum(), 3))
    for tet in mesh.tets[is_inner[mesh.tets].all(axis=1)][::20]:
        x[tet[1]] = x[tet[0]]
    volumes = np.linalg.det(x[mesh.tets[:, 1:]] - x[mesh.tets[:, :1]])
    assert (volumes < 0).any()
    assert (np.abs(volumes) < 1e-15).any()
    points = rng.uniform(-0.45, 0.45, (60, 3))
    positions, tets, body = together((x, mesh.tets), probe(points))
    _, points = surface_points_of(team, positions, tets, body)
    ours = np.unique((points.vertex[body[points.vertex] == 1] - mesh.n_vertices) // 4)
    assert len(ours) >= 58  # a point may lie on a face of the shaken mesh
    assert np.isfinite(points.depth).all()
    assert points.is_direct.mean() > 0.95
    assert points.depth.max() < 1.0


def test_same_bits_for_any_number_of_threads(probe) -> None:
    """SurfacePoints of 300 points."""
    mesh = shapes.ball(cells=4)
    points = np.random.default_rng(6).uniform(-0.5, 0.5, (300, 3))
    x, tets, body = together((mesh.points, mesh.tets), probe(points))
    one, three = (surface_points_of(Team(threads), x, tets, body)[1] for threads in (1, 3))
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("angle", [-40.0, 0.0, 40.0])
def test_below_a_narrow_notch_is_inside(team: Team, probe, angle: float) -> None:
    """Under the tip of a notch of 40 degrees the nearest point is the tip, and a vertex may be in front of the plane of
    a wall of the notch: it is inside all the same, so that its side is that of the wall's winding.
    """
    around = np.deg2rad([20.0, 100.0, 180.0, 260.0, 340.0])
    spokes = np.stack([np.sin(around), np.full(5, 0.5), np.cos(around)], axis=1)
    x = np.concatenate([[[0.0, 0, 0], [0, 1, 0]], spokes])
    tets = np.array([[1, 0, 2 + k, 3 + k] for k in range(4)])
    turned = np.deg2rad(180.0 + angle)
    place = np.array([[0.2 * np.sin(turned), 0.5, 0.2 * np.cos(turned)]])
    x, tets, body = together((x, tets), probe(place))
    solid, points = surface_points_of(team, x, tets, body)
    own = points.vertex == 7
    assert own.sum() == 1
    np.testing.assert_allclose(points_at(solid, points, x)[own], [[0, 0.5, 0]], atol=1e-12)
    np.testing.assert_allclose(points.depth[own], 0.2, rtol=1e-12)
    np.testing.assert_allclose(points.normal[own], -place / 0.2 + [[0, 2.5, 0]], atol=1e-12)
    assert points.side[own].tolist() == [1]
