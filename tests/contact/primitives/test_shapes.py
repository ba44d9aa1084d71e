"""Shapes: signed distances against points spread over the surface, normals against differences, finite everywhere."""

from dataclasses import replace

import numpy as np
import pytest

from contact_arrays import times_of_impact_with
from pliant.contact.primitives import shapes
from pliant.errors import SceneError
from pliant.geometry import TriMesh
from pliant.geometry import shapes as meshes
from pliant.lanes.compiled import cached
from pliant.model.obstacles import (
    FRICTION,
    ROW_LENGTH,
    Box,
    Capsule,
    Container,
    Cylinder,
    MeshObstacle,
    Plane,
    Shape,
    Sphere,
)


def turned(t: float) -> tuple[np.ndarray, np.ndarray]:
    """Moves along (1, 2, 3) t and turns about z by t."""
    c, s = np.cos(t), np.sin(t)
    return np.array([1.0, 2.0, 3.0]) * t, np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


SHAPES = [
    Plane((0.1, 0.2, 0.3), (1, -2, 2)),
    Sphere((0.1, -0.2, 0.3), 0.7),
    Box((0.1, 0.2, 0.3), (1.0, 0.6, 1.4)),
    Capsule((0, 0, -0.5), (0.3, 0.4, 0.6), 0.3),
    Cylinder((0.2, 0, -0.5), (0.2, 0.4, 0.6), 0.4),
    Container((0, 0, 0), (1.0, 0.8, 0.6)),
]
every_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)


def inside_fraction(shape: Shape, points: np.ndarray) -> np.ndarray:
    """Whether points are inside, written independently of the distance."""
    if isinstance(shape, Plane):
        return (points - shape.point) @ shape.normal < 0
    if isinstance(shape, Sphere):
        return np.linalg.norm(points - shape.centre, axis=1) < shape.radius
    if isinstance(shape, Container):
        local, half = points - shape.centre, np.asarray(shape.size) / 2
        in_cavity = (np.abs(local[:, :2]) < half[:2]).all(axis=1) & (local[:, 2] > -half[2])
        return ~in_cavity & (local[:, 2] < half[2])
    if isinstance(shape, Box):
        return (np.abs(points - shape.centre) < np.asarray(shape.size) / 2).all(axis=1)
    start, end = np.asarray(shape.start), np.asarray(shape.end)
    t = (points - start) @ (end - start) / ((end - start) @ (end - start))
    nearest = start + np.clip(t, 0, 1)[:, None] * (end - start)
    from_axis = np.linalg.norm(points - (start + t[:, None] * (end - start)), axis=1)
    if isinstance(shape, Cylinder):
        return (t > 0) & (t < 1) & (from_axis < shape.radius)
    return np.linalg.norm(points - nearest, axis=1) < shape.radius


@every_shape
def test_sign_normal_and_surface(shape: Shape) -> None:
    """The sign says inside; the normal is the gradient; stepping back by d n from inside lands on the surface."""
    points = np.random.default_rng(0).uniform(-1, 1, (2000, 3))
    d, n = shapes.measure(shape, points)
    np.testing.assert_array_equal(d < 0, inside_fraction(shape, points))
    np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1, rtol=1e-12)
    e = 1e-7
    slope = (shapes.measure(shape, points + e * n)[0] - shapes.measure(shape, points - e * n)[0]) / (2 * e)
    smooth = np.abs(slope - 1) < 1e-5
    assert smooth.mean() > 0.999  # all but points whose difference straddles an edge of the inside
    inside = d < 0
    np.testing.assert_allclose(shapes.measure(shape, points[inside] - d[inside, None] * n[inside])[0], 0, atol=1e-12)


@every_shape
def test_distance_is_never_too_large(shape: Shape) -> None:
    """|d(p) - d(q)| <= |p - q|: a step of length d can not pass through."""
    rng = np.random.default_rng(1)
    p, q = rng.uniform(-1.5, 1.5, (2, 5000, 3))
    difference = np.abs(shapes.measure(shape, p)[0] - shapes.measure(shape, q)[0])
    assert (difference <= np.linalg.norm(p - q, axis=1) + 1e-12).all()


@every_shape
def test_finite_where_there_is_no_closest_point(shape: Shape) -> None:
    """Centre, axes, edges and corners, and very far away."""
    position, axes = shape.frame()
    size = np.array(shape.sizes())
    local = np.array([[i, j, k] for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)], float)
    points = np.concatenate([position + local @ axes.T, position + (local * size) @ axes.T, 1e12 * local])
    d, n = shapes.measure(shape, points)
    assert np.isfinite(d).all()
    np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1, rtol=1e-9)


def test_known_distances() -> None:
    """By hand."""
    at = np.array([[0.0, 0.0, 3.0]])
    cases = [
        (Plane((0, 0, 1), (0, 0, 1)), 2.0),
        (Sphere((0, 0, 0), 1.0), 2.0),
        (Box((0, 0, 0), (2, 2, 2)), 2.0),
        (Capsule((0, 0, -1), (0, 0, 1), 0.5), 1.5),
        (Cylinder((0, 0, -1), (0, 0, 1), 0.5), 2.0),
        (Container((0, 0, 3), (2, 4, 6)), 1.0),
    ]
    for shape, distance in cases:
        np.testing.assert_allclose(shapes.measure(shape, at)[0], distance, rtol=1e-14)
    np.testing.assert_allclose(shapes.measure(Box((0, 0, 0), (2, 2, 2)), [[2.0, 3.0, 3.0]])[0], 3.0)
    np.testing.assert_allclose(shapes.measure(Container((0, 0, 0), (2, 2, 2)), [[4.0, 0, 0.5]])[0], -0.5)


@every_shape
def test_motion_carries_the_shape(shape: Shape) -> None:
    """Distances of moved points from the moved shape are those at rest, and its material moves with it."""
    moving = replace(shape, motion=turned)
    points = np.random.default_rng(2).uniform(-1, 1, (300, 3))
    translation, rotation = turned(0.7)
    d, n = shapes.measure(moving, points @ rotation.T + translation, 0.7)
    d0, n0 = shapes.measure(shape, points)
    np.testing.assert_allclose(d, d0, atol=1e-12)
    np.testing.assert_allclose(n, n0 @ rotation.T, atol=1e-9)
    p = points[0] @ rotation.T + translation
    way = cached(shapes.material_displacement)(shape.kind, moving.row(0.0), moving.row(0.7), tuple(p))
    np.testing.assert_allclose(way, p - points[0], atol=1e-12)


def test_fast_vertex_hits_a_thin_plate() -> None:
    """1 mm plate, 100 m/s, 1/60 s: at the time the surface is reached, from either side; passing beside it is no
    hit.
    """
    plate = Box((0, 0, 0), (1, 1, 1e-3))
    start = np.array([[0.1, 0.2, 1.0], [0.1, 0.2, -0.5], [0.7, 0.0, 1.0]])
    end = start + np.array([[0, 0, -1.0], [0, 0, 1.0], [0, 0, -1.0]]) * 100 / 60
    times = times_of_impact_with(plate, start, end)
    exact = np.array([(1.0 - 5e-4), (0.5 - 5e-4)]) * 60 / 100
    assert (times[:2] <= exact).all()
    np.testing.assert_allclose(times[:2], exact, atol=1e-4)
    assert times[2] == np.inf


def test_moving_plate_hits_a_vertex_at_rest() -> None:
    """Only the relative motion counts."""
    plate = Box((0, 0, 0), (1, 1, 1e-3), motion=lambda t: ((0, 0, 100 * t), np.eye(3)))
    at = np.array([[0.1, 0.2, 1.0]])
    time = times_of_impact_with(plate, at, at, 0.0, 1 / 60)[0]
    np.testing.assert_allclose(time, (1 - 5e-4) * 60 / 100, atol=1e-4)


def test_rows_for_kernels() -> None:
    """Kinds and rows of all shapes; friction is the last number."""
    shapes_and_ball = [*SHAPES, Sphere(friction=0.4)]
    assert [shape.kind for shape in shapes_and_ball] == [0, 1, 2, 3, 4, 5, 1]
    assert {shape.row(0.0).shape for shape in shapes_and_ball} == {(ROW_LENGTH,)}
    assert shapes_and_ball[-1].row(0.0)[FRICTION] == 0.4


def test_mesh_obstacle_moves_rigidly() -> None:
    """Its vertices at a time."""
    mesh = meshes.cloth(cells=(3, 3))
    obstacle = MeshObstacle(mesh, friction=0.2, motion=turned)
    assert isinstance(mesh, TriMesh)
    translation, rotation = turned(0.3)
    np.testing.assert_allclose(obstacle.positions(0.3), mesh.points @ rotation.T + translation)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sphere(radius=0.0), "Sphere: radius is 0.0"),
        (lambda: Sphere((0, np.nan, 0)), "Sphere: centre: entry 1"),
        (lambda: Plane(normal=(0, 0, 0)), "Plane: normal is"),
        (lambda: Box(size=(1, 0, 1)), "Box: size is"),
        (lambda: Capsule((0, 0, 0), (0, 0, 0)), "Capsule: start and end"),
        (lambda: Box(friction=-1.0), "Box: friction is -1.0"),
        (lambda: Sphere(motion=lambda t: ((0, 0, 0), 2 * np.eye(3))).row(0.5), "motion at t = 0.5 s.*not a rotation"),
        (lambda: Sphere(motion=lambda t: ((0, 0), np.eye(3))).row(0.5), "motion at t = 0.5 s: translation"),
    ],
)
def test_bad_obstacles(make, words: str) -> None:
    """One sentence with the obstacle, the field and the value."""
    with pytest.raises(SceneError, match=words):
        make()
