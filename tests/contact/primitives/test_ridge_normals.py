"""The way out of a box or a cylinder for edges and triangles that have sunk into it at an edge or a corner."""

import numpy as np
import pytest

from pliant.contact.primitives.lowest_points import lowest, mix
from pliant.contact.primitives.ridge_normals import outward_normal
from pliant.contact.primitives.shapes import distance_and_normal, measure
from pliant.contact.search.faces_near_obstacles import _local
from pliant.lanes.compiled import cached, compiled
from pliant.model import obstacles

BOX = obstacles.Box((0, 0, 0), (0.4, 0.6, 0.3))
CYLINDER = obstacles.Cylinder((0, 0, -0.15), (0, 0, 0.15), 0.2)


def beyond(n: np.ndarray, y: np.ndarray, support: float) -> float:
    """[m] how far corners y (3, 3) are beyond a convex shape with this support along the unit vector n."""
    return float((y @ n).min() - support)


@compiled
def leave(kind, local, y, is_face, w, size):
    p = mix(w, y)
    d, n = distance_and_normal(kind, local, p)
    return outward_normal(kind, local, y, is_face, p, d, n, size)


def way_of(shape, y: np.ndarray, is_face: bool) -> tuple[np.ndarray, float, np.ndarray]:
    """Normal, distance along it and weights of the lowest point of an edge or a triangle with corners y (3, 3)."""
    local, corners = _local(shape.row(0.0)), tuple(tuple(corner) for corner in y)
    w, _ = cached(lowest)(shape.kind, local, corners, is_face)
    size = float(np.linalg.norm(y - np.roll(y, 1, axis=0), axis=1).max())
    n, d = cached(leave)(shape.kind, local, corners, is_face, w, size)
    return np.array(n), float(d), np.array(w)


def sunk(rng: np.random.Generator, is_face: bool, at: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Corners outside of a shape whose plane or line passes up to 2 cm below the point `at` of its edge or corner."""
    way = out + 0.4 * rng.normal(size=3)
    way /= np.linalg.norm(way)
    across = np.linalg.qr(np.column_stack([way, rng.normal(size=(3, 2))]))[0][:, 1:]
    if not is_face:
        ends = rng.uniform(0.2, 0.3, 2)
        y = np.array([across[:, 0] * ends[0], -across[:, 0] * ends[1], -across[:, 0] * ends[1]])
    else:
        turns = rng.uniform(0, 2 * np.pi) + np.array([0.0, 2.1, 4.2])
        y = 0.6 * (np.cos(turns)[:, None] * across[:, 0] + np.sin(turns)[:, None] * across[:, 1])
    return at + y - rng.uniform(0.002, 0.02) * way


@pytest.mark.parametrize("is_face", [False, True], ids=["edge", "triangle"])
def test_a_move_along_the_normal_leaves_a_box(is_face: bool) -> None:
    """By as much as the support of the box asks for, and across the edge or the triangle."""
    rng, checked = np.random.default_rng(3), 0
    for _ in range(300):
        at = np.array([0.2, rng.uniform(-0.1, 0.1), 0.15]) if not is_face else np.array([0.2, 0.3, 0.15])
        y = sunk(rng, is_face, at, np.array([1.0, 0.0, 1.0]) if not is_face else np.ones(3))
        n, d, w = way_of(BOX, y, is_face)
        if w[:2].min() < 0.01 or (is_face and w[2] < 0.01) or measure(BOX, y)[0].min() < 1e-3:
            continue
        checked += 1
        assert np.abs((y[1:] - y[0]) @ n).max() < 1e-9
        assert np.linalg.norm(n) == pytest.approx(1)
        assert d < 0
        assert d == pytest.approx(beyond(n, y, np.abs(n) @ (0.2, 0.3, 0.15)), abs=2e-4)
    assert checked > 100


def test_an_edge_leaves_the_rim_of_a_cylinder() -> None:
    """As out of a box, to the curvature of the rim, which is left out."""
    for turn in np.linspace(0, 2 * np.pi, 7):
        out, along = np.array([np.cos(turn), np.sin(turn), 0.0]), np.array([-np.sin(turn), np.cos(turn), 0.0])
        at = 0.2 * out + (0, 0, 0.15)
        for slant in (0.0, 0.3):
            way = out - (0, 0, 1.0) + slant * along
            y = at - (0.0, 0.0, 0.001) - 0.0005 * out + np.array([way, -way, -way])
            n, d, _ = way_of(CYLINDER, y, False)
            assert n @ way == pytest.approx(0, abs=1e-9)
            support = 0.2 * np.linalg.norm(n[:2]) + 0.15 * abs(n[2])
            assert d == pytest.approx(beyond(n, y, support), rel=0.05)


def test_what_lies_flat_or_is_outside_keeps_the_normal_of_the_shape() -> None:
    flat = np.array([[0.1, 0.0, 0.149], [-0.1, 0.05, 0.149], [-0.1, 0.05, 0.149]])
    n, d, _ = way_of(BOX, flat, False)
    assert n == pytest.approx([0, 0, 1])
    assert d == pytest.approx(-0.001)
    above = np.array([[0.15, 0.0, 0.35], [0.35, 0.0, 0.15], [0.35, 0.0, 0.15]])
    n, d, _ = way_of(BOX, above, False)
    assert n == pytest.approx([np.sqrt(0.5), 0, np.sqrt(0.5)], abs=1e-3)
    assert d == pytest.approx(0.15 * np.sqrt(0.5), abs=1e-6)
