"""Obstacles that are fields of signed distances: exact queries, other obstacles and theory; files; bad input."""

import numpy as np
import pytest

import pliant as pl
from contact_arrays import closest_points
from pliant.contact.primitives.shapes import measure
from pliant.elements.closest import VERTEX_TRIANGLE
from pliant.errors import SceneError
from pliant.geometry.primitive_surfaces import block_surface, sphere_surface
from pliant.io.results import open_result
from pliant.model.distance_field import DistanceField

FRICTION = 0.3


def exact(mesh: pl.TriMesh, points: np.ndarray) -> np.ndarray:
    """Signed distances: all triangles asked for the closest point, the sign by solid angles (van Oosterom)."""
    corners = mesh.points[mesh.triangles]
    found = np.empty(len(points))
    for i, p in enumerate(points):
        four = np.concatenate([np.broadcast_to(p, (len(corners), 1, 3)), corners], axis=1)
        distance = closest_points(VERTEX_TRIANGLE, four)[1].min()
        a, b, c = (corners[:, k] - p for k in range(3))
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        over = np.einsum("ki,ki->k", a, np.cross(b, c))
        dots = [np.einsum("ki,ki->k", *pair) for pair in ((a, b), (b, c), (c, a))]
        under = la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb
        winding = np.arctan2(over, under).sum() / (2 * np.pi)
        found[i] = -distance if winding > 0.5 else distance
    return found


def ball(radius: float = 0.3, centre=(0.0, 0.0, 0.0)) -> pl.TriMesh:
    points, triangles = sphere_surface(radius)
    return pl.TriMesh(points + centre, triangles)


def joined(*surfaces: tuple[np.ndarray, np.ndarray]) -> pl.TriMesh:
    points, triangles, first = [], [], 0
    for own_points, own_triangles in surfaces:
        points.append(own_points)
        triangles.append(own_triangles + first)
        first += len(own_points)
    return pl.TriMesh(np.concatenate(points), np.concatenate(triangles))


def test_agrees_with_exact_queries_near_and_far():
    """On a torus, which is not convex, at points near it, within the grid and outside of it."""
    mesh = pl.shapes.torus().surface().transformed(rotation=np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]]))
    field = DistanceField(mesh, 48)
    spacing = field.grid(0.0).spacing
    rng = np.random.default_rng(1)
    on = mesh.points[rng.integers(len(mesh.points), size=150)]
    low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
    around = rng.uniform(low - 0.3, high + 0.3, (150, 3))
    points = np.concatenate([on + rng.uniform(-2, 2, on.shape) * spacing, around])
    truth, found = exact(mesh, points), measure(field, points)[0]
    is_near = np.abs(truth) < 1.5 * spacing
    assert np.abs(found - truth)[is_near].max() < 0.2 * spacing  # at edges of the mesh
    assert (np.sign(found) == np.sign(truth))[np.abs(truth) > 0.2 * spacing].all()
    assert (found - truth).max() < 0.5 * spacing  # advancement relies on it: never much too large


def test_spline_is_far_better_than_linear_interpolation_on_a_sphere():
    """Of radius 1 with 12 cells of h = 1/6 across: h^2/8 |d''| is 7e-3 for linear interpolation; the mesh's own
    chords are 1e-4 to 2e-4 within the sphere.
    """
    t = np.random.default_rng(0).normal(size=(400, 3))
    directions = t / np.linalg.norm(t, axis=1)[:, None]
    d, n = measure(DistanceField(fine_ball(), 12), 1.005 * directions)
    assert np.abs(d - 0.005).max() < 4e-4
    assert np.abs(n - directions).max() < 0.01


def fine_ball() -> pl.TriMesh:
    """Radius 1, 40,000 triangles: the chord's error is 1e-4."""
    rings, around = 100, 200
    polar = np.arange(1, rings) * np.pi / rings
    turns = np.arange(around) * 2 * np.pi / around
    radius = np.sin(polar)[:, None]
    sides = np.stack([radius * np.cos(turns), radius * np.sin(turns), np.tile(np.cos(polar)[:, None], around)], axis=2)
    points = np.concatenate([[[0, 0, 1.0]], sides.reshape(-1, 3), [[0, 0, -1.0]]])
    k, following = np.arange(around), (np.arange(around) + 1) % around
    first = 1 + around * np.arange(rings - 2)[:, None]
    a, b, c, d = first + k, first + around + k, first + around + following, first + following
    last = 1 + around * (rings - 2)
    triangles = np.concatenate(
        [
            np.column_stack([np.zeros(around, int), 1 + k, 1 + following]),
            np.stack([a, b, c], axis=-1).reshape(-1, 3),
            np.stack([a, c, d], axis=-1).reshape(-1, 3),
            np.column_stack([last + k, np.full(around, len(points) - 1), last + following]),
        ]
    )
    return pl.TriMesh(points, triangles)


def test_flat_faces_are_exact_and_normals_are_continuous():
    field = DistanceField(pl.TriMesh(*block_surface((-0.5, -0.4, -0.3), (0.5, 0.4, 0.3))), 20)
    rng = np.random.default_rng(2)
    top = np.column_stack([rng.uniform(-0.2, 0.2, (50, 2)), rng.uniform(0.25, 0.35, 50)])
    d, n = measure(field, top)
    np.testing.assert_allclose(d, top[:, 2] - 0.3, atol=2e-5)
    np.testing.assert_allclose(n, np.tile([0.0, 0.0, 1.0], (50, 1)), atol=1e-3)
    path = np.column_stack([np.linspace(0.3, 0.7, 4001), np.zeros(4001), np.linspace(0.5, 0.1, 4001)])
    turns = np.linalg.norm(np.diff(measure(field, path)[1], axis=0), axis=1)
    assert turns.max() < 0.02  # over an edge of the box the normal turns by 90 degrees within a cell


def test_overlapping_parts_are_inside():
    """Two blocks that cross: the winding number is 2 where they overlap."""
    mesh = joined(block_surface((-1, -0.2, -0.2), (0.2, 0.2, 0.2)), block_surface((-0.2, -0.3, -0.3), (1, 0.3, 0.3)))
    d = measure(DistanceField(mesh, 32), np.array([(0.0, 0.0, 0.1), (-0.8, 0, 0), (0.8, 0, 0), (-0.8, 0, 0.25)]))[0]
    assert (d[:3] < 0).all()
    assert d[3] == pytest.approx(0.05, abs=1e-6)


def test_no_place_of_the_surface_is_outside():
    """Limbs of two or three cells are rounded by a spline; what rests on it must not be within the mesh. Without
    `enclose_surface` forearms and polygons' edges stand out by 7 mm, a quarter of a cell.
    """
    walk = pl.Animation.walking_mannequin()
    field = DistanceField(walk, 64)
    spacing, rng = field.grid(0.4).spacing, np.random.default_rng(4)
    corners = walk.positions(0.4)[walk.triangles]
    weights = rng.dirichlet((1, 1, 1), (6, len(corners)))
    places = np.einsum("tkd,stk->std", corners, weights)
    d = measure(field, places.reshape(-1, 3), 0.4)[0]
    assert spacing == pytest.approx(0.026, rel=0.05)
    assert d.max() < 0.01 * spacing
    is_outer = d > -0.3 * spacing  # the rest are of limbs that reach into others
    assert is_outer.mean() > 0.6
    assert np.median(d[is_outer]) > -0.15 * spacing  # and it does not stand off


def box_on(obstacle: dict, frames: int = 6) -> tuple[pl.Simulation, pl.Body, DistanceField]:
    """A soft cube of 1 kg that starts on an obstacle whose top is at z = 0."""
    scene = pl.Scene()
    material = pl.StableNeoHookean.from_young(2e5, 0.3)
    cube = scene.add_solid(pl.shapes.box((0.1, 0.1, 0.1), (2, 2, 2)), material, damping=0.01)
    cube.set_positions(cube.initial_positions + np.array([0, 0, 0.05]))
    cube.friction = FRICTION
    made = scene.add_mesh_obstacle(**obstacle)
    sim = pl.Simulation(scene, solver=pl.VBD(iterations=40), precision="double")
    for _ in range(frames):
        sim.advance()
    return sim, cube, made


FLOOR = pl.TriMesh(*block_surface((-0.4, -0.4, -0.2), (0.4, 0.4, 0.0)))


def test_belt_drags_with_mu_g_as_a_rigid_motion_and_as_a_deforming_mesh():
    """Both feel the velocity of the surface: the cube gains mu g t, and its weight is carried."""
    belt = pl.Animation(FLOOR.triangles, [FLOOR.points, FLOOR.points + np.array([1.0, 0, 0])], [0.0, 1.0])
    slide = pl.motions.Slide.rigid(velocity=(1.0, 0.0, 0.0))
    speeds = []
    for surface, motion in ((FLOOR, slide), (belt, None)):
        obstacle = {"mesh": surface, "friction": FRICTION, "motion": motion, "method": "sdf", "resolution": 24}
        sim, _, made = box_on(obstacle)
        mass = sim.model.mass
        speeds.append((mass @ sim.velocities)[0] / mass.sum())
        assert speeds[-1] == pytest.approx(FRICTION * 9.81 * sim.time, rel=0.05)
        assert made.contact_force[2] == pytest.approx(-9.81, rel=0.1)
    assert speeds[0] == pytest.approx(speeds[1], rel=1e-3)


def test_position_and_set_pose_are_those_of_the_mesh():
    sim, cube, made = box_on({"mesh": FLOOR, "method": "sdf", "resolution": 24}, 1)
    np.testing.assert_allclose(made.position, (0, 0, -0.1), atol=1e-12)
    made.set_pose((0, 0, -0.09), seconds=0.1)
    for _ in range(8):
        sim.advance()
    np.testing.assert_allclose(made.position, (0, 0, -0.09), atol=1e-12)
    assert cube.positions[:, 2].min() == pytest.approx(0.01, abs=1e-3)


def moving_scene() -> pl.Scene:
    scene = pl.Scene()
    cube = scene.add_solid(pl.shapes.box((0.1, 0.1, 0.1), (2, 2, 2)), pl.StableNeoHookean.from_young(2e5, 0.3))
    cube.set_positions(cube.initial_positions + np.array([0, 0, 0.051]))
    scene.add_mesh_obstacle(FLOOR, method="sdf", resolution=16, motion=pl.motions.Slide.rigid(velocity=(0, 0, 0.1)))
    belt = pl.Animation(FLOOR.triangles, [FLOOR.points - [0, 0, 0.5], FLOOR.points], [0.0, 1.0], repeat=True)
    scene.add_mesh_obstacle(belt, method="sdf", resolution=16, name="belt")
    return scene


def test_checkpoints_and_scene_files_keep_it(tmp_path):
    sim = pl.Simulation(moving_scene(), solver=pl.VBD(iterations=5), precision="double")
    sim.advance()
    sim.save(tmp_path / "run.npz")
    again = pl.Simulation.resume(tmp_path / "run.npz")
    pl.save_scene(moving_scene(), tmp_path / "scene.toml")
    read = pl.Simulation(pl.load_scene(tmp_path / "scene.toml"), solver=pl.VBD(iterations=5), precision="double")
    for one in (sim, again):
        one.advance()
    for _ in range(2):
        read.advance()
    np.testing.assert_array_equal(sim.positions, again.positions)
    np.testing.assert_array_equal(sim.positions, read.positions)


def test_results_show_a_deforming_mesh_where_it_is(tmp_path):
    sim = pl.Simulation(moving_scene(), solver=pl.VBD(iterations=2))
    with sim.record(tmp_path / "run.npz"):
        for _ in range(2):
            sim.advance()
    result = open_result(tmp_path / "run.npz")
    belt = result.layout.body_names.index("belt")
    start, end = result.layout.body_start[belt : belt + 2]
    shown = result.positions(len(result) - 1)[start:end]
    assert shown[:, 2].max() == pytest.approx(-0.5 + 0.5 * sim.time, abs=1e-6)


def test_bad_input():
    scene = pl.Scene()
    with pytest.raises(SceneError, match=r"mesh0: its surface is not closed: the edge from vertex 1 to vertex 0"):
        scene.add_mesh_obstacle(pl.shapes.cloth(), method="sdf")
    with pytest.raises(SceneError, match="face inwards"):
        scene.add_mesh_obstacle(pl.TriMesh(FLOOR.points, FLOOR.triangles[:, ::-1]), method="sdf")
    with pytest.raises(SceneError, match="resolution is 2: give"):
        scene.add_mesh_obstacle(FLOOR, method="sdf", resolution=2)
    thin = pl.TriMesh(*block_surface((0, 0, 0.01), (1, 1, 0.02)))
    with pytest.raises(SceneError, match="no node is inside"):
        scene.add_mesh_obstacle(thin, method="sdf", resolution=8)
    with pytest.raises(SceneError, match="method is 'grid'"):
        scene.add_mesh_obstacle(FLOOR, method="grid")
    still = pl.Animation.from_frames(FLOOR.triangles, [FLOOR.points] * 2)
    with pytest.raises(SceneError, match="moves by itself"):
        scene.add_mesh_obstacle(still, method="sdf", motion=pl.motions.Slide.rigid())
    assert not scene.shapes
