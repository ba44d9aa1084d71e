"""Sides and multipliers when sheets tear and elements are deleted."""

import numpy as np

import pliant as pl
from contact_arrays import open_rules
from pliant.contact.detection import track_sides
from pliant.contact.search.colliders import Colliders, make_colliders
from pliant.contact.tracking.multipliers import Multipliers
from pliant.contact.tracking.side_history import SideHistory, no_side_history
from pliant.contact.tracking.topology import Inheritance
from pliant.elements.closest import EDGE_EDGE, VERTEX_OBSTACLE, VERTEX_TRIANGLE
from pliant.kernels.threads import Team
from pliant.materials.law import lame_parameters

SQUARE = np.array([[0, 1, 2], [1, 3, 2]])  # two triangles with the common edge 1 2


def colliders(triangles: np.ndarray, n: int) -> Colliders:
    return make_colliders(triangles, np.zeros((0, 4), int), open_rules(n))


def history(vertices: list[int], triangles: list[int], edges: list[list[int]]) -> SideHistory:
    k = len(vertices)
    return SideHistory(
        np.array(vertices, np.int32),
        np.array(triangles, np.int32),
        np.where(np.arange(k) % 2, -1.0, 1.0),
        np.arange(k) % 3 == 0,
        np.array(edges, np.int32).reshape(-1, 2),
        np.tile([0.0, 0.0, 1.0], (len(edges), 1)),
    )


def test_children_inherit_and_triangles_keep_their_sides() -> None:
    """A square of two triangles is torn along its diagonal; another triangle hangs over it.

    Vertex 6 of the other (number 4 before) keeps its side of both triangles, vertices 1 and 2 are known to the other
    triangle, and so are the new vertices that were 1 and 2.
    """
    before = np.array([0, 1, 2, 3, 4, 5, 6, 1, 2])  # 7 was 1, 8 was 2
    other = np.array([[4, 5, 6]])
    old = colliders(np.concatenate([SQUARE, other]), 7)
    new = colliders(np.concatenate([[[0, 1, 2], [7, 3, 8]], other]), 9)
    sides = Inheritance(old, new, before).sides(history([1, 2, 4, 4], [2, 2, 0, 1], []))
    np.testing.assert_array_equal(sides.vertices, [1, 2, 4, 4, 7, 8])
    np.testing.assert_array_equal(sides.triangles, [2, 2, 0, 1, 2, 2])
    np.testing.assert_array_equal(sides.sides, [1, -1, 1, -1, 1, -1])
    np.testing.assert_array_equal(sides.crossed, [True, False, False, True, True, False])


def test_sides_are_those_of_the_new_orientation() -> None:
    """The second triangle of a sheet runs the other way: alone, its oriented normal is the opposite of the one that the
    whole sheet agrees on.
    """
    reversed_square = np.array([[0, 1, 2], [2, 3, 1]])
    old, new = colliders(reversed_square, 5), colliders(np.array([[0, 1, 2], [6, 3, 5]]), 7)
    assert old.patches.orient.tolist() == [1, -1]
    assert new.patches.orient.tolist() == [1, 1]
    sides = Inheritance(old, new, np.array([0, 1, 2, 3, 4, 1, 2])).sides(history([4, 4], [0, 1], []))
    np.testing.assert_array_equal(sides.sides, [1, 1])


def test_deleted_triangles_take_their_sides_along() -> None:
    old, new = colliders(SQUARE, 5), colliders(SQUARE[1:], 5)
    sides = Inheritance(old, new, np.arange(5)).sides(history([4, 4], [0, 1], []))
    np.testing.assert_array_equal(sides.vertices, [4])
    np.testing.assert_array_equal(sides.triangles, [0])
    np.testing.assert_array_equal(sides.sides, [-1])


def test_a_split_edge_is_two_edges_of_the_same_side() -> None:
    """The diagonal, that an edge of another triangle has crossed, has become two; their order may turn the normal."""
    other = np.array([[4, 5, 6]])
    old = colliders(np.concatenate([SQUARE, other]), 7)
    new = colliders(np.concatenate([[[0, 1, 2], [7, 3, 8]], other]), 9)

    def number(surface, a: int, b: int) -> int:
        return int(np.flatnonzero((surface.edges == [a, b]).all(axis=1))[0])

    pair = sorted([number(old.surface, 1, 2), number(old.surface, 5, 6)])
    known = history([], [], [pair])
    inherited = Inheritance(old, new, np.array([0, 1, 2, 3, 4, 5, 6, 1, 2])).sides(known)
    here, there, its = number(new.surface, 1, 2), number(new.surface, 7, 8), number(new.surface, 5, 6)
    expected = sorted([sorted([here, its]), sorted([there, its])])
    np.testing.assert_array_equal(inherited.edges, expected)
    first_was_ours = pair[0] == number(old.surface, 1, 2)
    signs = [1.0 if (e[0] != its) == first_was_ours else -1.0 for e in expected]
    np.testing.assert_array_equal(inherited.normals[:, 2], signs)


def test_multipliers_are_not_doubled() -> None:
    """A contact on a triangle whose corners are others now; one on a split edge goes to one of its children; one on a
    deleted triangle is gone; one with an obstacle stays.
    """
    other = np.array([[4, 5, 6]])
    old = colliders(np.concatenate([SQUARE, other]), 7)
    new = colliders(np.concatenate([[[0, 1, 2], [7, 3, 8]], other]), 9)
    ids = [
        [VERTEX_TRIANGLE, 4, 1, 2, 3],
        [EDGE_EDGE, 1, 2, 5, 6],
        [VERTEX_OBSTACLE, 1, 0, -1, -1],
        [VERTEX_TRIANGLE, 4, 0, 1, 2],
    ]
    zeros = np.zeros((4, 3))
    kept = Multipliers(np.array(ids, np.int32), np.arange(1.0, 5.0), zeros, np.zeros(4), zeros)
    inheritance = Inheritance(old, new, np.array([0, 1, 2, 3, 4, 5, 6, 1, 2]))
    found = inheritance.multipliers(kept)
    np.testing.assert_array_equal(found.normal, [1, 2, 3, 4])
    np.testing.assert_array_equal(
        found.ids,
        [[VERTEX_TRIANGLE, 4, 3, 7, 8], [EDGE_EDGE, 1, 2, 5, 6], [VERTEX_OBSTACLE, 1, 0, -1, -1], ids[3]],
    )
    gone = Inheritance(old, colliders(np.concatenate([SQUARE[:1], other]), 7), np.arange(7)).multipliers(kept)
    np.testing.assert_array_equal(gone.normal, [2, 3, 4])


def test_sides_of_a_sheet_that_has_crossed_survive_its_tearing(team: Team) -> None:
    """A sheet 1 cm below another through which it came: found afresh it would stay below, inherited it is to go up."""
    lower, upper = pl.shapes.cloth((1, 1), (4, 4)), pl.shapes.cloth((0.5, 0.5), (2, 2))
    n = len(lower.points)
    both = np.concatenate([lower.triangles, upper.triangles + n])
    shift = np.array([0.013, 0.027, 0.1])
    above = np.concatenate([lower.points, upper.points + shift])
    below = np.concatenate([lower.points, upper.points + shift - [0, 0, 0.11]])
    whole = colliders(both, len(above))
    known = track_sides(team, whole, no_side_history(), above, below)
    middle = n + 4  # of the upper sheet: split in two
    cut = both.copy()
    cut[-1][cut[-1] == middle] = len(above)
    assert (cut != both).any()
    before = np.append(np.arange(len(above)), middle)
    torn = colliders(cut, len(before))
    sides = Inheritance(whole, torn, before).sides(known)
    after = track_sides(team, torn, sides, below[before], below[before])
    assert {middle, len(above)} <= set(after.vertices[after.crossed].tolist())
    afresh = track_sides(team, torn, no_side_history(), below[before], below[before])
    assert not afresh.crossed.any()


def table_and_sheet(height: float, **options: float) -> tuple[pl.Scene, pl.Body, pl.Body]:
    """A sheet of 0.4 m by 0.3 m at a height over one of 1 m that is held."""
    law = pl.StableNeoHookean(*lame_parameters(2e4, 0.3))
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=2e4, thickness=4e-3, friction=0.0, self_contact=False)
    table = scene.add_cloth(pl.shapes.cloth((1, 1), (6, 6)), law, density=0.3)
    table.pin(np.arange(table.n_vertices))
    mesh = pl.shapes.cloth((0.4, 0.3), (8, 4)).transformed(translation=(0.011, 0.017, height))
    return scene, table, scene.add_cloth(mesh, law, density=0.3, bending=0.0, **options)


def pull_apart(sheet: pl.Body) -> None:
    """Move both ends at 0.25 m/s."""
    x = sheet.positions
    for end, way in ((x[:, 0] < x[:, 0].min() + 1e-6, -1.0), (x[:, 0] > x[:, 0].max() - 1e-6, 1.0)):
        points = x[end]
        sheet.move(end, lambda t, points=points, way=way: points + np.array([0.25 * way * t, 0, 0]))


def test_a_torn_sheet_that_rests_on_another_stays_above_it() -> None:
    """It is pulled apart where it lies: what tearing adds is tracked at once, and nothing gets under the table."""
    scene, table, sheet = table_and_sheet(4e-3, tear_at=1.15)
    pull_apart(sheet)
    sim = pl.Simulation(scene, pl.Newton(), frame_rate=60, substeps=2, precision="double")
    first_child, tracked = table.n_vertices + sheet.n_vertices, set()
    for _ in range(30):
        n = len(sim.positions)
        sim.step()
        assert sim._detector is not None
        known = sim._detector.side_history
        if len(sim.positions) > n:
            tracked |= set(known.vertices[known.vertices >= n].tolist())
        over_table = (np.abs(sheet.positions[:, :2]) < 0.45).all(axis=1)
        assert sheet.positions[over_table, 2].min() > 0
    assert len(sheet.positions) > sheet.n_vertices + 3
    assert tracked
    assert min(tracked) >= first_child


def test_vertices_that_tearing_adds_touch_obstacles() -> None:
    """A soft sheet is pulled apart on the ground: each half weighs on it, and none of its vertices sinks in."""
    scene = pl.Scene()
    scene.contact = pl.Contact(friction=0.0, self_contact=False)
    scene.add_plane((0, 0, 0), (0, 0, 1))
    mesh = pl.shapes.cloth((0.4, 0.3), (8, 4)).transformed(translation=(0, 0, 2e-3))
    sheet = scene.add_cloth(
        mesh, pl.StableNeoHookean(*lame_parameters(2e3, 0.3)), density=0.3, bending=0.0, tear_at=1.15
    )
    pull_apart(sheet)
    sim = pl.Simulation(scene, pl.Newton(), frame_rate=60, substeps=2, precision="double")
    for _ in range(30):
        sim.step()
        assert sheet.positions[:, 2].min() > 0
    n, contact = len(sim.positions), sim.model.contact
    assert n > sheet.n_vertices + 3
    assert contact is not None
    by_vertex = (
        contact.body,
        contact.excluded,
        contact.radius,
        contact.friction,
        contact.edge,
        contact.skips_obstacles,
    )
    assert {len(array) for array in by_vertex} == {n}


def test_deleting_a_triangle_of_a_sheet_that_has_crossed_keeps_its_side() -> None:
    """A sheet that came through the table in one step is 1 cm below it.  With a triangle less, it is still to go up."""
    scene, table, sheet = table_and_sheet(0.1)
    sim = pl.Simulation(scene, pl.VBD(iterations=1), precision="double")
    detector, above = sim._detector, sim.positions
    assert detector is not None
    below = above.copy()
    below[table.n_vertices :, 2] -= 0.11
    detector.begin_step(above)
    detector.detect(above, above, 0.0)
    detector.end(above, below)
    sim.state.x[:] = below
    sim.delete(sheet, [0])
    after = sim._detector
    assert after is not None
    assert after is not detector
    contacts = after.contacts_at(below, 0.0)[0].contacts
    own = contacts.vertices[:, 0] >= table.n_vertices
    assert own.sum() >= 40
    np.testing.assert_allclose(contacts.normals[own & (contacts.kind == VERTEX_TRIANGLE), 2], 1.0, atol=1e-9)
