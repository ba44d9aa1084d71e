"""Edges and triangles against obstacles with formulas: nothing falls between its vertices."""

import logging
from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.contact.primitives.lowest_on_field import lowest_on_edge, lowest_on_triangle
from pliant.contact.primitives.lowest_points import lowest
from pliant.contact.primitives.shapes import measure
from pliant.contact.search.faces_near_fields import field_contacts_at
from pliant.contact.search.faces_near_obstacles import _local, hugs_sphere
from pliant.kernels.threads import Team
from pliant.lanes.compiled import cached, compiled
from pliant.model import obstacles
from pliant.model.distance_field import DistanceField
from pliant.model.model import build_model
from pliant.model.obstacles import SIZES

G = 9.81
SHAPES = {
    "sphere": obstacles.Sphere((0, 0, 0), 0.3),
    "box": obstacles.Box((0, 0, 0), (0.4, 0.6, 0.3)),
    "capsule": obstacles.Capsule((0, 0, -0.3), (0, 0, 0.3), 0.2),
    "cylinder": obstacles.Cylinder((0, 0, -0.3), (0, 0, 0.3), 0.2),
}


@pytest.mark.parametrize("is_face", [False, True], ids=["edge", "triangle"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_lowest_point_is_below_all_others(shape, is_face: bool) -> None:
    """Of a grid over edges and triangles none is nearer by more than 1e-4 of their size; the distance is that of the
    point found.
    """
    rng = np.random.default_rng(1)
    u, v = (array.ravel() for array in np.meshgrid(np.linspace(0, 1, 61), np.linspace(0, 1, 61 if is_face else 1)))
    grid = np.column_stack([1 - u - v, u, v])[u + v <= 1]
    local = _local(shape.row(0.0))
    for _ in range(50):
        y = rng.uniform(-0.8, 0.8, (3, 3))
        corners = tuple(tuple(corner) for corner in y)
        w, d = cached(lowest)(shape.kind, local, corners, is_face)
        assert np.sum(w) == pytest.approx(1)
        assert min(w) >= -1e-12
        assert d == pytest.approx(measure(shape, np.array(w)[None] @ y)[0][0], abs=1e-12)
        assert d <= measure(shape, grid @ y)[0].min() + 1e-4


def test_the_lowest_point_on_a_field_is_below_all_others() -> None:
    """Of edges and triangles about a torus, whose distance has several lowest points on one: none of a grid is nearer
    by more than 1e-3 of their size, with corners as they are and lifted.
    """
    field = DistanceField(pl.shapes.torus().surface(), 32)
    numbers, rng = field.row(0.0), np.random.default_rng(1)
    u, v = (array.ravel() for array in np.meshgrid(np.linspace(0, 1, 61), np.linspace(0, 1, 61)))
    grid = np.column_stack([1 - u - v, u, v])[u + v <= 1]
    size = np.ptp(field.mesh.points, axis=0).max()
    for k in range(80):
        is_lifted = k >= 40  # triangles half as large, lifted by up to a tenth of the torus
        y = rng.uniform(-0.5, 0.5, (3, 3)) * size / (1 + is_lifted)
        corners = tuple(tuple(corner) for corner in y)
        lifts = rng.uniform(-0.1, 0.1, 3) * size if is_lifted else np.zeros(3)
        w, d = cached(lowest_on_triangle)(field.kind, numbers, corners, tuple(lifts))
        assert np.sum(w) == pytest.approx(1)
        assert min(w) >= -1e-12
        assert d == pytest.approx(measure(field, np.array(w)[None] @ y)[0][0] + w @ lifts, abs=1e-12)
        assert d <= (measure(field, grid @ y)[0] + grid @ lifts).min() + 1e-3 * size
        t, d = cached(lowest_on_edge)(field.kind, numbers, corners[0], corners[1], tuple(lifts[:2]))
        parts = np.linspace(0, 1, 400)
        line = y[0] + parts[:, None] * (y[1] - y[0])
        lifted = lifts[0] + t * (lifts[1] - lifts[0])
        assert d == pytest.approx(measure(field, (y[0] + t * (y[1] - y[0]))[None])[0][0] + lifted, abs=1e-12)
        assert d <= (measure(field, line)[0] + np.interp(parts, [0, 1], lifts[:2])).min() + 1e-3 * size


@pytest.mark.parametrize("gaps", [(1e-3, 1e-3), (-4e-3, 1e-3), (-4e-3, -4e-3), (8e-3, 1e-3)], ids=str)
def test_an_edge_about_a_field_is_a_contact_wherever_its_ends_are_guessed(gaps: tuple[float, float]) -> None:
    """5 cm long on a ball of 7 cm: its middle is 4.5 mm nearer than its ends, which keep 1 mm. It has a contact whether
    a guess has the ends on the ball, in it, or a little off, within a reach of 1 cm.
    """
    ball = DistanceField(pl.shapes.ball(0.07, cells=12).surface(), 64)
    turn = np.arcsin(0.025 / 0.07)
    directions = np.array([[np.sin(side * turn), 0.0, np.cos(turn)] for side in (-1, 1)])
    x = directions * (0.07 - measure(ball, 0.07 * directions)[0] + gaps)[:, None]
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.cloth((0.05, 0.05), (1, 1)), pl.StVenantKirchhoff(mu=100.0, lam=100.0))
    scene.add_mesh_obstacle(ball.mesh, method="sdf", resolution=64)
    contact = build_model(scene).contact
    assert contact is not None
    model = replace(contact, radius=np.full(4, 1e-3))
    x = np.concatenate([x, x + 1.0])
    rows = (model.shapes[0].row(0.0),) * 2
    near = (measure(model.shapes[0], x)[0], rows, x, 0.01)
    found = field_contacts_at(Team(1), model, 0, np.array([[0, 1, -1]], np.int32), *near)
    assert found.size == 1
    assert np.abs(found.weights[0, :2]) == pytest.approx(0.5, abs=0.15)


def sheet_above(add, cells: int = 8) -> pl.Simulation:
    """1 m wide, cells of 12.5 cm, falls from 5 cm; it is stiff so that it does not fold around what it lands on."""
    scene = pl.Scene()
    scene.contact = pl.Contact(friction=0.8)
    mesh = pl.shapes.cloth((1, 1), (cells, cells)).transformed(translation=(0.03, 0.02, 0.15))
    scene.add_cloth(mesh, pl.StableNeoHookean(mu=2000.0, lam=2000.0), density=0.2)
    add(scene)
    return pl.Simulation(scene, pl.VBD(iterations=40))


@pytest.mark.parametrize(
    "add",
    [
        lambda scene: scene.add_sphere((0, 0, 0.08), 0.02),
        lambda scene: scene.add_box((0, 0, 0.05), (0.02, 0.02, 0.1)),
        lambda scene: scene.add_capsule((0, 0, -0.5), (0, 0, 0.09), 0.01),
        lambda scene: scene.add_cylinder((0, 0, -0.5), (0, 0, 0.1), 0.01),
        lambda scene: scene.add_mesh_obstacle(
            pl.shapes.ball(0.02, cells=3).surface().transformed(translation=(0, 0, 0.08)), method="sdf", resolution=16
        ),
    ],
    ids=["sphere", "box", "post", "cylinder", "field"],
)
def test_a_coarse_sheet_does_not_fall_through_a_small_obstacle(add) -> None:
    """No vertex of a sheet with cells of 12.5 cm is near an obstacle of 2 cm: after 0.3 s, in which it would fall by
    0.44 m, its middle lies on it.
    """
    sim = sheet_above(add)
    middle = np.argsort(np.linalg.norm(sim.positions[:, :2], axis=1))[:4]
    for _ in range(18):
        sim.advance()
    assert sim.positions[middle, 2].mean() > 0.05
    assert sim.scene.shapes[0].contact_force[2] < 0


def test_a_solid_does_not_fall_through_a_post() -> None:
    """A plate of one cell, 0.4 m wide, on a post of 10 cm: held by a triangle, its weight in sum once it rests."""
    scene = pl.Scene()
    scene.contact = pl.Contact(friction=0.8, damping=0.01)
    mesh = pl.shapes.box((0.4, 0.4, 0.1), (1, 1, 1)).transformed(translation=(0, 0, 0.051))
    plate = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e6, 0.3), density=1000.0)
    scene.add_cylinder((0, 0, -1.0), (0, 0, 0.0), 0.05)
    sim = pl.Simulation(scene, pl.VBD(iterations=60))
    forces = []
    for _ in range(30):
        sim.advance()
        forces.append(plate.contact_force[2])
    assert plate.positions[:, 2].mean() > 0.04
    assert np.mean(forces[10:]) == pytest.approx(16.0 * G, rel=0.1)


def test_a_fast_edge_does_not_pass_a_thin_post() -> None:
    """A sheet with cells of 0.5 m at 30 m/s moves by 10 cm in a step, over a post of 2 cm that no vertex meets."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact()
    mesh = pl.shapes.cloth((1, 1), (2, 2)).transformed(translation=(0.1, 0.07, 0.15))
    sheet = scene.add_cloth(mesh, pl.StableNeoHookean(mu=2e4, lam=2e4), density=0.2)
    sheet.set_velocities((0, 0, -30))
    scene.add_capsule((-3, 0.3, 0), (3, 0.3, 0), 0.01)
    sim = pl.Simulation(scene, pl.VBD(iterations=40))
    for _ in range(4):
        sim.step()
    x, t = sim.positions, sheet.mesh.triangles
    ends = x[np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]])]
    across = (ends[:, 0, 1] - 0.3) * (ends[:, 1, 1] - 0.3) < 0
    part = ((0.3 - ends[:, 0, 1]) / np.where(across, ends[:, 1, 1] - ends[:, 0, 1], 1.0))[across]
    heights = (ends[across, 0] + part[:, None] * (ends[across, 1] - ends[across, 0]))[:, 2]
    assert len(heights) > 2
    assert heights.min() > 0


def test_a_rope_does_not_fall_through_a_small_sphere() -> None:
    """Its segments are 12.5 cm long, no vertex meets the ball of 4 cm; it hangs over it with its weight in sum."""
    scene = pl.Scene()
    scene.contact = pl.Contact(friction=0.8)
    points = np.column_stack([np.linspace(-0.5625, 0.5625, 10), np.zeros(10), np.full(10, 0.06)])
    edges = np.column_stack([np.arange(9), np.arange(1, 10)])
    rope = scene.add_springs(points, edges, stiffness=2000.0, mass=0.01)
    scene.add_sphere((0, 0, 0), 0.04)
    sim = pl.Simulation(scene, pl.VBD(iterations=60))
    for _ in range(12):
        sim.advance()
    middle = rope.positions[4:6].mean(axis=0)
    assert middle[2] > 0.03
    assert rope.contact_force[2] > 0


def test_what_is_not_tested_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    scene = pl.Scene()
    scene.contact = pl.Contact()
    scene.add_springs([(0, 0, 1), (0, 0, 2)], [(0, 1)], stiffness=10.0, mass=1.0)
    scene.add_container((0, 0, 0), (5, 5, 5))
    with caplog.at_level(logging.INFO, "pliant"):
        pl.Simulation(scene, pl.VBD(iterations=1))
    assert [record.message for record in caplog.records if "contact:" in record.message] == [
        "contact: containers are tested against vertices alone: at their rims edges sink in between their vertices."
    ]


def newton_matches(solver, **options) -> None:
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=500.0, friction=0.4, friction_speed=0.5, thickness=2e-3)
    mesh = pl.shapes.cloth((1, 1), (4, 4)).transformed(translation=(0.12, 0.11, 0.099))
    scene.add_cloth(mesh, pl.StableNeoHookean(mu=500.0, lam=500.0), density=0.2).set_velocities((0.2, 0, -0.5))
    scene.add_sphere((0, 0, 0.0), 0.1)
    problem = pl.Simulation(scene, solver, frame_rate=100, substeps=1, precision="double").problem()
    faces = problem.contacts.contacts.kind == 4
    newton = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=60, residual=1e-10)).x
    contacts = problem.with_own_internal_state().contacts
    contacts.refresh(newton)
    assert (contacts.depths(newton)[faces] > 0).sum() >= 1
    x = pl.solve(problem, solver, **options).x
    assert np.abs(x - newton).max() < 1e-6 * np.abs(newton - problem.x_guess).max()


def test_descent_with_faces_reaches_newtons_minimum() -> None:
    newton_matches(pl.VBD(), stop=pl.Stop(iterations=4000, residual=1e-9), measure_every=100)


def test_what_hugs_a_sphere_has_no_lowest_point_between_vertices_that_keep_their_distance() -> None:
    """Triangles and edges near a sphere, on their way and held, that are passed over: no point of any of them is nearer
    than its corners by more than the thickness, wherever its corners are on their way.
    """
    rng, passed = np.random.default_rng(5), 0
    local, w = _local(SHAPES["sphere"].row(0.0)), rng.dirichlet(np.ones(3), 400)
    for _ in range(400):
        direction = rng.normal(size=3)
        direction *= rng.uniform(0.29, 0.4) / np.linalg.norm(direction)
        before = direction + rng.uniform(0.01, 0.1) * rng.uniform(-0.5, 0.5, (3, 3))
        after = before + rng.uniform(-0.01, 0.01, (3, 3))
        radius = 10.0 ** rng.uniform(-4, -1.5)
        corners = (tuple(tuple(p) for p in y) for y in (before, after))
        if not cached(passes_over)(local[SIZES], *corners, radius):
            continue
        passed += 1
        lengths = np.linalg.norm(after, axis=1, keepdims=True)
        held = after * np.maximum(lengths, 0.3 + radius) / lengths
        for y in (before, after, held, before + 0.5 * (after - before)):
            if np.linalg.norm(y, axis=1).min() >= 0.29:
                deepest = np.linalg.norm(w @ y, axis=1).min()
                assert deepest >= np.linalg.norm(y, axis=1).min() - radius * (1 + 1e-9)
    assert 50 < passed < 350


@compiled
def passes_over(size, before, after, radius):
    return hugs_sphere(size, before, after, radius)
