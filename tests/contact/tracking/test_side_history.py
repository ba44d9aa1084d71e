"""Sides that are remembered: what has gone through a sheet, how far it may be, is pushed back to where it came from."""

from collections.abc import Callable

import numpy as np
import pytest

from contact_arrays import open_rules
from pliant.contact.contact_set import depths
from pliant.contact.detection import continuous_contacts, find_penetrations, track_edge_sides, track_sides
from pliant.contact.search.colliders import Colliders, make_colliders
from pliant.contact.tracking.side_history import SideHistory, as_placed, no_side_history
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.geometry import shapes
from pliant.kernels.threads import Team

Assemble = Callable[..., tuple[np.ndarray, Colliders, np.ndarray]]


def over_a_sheet(assemble: Assemble, height: float, cells: int = 4) -> tuple[np.ndarray, Colliders, np.ndarray]:
    """A sheet of 0.6 m at a height over one of 2 m, 1 mm thick."""
    lower, upper = shapes.cloth((2, 2), (9, 9)), shapes.cloth((0.6, 0.6), (cells, cells))
    shift = np.array([0.013, 0.027, height])
    return assemble(sheets=[(lower.points, lower.triangles), (upper.points + shift, upper.triangles)], radius=5e-4)


def moved(x: np.ndarray, which: np.ndarray, shift: tuple[float, float, float]) -> np.ndarray:
    x = x.copy()
    x[which] += shift
    return x


def vertices_of(history: SideHistory, body: np.ndarray) -> np.ndarray:
    """Vertices of the second body that are remembered."""
    return np.unique(history.vertices[body[history.vertices] == 1])


@pytest.mark.parametrize("depth", [0.002, 0.5])
def test_what_went_through_is_pushed_back_however_deep(team: Team, assemble: Assemble, depth: float) -> None:
    """In one step, unseen by any solver, then sideways over many triangles: each vertex of the upper sheet is to go up
    by its depth and the thickness. No other contact is in its way, and once it is back nothing is remembered.
    """
    above, colliders, body = over_a_sheet(assemble, 0.1)
    assert len(track_sides(team, colliders, no_side_history(), above, above).vertices) == 0
    below = moved(above, body == 1, (0, 0, -0.1 - depth))
    history = track_sides(team, colliders, no_side_history(), above, below)
    aside = moved(below, body == 1, (0.31, -0.23, 0))
    history = track_sides(team, colliders, history, below, aside)
    contacts = find_penetrations(team, colliders, aside, history).contacts
    mine = (contacts.kind == VERTEX_TRIANGLE) & (body[contacts.vertices[:, 0]] == 1)
    np.testing.assert_array_equal(np.unique(contacts.vertices[mine, 0]), np.flatnonzero(body == 1))
    np.testing.assert_allclose(contacts.normals[mine, 2], 1, atol=1e-9)
    np.testing.assert_allclose(depths(contacts, aside)[mine], depth + 1e-3, rtol=1e-9)
    back = moved(aside, body == 1, (0, 0, depth + 0.05))
    assert len(continuous_contacts(team, colliders, aside, back, history).kind) == 0
    history = track_sides(team, colliders, history, aside, back)
    assert len(history.vertices) == 0
    assert len(history.edges) == 0


def test_crossed_edges_are_remembered(team: Team, assemble: Assemble) -> None:
    """Two strips that cross, of two triangles each: no vertex goes through, only edges."""
    strip = shapes.cloth((1.0, 0.1), (1, 1))
    turned = strip.points[:, [1, 0, 2]] + np.array([0.01, 0.02, 0.05])
    sheets = [(strip.points, strip.triangles), (turned, strip.triangles)]
    above, colliders, body = assemble(sheets=sheets, radius=5e-4)
    below = moved(above, body == 1, (0, 0, -0.08))
    history = track_sides(team, colliders, no_side_history(), above, below)
    contacts = find_penetrations(team, colliders, below, history).contacts
    crossing = contacts.kind == EDGE_EDGE
    assert crossing.sum() >= 4
    up = np.where(body[contacts.vertices[:, 0]] == 1, 1.0, -1.0)
    np.testing.assert_allclose(contacts.normals[crossing, 2], up[crossing], atol=1e-9)
    np.testing.assert_allclose(depths(contacts, below)[crossing], 0.031, rtol=1e-6)
    assert len(track_sides(team, colliders, history, below, above).edges) == 0


def test_where_nothing_has_crossed_sides_are_as_bodies_are_placed(team: Team, assemble: Assemble) -> None:
    """Two strips that cross, tracked as if the upper one had come from below: pushed down by the sum of gap and
    thickness. If that is proved to be wrong, they are pushed apart where they are, by what lacks in thickness.
    """
    strip = shapes.cloth((1.0, 0.1), (4, 1))
    turned = strip.points[:, [1, 0, 2]] + np.array([0.01, 0.02, 4e-4])
    sheets = [(strip.points, strip.triangles), (turned, strip.triangles)]
    above, colliders, body = assemble(sheets=sheets, radius=5e-4)
    below = moved(above, body == 1, (0, 0, -0.05))
    history = track_sides(team, colliders, no_side_history(), below, above)
    for sides, normal, depth in ((history, -1, 1.4e-3), (as_placed(history, colliders.surface.edges, above), 1, 6e-4)):
        contacts = find_penetrations(team, colliders, above, sides).contacts
        assert len(contacts.kind) > 4
        up = np.where(body[contacts.vertices[:, 0]] == 1, 1.0, -1.0)
        np.testing.assert_allclose(contacts.normals[:, 2], normal * up, atol=1e-9)
        np.testing.assert_allclose(depths(contacts, above), depth, rtol=1e-6)


def test_what_goes_around_the_rim_is_free(team: Team, assemble: Assemble) -> None:
    """A sheet that slides off the rim of another and under it was never through: it is held away from below."""
    above, colliders, body = over_a_sheet(assemble, 8e-4)
    steps = [(1.5, 0, 0), (0, 0, -1.6e-3), (-1.5, 0, 0)]
    x, history = above, track_sides(team, colliders, no_side_history(), above, above)
    assert len(vertices_of(history, body)) == 25
    for shift in steps:
        after = moved(x, body == 1, shift)
        history, x = track_sides(team, colliders, history, x, after), after
    contacts = find_penetrations(team, colliders, x, history).contacts
    mine = (contacts.kind == VERTEX_TRIANGLE) & (body[contacts.vertices[:, 0]] == 1)
    assert mine.sum() == 25
    np.testing.assert_allclose(contacts.normals[mine, 2], -1, atol=1e-9)


def test_the_other_layer_of_a_fold_is_another_patch(team: Team, assemble: Assemble) -> None:
    """A vertex that has gone down through the upper layer of a fold still hits the lower one from above."""
    sheet = shapes.cloth((2, 0.4), (20, 4))
    folded = sheet.points.copy()
    angle = np.clip(folded[:, 0] / 0.2 * np.pi, -np.pi / 2, np.pi / 2)  # a half circle of 0.2 m along the sheet
    radius = 0.2 / np.pi
    flat = np.abs(folded[:, 0]) - 0.1
    folded[:, 0], folded[:, 2] = radius * np.cos(angle) - np.maximum(flat, 0), radius * np.sin(angle)
    needle = np.array([[-0.4, 0.03, 0.1], [-0.41, 0.03, 0.3], [-0.4, 0.04, 0.3]])
    sheets = [(folded, sheet.triangles), (needle, np.array([[0, 1, 2]]))]
    x0, colliders, body = assemble(sheets=sheets, radius=5e-4)
    tip = np.flatnonzero(body == 1)[0]
    between = moved(x0, tip, (0, 0, -0.1))
    history = track_sides(team, colliders, no_side_history(), x0, between)
    assert tip in history.vertices
    through = moved(between, tip, (0, 0, -0.1))
    hits = continuous_contacts(team, colliders, between, through, history)
    mine = (hits.kind == VERTEX_TRIANGLE) & (hits.vertices[:, 0] == tip)
    assert mine.any()
    np.testing.assert_allclose(hits.normals[mine, 2], 1, atol=1e-6)
    after = find_penetrations(
        team, colliders, through, track_sides(team, colliders, history, between, through)
    ).contacts
    mine = (after.kind == VERTEX_TRIANGLE) & (after.vertices[:, 0] == tip)
    np.testing.assert_allclose(
        np.sort(depths(after, through)[mine]), [0.1 - radius + 1e-3, 0.1 + radius + 1e-3], rtol=1e-2
    )
    np.testing.assert_allclose(after.normals[mine, 2], 1, atol=1e-6)


def test_a_vertex_that_has_passed_a_thin_plate_comes_back_through_it(team: Team, assemble: Assemble) -> None:
    """The lower half of a block jumps through a plate, 2 cm thick: pushed up, and not stopped at the underside."""
    plate, block = shapes.box((1, 1, 0.02), (6, 6, 1)), shapes.box((0.2, 0.2, 0.2), (2, 2, 2))
    solids = [(plate.points, plate.tets), (block.points + np.array([0.011, 0.023, 0.2]), block.tets)]
    above, colliders, body = assemble(solids=solids)
    below = moved(above, body == 1, (0, 0, -0.25))
    history = track_sides(team, colliders, no_side_history(), above, below, solids_too=True)
    contacts = find_penetrations(team, colliders, below, history).contacts
    mine = (contacts.kind == VERTEX_TRIANGLE) & (body[contacts.vertices[:, 0]] == 1)
    assert mine.sum() >= 9
    np.testing.assert_allclose(contacts.normals[mine, 2], 1, atol=1e-9)
    hits = continuous_contacts(team, colliders, below, above, history)
    assert not ((hits.kind == VERTEX_TRIANGLE) & (body[hits.vertices[:, 0]] == 1)).any()


def test_memory_is_the_same_for_any_number_of_threads(assemble: Assemble) -> None:
    above, colliders, body = over_a_sheet(assemble, 0.05, cells=12)
    below = moved(above, body == 1, (0.02, 0.01, -0.07))
    memories = [track_sides(Team(n), colliders, no_side_history(), above, below) for n in (1, 2, 3)]
    assert len(memories[0].vertices) > 100
    for other in memories[1:]:
        for one, two in zip(memories[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_sharp_edges_that_cross_between_detections_are_remembered(team: Team) -> None:
    """A cube of one cell on another, turned by 45 degrees: no vertex is inside, only eight pairs of edges cross."""
    box = shapes.box((1, 1, 1), (1, 1, 1))
    c = np.sqrt(0.5)
    upper = box.points @ np.array([[c, -c, 0], [c, c, 0], [0, 0, 1]]).T
    tets = np.concatenate([box.tets, box.tets + box.n_vertices])
    body = np.repeat([0, 1], box.n_vertices).astype(np.int32)
    above, below = (np.concatenate([box.points, upper + np.array([0, 0, height])]) for height in (1.001, 0.995))
    colliders = make_colliders(np.zeros((0, 3)), tets, open_rules(len(above), body), None, above)
    assert len(find_penetrations(team, colliders, below).contacts.kind) == 0  # without history, nothing tells
    folded = np.zeros(2, bool)
    history = track_edge_sides(team, colliders, no_side_history(), above, below, folded)
    contacts = find_penetrations(team, colliders, below, history).contacts
    assert list(contacts.kind) == 8 * [EDGE_EDGE]
    np.testing.assert_allclose(depths(contacts, below), 0.005, rtol=1e-9)
    np.testing.assert_allclose(np.abs(contacts.normals), 8 * [[0, 0, 1]], atol=1e-9)
    history = track_edge_sides(team, colliders, history, below, above, folded)  # forgotten when they are apart again
    assert len(history.edges) == 0
