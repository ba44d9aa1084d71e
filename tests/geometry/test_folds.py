"""Hinges, boundary edges and bends of rods against Euler's counts, brute force, and what must be refused."""

import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.geometry import boundary_edges, hinges, rod_bends, shapes


def brute_force(triangles: np.ndarray) -> dict[frozenset, list[int]]:
    """Wings of every edge, in the order of the triangles."""
    wings: dict[frozenset, list[int]] = {}
    for triangle in triangles.tolist():
        for k in range(3):
            edge = frozenset((triangle[k], triangle[(k + 1) % 3]))
            wings.setdefault(edge, []).append(triangle[(k + 2) % 3])
    return wings


def test_hinges_of_a_sheet_equal_brute_force() -> None:
    """Every edge of two triangles once, wings in the order of the triangles, the rest is boundary."""
    mesh = shapes.cloth((2, 1), (5, 4))
    found, wings = hinges(mesh.triangles, mesh.n_vertices), brute_force(mesh.triangles)
    assert {(frozenset(h[:2]), *h[2:]) for h in found.tolist()} == {
        (edge, *both) for edge, both in wings.items() if len(both) == 2
    }
    assert len(found) == len(mesh.edges) - 2 * (5 + 4)
    rim = boundary_edges(mesh.triangles, mesh.n_vertices)
    assert {frozenset(e) for e in rim.tolist()} == {edge for edge, both in wings.items() if len(both) == 1}
    assert len(rim) == 2 * (5 + 4)


def test_hinges_are_oriented_as_their_first_triangle() -> None:
    """(0, 1, 2) and (1, 0, 3) face up in a sheet that faces up."""
    mesh = shapes.cloth((1, 1), (4, 4))
    x = mesh.points[hinges(mesh.triangles, mesh.n_vertices)]
    assert np.all(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])[:, 2] > 0)
    assert np.all(np.cross(x[:, 0] - x[:, 1], x[:, 3] - x[:, 1])[:, 2] > 0)


def test_rim_runs_counter_clockwise() -> None:
    """The directed boundary of a sheet that faces up encloses its area: half the sum of x cross dx."""
    mesh = shapes.cloth((2, 1), (4, 4))
    rim = mesh.points[boundary_edges(mesh.triangles, mesh.n_vertices)]
    area = 0.5 * np.sum(np.cross(rim[:, 0], rim[:, 1])[:, 2])
    assert area == pytest.approx(2.0, rel=1e-14)


def test_closed_surface_has_a_hinge_at_every_edge() -> None:
    """Euler: 3 m / 2 edges, no boundary."""
    surface = shapes.ball(cells=3).surface()
    found = hinges(surface.triangles, surface.n_vertices)
    assert len(found) == 3 * surface.n_triangles // 2
    assert len(boundary_edges(surface.triangles, surface.n_vertices)) == 0


def test_moebius_strip_has_all_its_hinges() -> None:
    """Neighbours of opposite orientation still share a hinge: one for every rung of the strip."""
    n = 8
    lower, upper = np.arange(n), n + np.arange(n)
    after_lower, after_upper = np.append(lower[1:], upper[0]), np.append(upper[1:], lower[0])
    triangles = np.vstack(
        (np.stack((lower, after_lower, upper), axis=1), np.stack((upper, after_lower, after_upper), axis=1))
    )
    assert len(hinges(triangles, 2 * n)) == 2 * n
    assert len(boundary_edges(triangles, 2 * n)) == 2 * n


def test_crowded_edge_is_named() -> None:
    """Three triangles at one edge, as pages of a book."""
    pages = np.array([[0, 1, 2], [0, 1, 3], [1, 0, 4]])
    for function in (hinges, boundary_edges):
        with pytest.raises(MeshError, match=r"edge \(0, 1\) belongs to 3 triangles \(0, 1, 2\).*Give"):
            function(pages, 5)


def test_joints_of_chains_and_rings() -> None:
    """A chain of m edges has m - 1 bends, a ring m; neighbours stand beside their vertex."""
    points, edges = shapes.chain(segments=4)
    np.testing.assert_array_equal(rod_bends(edges, len(points)), [[0, 1, 2], [1, 2, 3], [2, 3, 4]])
    points, edges = shapes.polygon(sides=5)
    found = rod_bends(edges, len(points))
    np.testing.assert_array_equal(found[:, 1], np.arange(5))
    assert [set(j) for j in found[:, ::2].tolist()] == [{(v + 1) % 5, (v - 1) % 5} for v in range(5)]


def test_branch_is_named() -> None:
    points, edges = shapes.wheel(spokes=4)
    with pytest.raises(MeshError, match=r"Vertex 0 has 3 edges.*pass"):
        rod_bends(edges, len(points))
