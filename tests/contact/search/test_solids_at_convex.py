"""Contacts of solids with convex rigid bodies are known from where things are, without a history."""

import numpy as np
import pytest

from pliant.contact.contact_set import ContactSet, gaps
from pliant.contact.search.broad_phase import Rules
from pliant.contact.search.colliders import make_colliders
from pliant.contact.search.convex_bodies import convex_bodies
from pliant.contact.search.motion import motion_of
from pliant.contact.search.solids_at_convex import SolidsAtConvex
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.geometry import boundary_triangles, shapes
from pliant.kernels.threads import Team

CUBE = shapes.box((1, 1, 1), (1, 1, 1))
KEPT = 0.01


def contacts_with_cube(team: Team, x: np.ndarray, tets: np.ndarray) -> tuple[ContactSet, np.ndarray]:
    """Of a solid with a unit cube about the origin, whose vertices are the first eight; distances [m] along normals."""
    points = np.concatenate([CUBE.points, x])
    body = np.repeat([0, 1], [8, len(x)]).astype(np.int32)
    triangles = boundary_triangles(CUBE.tets, 8)
    rules = Rules(body, np.array([[False, True], [True, True]]), np.zeros(len(points), bool))
    radius = np.full(len(points), 0.5 * KEPT)
    is_closed = body == 0
    colliders = make_colliders(triangles, tets + 8, rules, radius, points, None, None, None, is_closed)
    convex = convex_bodies(colliders.surface.triangles, points, body, np.array([True, False]))
    found = SolidsAtConvex(colliders, convex)
    contacts = found.contacts(points, motion_of(team, points, points, 0.0))
    distances = gaps(contacts, points) + contacts.thickness
    assert (contacts.thickness == KEPT).all()
    return contacts, distances


def tet(*corners: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Of positive volume."""
    x = np.array(corners, float)
    volume = np.dot(np.cross(x[1] - x[0], x[2] - x[0]), x[3] - x[0])
    return x, np.array([[0, 1, 2, 3] if volume > 0 else [0, 2, 1, 3]])


@pytest.mark.parametrize("depth", [0.2, 0.02, -0.004])
def test_a_vertex_is_pushed_out_of_the_face_it_came_through(team: Team, depth: float) -> None:
    """The tip of a tet that stands on the cube, above and below its top face: one contact along the face's normal,
    as deep as the tip is.
    """
    x, tets = tet((0.1, 0.2, 0.5 - depth), (0.4, 0.2, 1.5), (-0.2, 0.5, 1.5), (-0.2, -0.3, 1.5))
    contacts, distances = contacts_with_cube(team, x, tets)
    assert contacts.kind.tolist() == [VERTEX_TRIANGLE]
    assert contacts.vertices[0, 0] == 8
    assert contacts.side.tolist() == [1]
    np.testing.assert_allclose(contacts.normals, [[0, 0, 1]], atol=1e-12)
    np.testing.assert_allclose(distances, [-depth], atol=1e-12)


def test_a_vertex_beyond_the_middle_goes_back_to_where_its_surface_looks(team: Team) -> None:
    """A tip 0.7 m below the top of a cube of 1 m is nearer to the bottom, which looks the same way as the tip does."""
    x, tets = tet((0.05, 0.0, -0.2), (0.3, 0.0, 1.5), (-0.2, 0.3, 1.5), (-0.2, -0.3, 1.5))
    contacts, distances = contacts_with_cube(team, x, tets)
    at_tip = contacts.vertices[:, 0] == 8
    assert contacts.normals[at_tip][0, 2] > -0.5
    assert distances[at_tip][0] > -0.71


@pytest.mark.parametrize("depth", [0.03, -0.004])
def test_edges_that_cross_with_no_vertex_inside(team: Team, depth: float) -> None:
    """An edge of a tet across an edge of the cube, at 45 degrees to both of its faces: the normal is between these, and
    the edge as deep as it lies below the cube's.
    """
    out = np.array([1.0, 0, 1.0]) / 2**0.5
    middle = np.array([0.5, 0.1, 0.5]) - depth * out
    along = np.array([1.0, 0.0, -1.0]) / 2**0.5
    x, tets = tet(
        middle - 0.4 * along, middle + 0.4 * along, middle + out + np.array([0, 0.3, 0]),
        middle + out - np.array([0, 0.3, 0]),
    )  # fmt: skip
    contacts, distances = contacts_with_cube(team, x, tets)
    assert contacts.kind.tolist() == [EDGE_EDGE]
    np.testing.assert_allclose(contacts.normals, [out], atol=1e-12)
    np.testing.assert_allclose(distances, [-depth], atol=1e-12)
    np.testing.assert_allclose(contacts.weights.sum(axis=1), 0, atol=1e-12)


def test_a_corner_in_front_of_a_face(team: Team) -> None:
    """A corner of the cube 3 mm below a face of a tet, which looks at it: the contact pushes the corner away."""
    n = np.array([1.0, 1.0, 1.0]) / 3**0.5
    a, b = np.array([1.0, -1.0, 0]) / 2**0.5, np.array([1.0, 1.0, -2.0]) / 6**0.5
    middle = np.array([0.5, 0.5, 0.5]) + 0.003 * n
    x, tets = tet(middle + 0.5 * a - 0.2 * b, middle - 0.5 * a - 0.2 * b, middle + 0.5 * b, middle + n)
    contacts, distances = contacts_with_cube(team, x, tets)
    assert contacts.kind.tolist() == [VERTEX_TRIANGLE]
    np.testing.assert_allclose(contacts.normals, [-n], atol=1e-9)
    np.testing.assert_allclose(distances, [0.003], atol=1e-12)


def test_what_is_apart_has_no_contacts(team: Team) -> None:
    """A tet 2 cm above the cube, of which 1 cm is to be kept."""
    x, tets = tet((0.1, 0.2, 0.52), (0.4, 0.2, 1.5), (-0.2, 0.5, 1.5), (-0.2, -0.3, 1.5))
    contacts, _ = contacts_with_cube(team, x, tets)
    assert contacts.size == 0
