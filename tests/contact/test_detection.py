"""Lists of contacts: weights, normals and depths against geometry known by hand; sides kept; nothing repeated."""

from collections.abc import Callable

import numpy as np
import pytest

from contact_arrays import open_rules
from pliant.contact.contact_set import ContactSet, depths
from pliant.contact.detection import continuous_contacts, find_penetrations, track_sides
from pliant.contact.response.potential import ContactPotential
from pliant.contact.search.colliders import Colliders, make_colliders
from pliant.contact.tracking.side_history import no_side_history
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.errors import SimulationError
from pliant.geometry import TetMesh, shapes
from pliant.geometry.mesh import drop_isolated_vertices
from pliant.kernels.threads import Team

Assemble = Callable[..., tuple[np.ndarray, Colliders, np.ndarray]]


def check(contacts: ContactSet) -> None:
    """What holds for every list: weights sum to 0, the first primitive has 1 in sum, normals are unit vectors."""
    assert np.abs(contacts.weights.sum(axis=1)).max(initial=0.0) < 1e-12
    ours = np.where(contacts.kind == VERTEX_TRIANGLE, contacts.weights[:, 0], contacts.weights[:, :2].sum(axis=1))
    np.testing.assert_allclose(ours, 1, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(contacts.normals, axis=1), 1, atol=1e-9)
    rows = [tuple(row) for row in np.column_stack([contacts.kind, contacts.vertices]).tolist()]
    assert len(set(rows)) == len(rows)


def blocks(assemble: Assemble, shift: np.ndarray) -> tuple[np.ndarray, Colliders, np.ndarray]:
    """A block of 2 m and a smaller one of 1 m whose centre is at `shift`."""
    large, small = shapes.box((2, 2, 2), (4, 4, 4)), shapes.box((1, 1, 1), (2, 2, 2))
    return assemble(solids=[(large.points, large.tets), (small.points + shift, small.tets)])


def test_block_pressed_into_another(team: Team, assemble: Assemble) -> None:
    """0.1 m deep from above: all 9 vertices of the lower face are pushed up by 0.1 m."""
    x, colliders, body = blocks(assemble, np.array([0.03, 0.02, 1.4]))
    contacts = find_penetrations(team, colliders, x).contacts
    check(contacts)
    small = body[contacts.vertices[:, 0]] == 1
    assert small.sum() == 9
    assert contacts.updates_closest_point.all()
    np.testing.assert_allclose(depths(contacts, x)[small], 0.1, rtol=1e-9)
    np.testing.assert_allclose(contacts.normals[small], np.tile([0.0, 0, 1], (9, 1)), atol=1e-12)


def test_block_falling_on_another(team: Team, assemble: Assemble) -> None:
    """From 0.1 m above to 0.1 m below: its vertices and edges hit, all normals point up from the lower block's side."""
    x0, colliders, body = blocks(assemble, np.array([0.03, 0.02, 1.6]))
    x1 = x0.copy()
    x1[body == 1, 2] -= 0.2
    contacts = continuous_contacts(team, colliders, x0, x1)
    check(contacts)
    up = np.where(body[contacts.vertices[:, 0]] == 1, 1.0, -1.0)
    np.testing.assert_allclose(contacts.normals[:, 2], up, atol=1e-6)
    np.testing.assert_allclose(depths(contacts, x1), 0.1, atol=1e-5)
    assert np.abs(depths(contacts, x0)).max() == 0
    falling = contacts.vertices[(contacts.kind == VERTEX_TRIANGLE) & (up > 0), 0]
    assert len(np.unique(falling)) == 9
    assert (contacts.kind == EDGE_EDGE).any()
    assert not contacts.updates_closest_point.any()


def test_leaving_from_inside_is_not_stopped(team: Team, assemble: Assemble) -> None:
    """A block that overlaps another moves out again: no contact stands in its way."""
    x0, colliders, body = blocks(assemble, np.array([0.03, 0.02, 1.4]))
    x1 = x0.copy()
    x1[body == 1, 2] += 0.5
    assert len(continuous_contacts(team, colliders, x0, x1).kind) == 0
    assert len(find_penetrations(team, colliders, x1).contacts.kind) == 0


def test_bodies_at_rest_touch_nothing(team: Team, assemble: Assemble) -> None:
    """Apart and without motion: a body does not see its own neighbours either."""
    x, colliders, _ = blocks(assemble, np.array([0.0, 0.0, 2.0]))
    assert len(find_penetrations(team, colliders, x).contacts.kind) == 0
    assert len(continuous_contacts(team, colliders, x, x).kind) == 0


@pytest.mark.parametrize("speed", [1.0, 100.0])
def test_fast_sheet_does_not_tunnel(team: Team, assemble: Assemble, speed: float) -> None:
    """A sheet thrown through another, 1 mm thick, in a step of 1/60 s: every vertex of the upper is caught or an edge
    near it, with the normal on the side it came from.
    """
    lower, upper = shapes.cloth((1, 1), (5, 5)), shapes.cloth((0.6, 0.6), (4, 4))
    height = 0.5 * speed / 60
    sheets = [(lower.points, lower.triangles), (upper.points + np.array([0.013, 0.027, height]), upper.triangles)]
    x0, colliders, body = assemble(sheets=sheets, radius=0.0005)
    x1 = x0.copy()
    x1[body == 1, 2] -= speed / 60
    contacts = continuous_contacts(team, colliders, x0, x1)
    check(contacts)
    up = np.where(body[contacts.vertices[:, 0]] == 1, 1.0, -1.0)
    np.testing.assert_allclose(contacts.normals[:, 2] * up, 1, atol=1e-6)
    vertex = contacts.kind == VERTEX_TRIANGLE
    caught = np.unique(contacts.vertices[vertex & (up > 0), 0])
    np.testing.assert_array_equal(caught, np.flatnonzero(body == 1))
    np.testing.assert_allclose(depths(contacts, x1), 1e-3 + speed / 60 - height, rtol=1e-4)


def test_sheet_keeps_its_side(team: Team, assemble: Assemble) -> None:
    """Pressed 0.2 mm through another sheet, it is pushed back to where it was, also after sliding on to other
    triangles; without history it is pushed on.
    """
    lower, upper = shapes.cloth((1, 1), (5, 5)), shapes.cloth((0.5, 0.5), (3, 3))
    sheets = [(lower.points, lower.triangles), (upper.points + np.array([0.013, 0.027, 4e-4]), upper.triangles)]
    above, colliders, body = assemble(sheets=sheets, radius=0.0005)
    near = track_sides(team, colliders, no_side_history(), above, above)
    before = find_penetrations(team, colliders, above, near).contacts
    check(before)
    np.testing.assert_allclose(depths(before, above), 6e-4, rtol=1e-9)
    below = above.copy()
    below[body == 1] += [0.0, 0.0, -6e-4]
    through = track_sides(team, colliders, near, above, below)
    after = find_penetrations(team, colliders, below, through).contacts
    np.testing.assert_allclose(depths(after, below), 1.2e-3, rtol=1e-9)
    up = np.where(body[after.vertices[:, 0]] == 1, 1.0, -1.0)
    np.testing.assert_allclose(after.normals[:, 2], up, atol=1e-9)
    forgetful = find_penetrations(team, colliders, below).contacts
    np.testing.assert_allclose(depths(forgetful, below), 8e-4, rtol=1e-9)
    aside = below.copy()
    aside[body == 1] += [0.04, 0.02, 0.0]
    slid = find_penetrations(team, colliders, aside, track_sides(team, colliders, through, below, aside)).contacts
    vertex = (slid.kind == VERTEX_TRIANGLE) & (body[slid.vertices[:, 0]] == 1)
    assert vertex.sum() == 16
    np.testing.assert_allclose(slid.normals[vertex, 2], 1, atol=1e-9)


def test_contact_at_a_shared_edge_is_listed_once(team: Team, assemble: Assemble) -> None:
    """A vertex over the diagonal of a square of two triangles, and one over a corner that six share."""
    sheet = shapes.cloth((2, 2), (2, 2))
    needle = np.array([[0, 0, 0], [0.1, 0, 1], [0, 0.1, 1]])
    tips = [np.array([0.0, 0.0, 1e-4]), np.array([0.5, 0.0, 1e-4])]  # over the middle vertex, over an edge
    sheets = [(sheet.points, sheet.triangles), *((needle + tip, np.array([[0, 1, 2]])) for tip in tips)]
    x, colliders, body = assemble(sheets=sheets, radius=0.0005)
    contacts = find_penetrations(team, colliders, x).contacts
    check(contacts)
    assert sorted(body[contacts.vertices].max(axis=1)) == [1, 2]
    np.testing.assert_allclose(depths(contacts, x), 9e-4, rtol=1e-9)


def test_cloth_inside_a_solid_goes_out(team: Team, assemble: Assemble) -> None:
    """A vertex of cloth 1 cm under the top of a block: depth plus half its thickness, normal up."""
    block, sheet = shapes.box((1, 1, 1), (4, 4, 4)), shapes.cloth((0.4, 0.4), (3, 3))
    x, colliders, body = assemble(
        solids=[(block.points, block.tets)],
        sheets=[(sheet.points + np.array([0.02, 0.03, 0.49]), sheet.triangles)],
        radius=1e-3,
    )
    contacts = find_penetrations(team, colliders, x).contacts
    inside = (contacts.kind == VERTEX_TRIANGLE) & (body[contacts.vertices[:, 0]] == 1)
    assert inside.sum() == 16
    np.testing.assert_allclose(depths(contacts, x)[inside], 0.011, rtol=1e-9)
    np.testing.assert_allclose(contacts.normals[inside, 2], 1, atol=1e-12)


def test_self_contact_of_a_folded_sheet(team: Team, assemble: Assemble) -> None:
    """A sheet folded over onto itself: contacts between the halves, none between neighbours."""
    sheet = shapes.cloth((2, 0.5), (16, 4))
    x = sheet.points.copy()
    right = x[:, 0] > 0
    x[right] = np.column_stack([-x[right, 0] + 0.013, x[right, 1] + 0.011, np.full(right.sum(), 5e-4)])
    x, colliders, _ = assemble(sheets=[(x, sheet.triangles)], radius=0.0005)
    contacts = find_penetrations(team, colliders, x).contacts
    check(contacts)
    assert len(contacts.kind) > 50
    assert (np.ptp(right[contacts.vertices].astype(int), axis=1) == 1).all()


def test_refresh_follows_the_vertex(team: Team, assemble: Assemble) -> None:
    """After sideways motion of the upper block the closest points are straight below again, and the depth is the
    same.
    """
    x, colliders, body = blocks(assemble, np.array([0.03, 0.02, 1.4]))
    contacts = find_penetrations(team, colliders, x).contacts
    moved = x.copy()
    moved[body == 1] += [0.01, 0.015, -0.05]
    small = body[contacts.vertices[:, 0]] == 1
    ContactPotential(contacts, 1.0, 0.0, x).refresh(moved)
    check(contacts)
    r = np.einsum("ki,kia->ka", contacts.weights, moved[contacts.vertices])[small]
    still_above = np.abs(r[:, :2]).max(axis=1) < 1e-12
    assert still_above.sum() >= 4
    np.testing.assert_allclose(depths(contacts, moved)[small][still_above], 0.15, rtol=1e-9)


def test_same_bits_for_any_number_of_threads(assemble: Assemble) -> None:
    """Discrete and continuous, solids and sheets together."""
    ball, sheet = shapes.ball(radius=0.3, cells=4), shapes.cloth((1, 1), (12, 12))
    x, colliders, _ = assemble(
        solids=[(ball.points, ball.tets), (ball.points + np.array([0.5, 0.1, 0.1]), ball.tets)],
        sheets=[(sheet.points + np.array([0, 0, 0.31]), sheet.triangles)],
        radius=5e-3,
    )
    x1 = x + np.random.default_rng(1).normal(0, 0.02, x.shape)
    results = [
        (*find_penetrations(Team(n), colliders, x).contacts, *continuous_contacts(Team(n), colliders, x, x1))
        for n in (1, 2, 3)
    ]
    assert len(results[0][0]) > 20
    assert len(results[0][len(ContactSet._fields)]) > 20
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_not_a_number_is_an_error(team: Team, assemble: Assemble, bad: float) -> None:
    """It names the vertex."""
    x, colliders, _ = blocks(assemble, np.array([0.0, 0, 2]))
    broken = x.copy()
    broken[7, 1] = bad
    with pytest.raises(SimulationError, match="vertex 7"):
        find_penetrations(team, colliders, broken)
    with pytest.raises(SimulationError, match="vertex 7"):
        continuous_contacts(team, colliders, x, broken)
    with pytest.raises(SimulationError, match="shape"):
        find_penetrations(team, colliders, x[:-1])


def test_when_trees_were_built_does_not_matter(team: Team) -> None:
    """A resumed run builds its trees at another moment than the run before: the contacts and their order are the same.

    A bar through the sides of a ring, on its grid: many vertices have several faces that share the nearest point.
    """
    ring = shapes.box((3, 3, 1), (6, 6, 2))
    centre = ring.points[ring.tets].mean(axis=1)
    ring = TetMesh(*drop_isolated_vertices(ring.points, ring.tets[(np.abs(centre[:, :2]).max(axis=1) > 0.5)])[:2])
    bar = shapes.box((4, 0.5, 0.5), (16, 2, 2))
    x = np.concatenate([ring.points, bar.points + np.array([0.0, 1.0, 0.0])])
    end = x + np.where(np.arange(len(x)) < ring.n_vertices, 0.0, -0.3)[:, None] * [0.1, 1.0, 0.2]
    tets = np.concatenate([ring.tets, bar.tets + ring.n_vertices])
    body = np.repeat([0, 1], [ring.n_vertices, bar.n_vertices]).astype(np.int32)
    turned = x @ np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    results, orders = [], []
    for before in (x, turned):
        colliders = make_colliders(np.zeros((0, 3)), tets, open_rules(len(x), body), None, x)
        find_penetrations(team, colliders, before)
        continuous_contacts(team, colliders, before, before)
        results.append((find_penetrations(team, colliders, x).contacts, continuous_contacts(team, colliders, x, end)))
        orders.append([tree.tree.order for tree in (colliders.face_tree, colliders.edge_tree) if tree.tree])
    assert all(not np.array_equal(*pair) for pair in zip(*orders, strict=True))
    for one, other in zip(*results, strict=True):
        assert len(one.kind) > 10
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)
