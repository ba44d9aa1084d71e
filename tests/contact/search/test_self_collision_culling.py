"""Convex bodies that are little deformed keep all their parts apart; others are not called so."""

import numpy as np
import pytest

from contact_arrays import closest_points, open_rules
from pliant.contact.detection import continuous_contacts, find_penetrations
from pliant.contact.search.colliders import make_colliders
from pliant.contact.search.self_collision_culling import SelfCollisionCulling
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.geometry import TetMesh, shapes
from pliant.geometry.mesh import drop_isolated_vertices
from pliant.kernels.threads import Team


def culling_of(mesh: TetMesh, body: np.ndarray | None = None) -> SelfCollisionCulling:
    """Of a mesh as it starts."""
    return make_colliders(
        np.zeros((0, 3)), mesh.tets, open_rules(mesh.n_vertices, body), None, mesh.points
    ).self_collision_culling


def u_shape() -> TetMesh:
    mesh = shapes.box((0.5, 0.3, 1.0), (5, 3, 10))
    centre = mesh.points[mesh.tets].mean(axis=1)
    is_gap = (np.abs(centre[:, 0]) < 0.05) & (centre[:, 2] > -0.3)
    return TetMesh(*drop_isolated_vertices(mesh.points, mesh.tets[~is_gap])[:2])


def together(*meshes: TetMesh) -> TetMesh:
    """Several meshes as one body."""
    start = np.cumsum([0, *(mesh.n_vertices for mesh in meshes)])
    tets = np.concatenate([mesh.tets + s for mesh, s in zip(meshes, start, strict=False)])
    return TetMesh(np.concatenate([mesh.points for mesh in meshes]), tets)


def moved(mesh: TetMesh, by: tuple[float, float, float]) -> TetMesh:
    return TetMesh(mesh.points + np.array(by), mesh.tets)


def test_who_is_convex() -> None:
    """A box is, turned or not; a U, two boxes in one body, and a box with a dent are not."""
    box = shapes.box((1.0, 0.4, 0.2), (5, 3, 2))
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    dented = box.points.copy()
    dented[np.argmin(np.linalg.norm(box.points - [0.1, 0.0, 0.1], axis=1)), 2] -= 1e-3
    assert list(culling_of(box).bodies) == [0]
    assert list(culling_of(TetMesh(box.points @ turn.T + 7.0, box.tets)).bodies) == [0]
    assert list(culling_of(together(box, moved(box, (3, 0, 0)))).bodies) == []
    assert list(culling_of(u_shape()).bodies) == []
    assert list(culling_of(TetMesh(dented, box.tets)).bodies) == []
    two = together(box, moved(box, (3, 0, 0)))
    assert list(culling_of(two, np.repeat([0, 1], box.n_vertices).astype(np.int32)).bodies) == [0, 1]


def test_pieces_that_share_a_vertex_or_an_edge_are_not_convex() -> None:
    """All their edges are bent outwards, but Euler's number of the surface is 3 and not 2."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1], [0, -1, -1]])
    for second in ([0, 5, 4, 6], [0, 3, 4, 5]):
        tets = np.array([[0, 1, 2, 3], second])
        a, b, c, d = points[tets[1]]
        if np.dot(np.cross(b - a, c - a), d - a) < 0:
            tets[1, [1, 2]] = tets[1, [2, 1]]
        used = np.unique(tets)
        mesh = TetMesh(points[used], np.searchsorted(used, tets))
        assert list(culling_of(mesh).bodies) == []


def surely_apart(mesh: TetMesh, x0: np.ndarray, x1: np.ndarray, separation: float = 0.0) -> bool:
    return bool(culling_of(mesh).mark(Team(1), x0, x1, separation, 1)[0])


@pytest.mark.parametrize("angle", [0.0, 0.5, 3.0])
def test_stretch_turn_and_shear_are_no_folds(angle: float) -> None:
    """Any linear map is, however the body is turned, up to the least stretch asked for; also on the way between two."""
    mesh = shapes.box((1, 1, 1), (4, 4, 4))
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    for stretch, expected in (([1.5, 1, 0.7], True), ([1, 1, 0.2], True), ([1, 1, 0.05], False), ([1, 1, -1], True)):
        x = mesh.points * stretch @ turn.T
        assert surely_apart(mesh, x, x) == expected
    assert surely_apart(mesh, mesh.points @ turn.T, 1.1 * mesh.points @ turn.T + 5.0)
    half = mesh.points @ np.diag([-1.0, -1, 1])  # half a turn: on the straight way there all is squeezed to a line
    assert not surely_apart(mesh, mesh.points, half)


def test_a_body_bent_into_itself_is_found_out() -> None:
    """A beam rolled up to more than a circle is not called unfolded; bent a little, it is."""
    mesh = shapes.box((4, 0.5, 0.5), (32, 4, 4))
    along, up = mesh.points[:, 0], mesh.points[:, 2]

    def bent(total: float) -> np.ndarray:
        radius, angle = 4 / total, total * along / 4
        return np.column_stack(
            [(radius - up) * np.sin(angle), mesh.points[:, 1], radius - (radius - up) * np.cos(angle)]
        )

    assert surely_apart(mesh, bent(0.3), bent(0.2))
    assert not surely_apart(mesh, bent(6.5), bent(6.5))


def test_the_bound_holds() -> None:
    """Random gentle deformations: parts without a common vertex are further apart than the separation asked for."""
    rng = np.random.default_rng(2)
    mesh = shapes.box((1, 1, 1), (3, 3, 3))
    own = culling_of(mesh)
    surface = make_colliders(np.zeros((0, 3)), mesh.tets, open_rules(mesh.n_vertices)).surface
    edges = np.array([(a, b) for a in surface.edges for b in surface.edges if not set(a) & set(b)]).reshape(-1, 4)
    corners = np.array([(*v, *t) for v in surface.vertices for t in surface.triangles if v[0] not in t])
    said = 0
    for size in (0.005, 0.01, 0.02, 0.05, 0.2):
        x = mesh.points + rng.normal(0, size, mesh.points.shape)
        least = min(closest_points(k, x[v])[1].min() for k, v in ((VERTEX_TRIANGLE, corners), (EDGE_EDGE, edges)))
        for separation in (0.0, 0.05, 0.1, 0.2):
            if own.mark(Team(2), x, x, separation, 1)[0]:
                said += 1
                assert least > separation
    assert said >= 3


@pytest.mark.parametrize("threads", [1, 2])
def test_detection_gives_the_same_with_and_without(threads: int) -> None:
    """Two boxes pressed together: the same contacts whether folds are searched for or not."""
    team, rng = Team(threads), np.random.default_rng(4)
    box = shapes.box((1, 1, 1), (4, 4, 4))
    mesh = together(box, moved(box, (0.3, 0.2, 0.97)))
    body = np.repeat([0, 1], box.n_vertices).astype(np.int32)
    x = mesh.points + rng.normal(0, 0.005, mesh.points.shape)
    above = x + np.where(body[:, None] == 1, [0.0, 0.0, 0.07], 0.0)
    found = []
    for start in (None, mesh.points):
        colliders = make_colliders(np.zeros((0, 3)), mesh.tets, open_rules(len(x), body), None, start)
        found.append((find_penetrations(team, colliders, x).contacts, continuous_contacts(team, colliders, above, x)))
        assert len(colliders.self_collision_culling.bodies) == (0 if start is None else 2)
    for ours, theirs in zip(*found, strict=True):
        assert len(ours.kind) > 5
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)
