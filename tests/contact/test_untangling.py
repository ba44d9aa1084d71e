"""Scenes that start in intersection: listed, and taken apart."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.contact.detection import colliders_of
from pliant.contact.search.contours import length_gradients
from pliant.contact.search.initial_intersections import piercing_pairs
from pliant.errors import PliantError
from pliant.kernels.threads import Team
from pliant.model import build_model

ipctk = pytest.importorskip("ipctk")
LAW = pl.StableNeoHookean(mu=2000.0, lam=2000.0)
SOFT = pl.StableNeoHookean.from_young(1e5, 0.3)
CUBE = pl.shapes.box((0.1, 0.1, 0.1), (2, 2, 2))


def intersects(scene: pl.Scene) -> bool:
    """As an independent library has it."""
    model = build_model(scene)
    surface = colliders_of(Team(1), model.contact).surface
    mesh = ipctk.CollisionMesh(model.positions, surface.edges, surface.triangles)
    return ipctk.has_intersections(mesh, model.positions)


def scene_of(*bodies: tuple, sphere: bool = False) -> pl.Scene:
    scene = pl.Scene(contact=pl.Contact())
    for mesh, place in bodies:
        add = scene.add_solid if isinstance(mesh, pl.TetMesh) else scene.add_cloth
        add(mesh.transformed(translation=place), SOFT if isinstance(mesh, pl.TetMesh) else LAW)
    if sphere:
        scene.add_sphere((0, 0, 0), 0.2)
    return scene


def cubes() -> pl.Scene:
    """1 cm in each other."""
    return scene_of((CUBE, (0, 0, 0)), (CUBE, (0.002, 0.018, 0.09)))


def bar_in_a_cube() -> pl.Scene:
    """By an edge, 2 cm deep, no vertex of either in the other."""
    bar = pl.shapes.box((0.06, 0.2, 0.06), (2, 1, 2)).transformed(
        rotation=Rotation.from_euler("y", 45, degrees=True).as_matrix()
    )
    return scene_of((CUBE, (0, 0, 0)), (bar, (0.025, 0.004, 0.03 + 0.03 * np.sqrt(2))))


def flush_cubes() -> pl.Scene:
    return scene_of((CUBE, (0, 0, 0)), (CUBE, (0, 0, 0.1)))


def heap_of_balls() -> pl.Scene:
    rng = np.random.default_rng(1)
    return scene_of(*((pl.shapes.ball(0.1, 3), rng.uniform(-0.12, 0.12, 3)) for _ in range(6)))


def bump_through_a_sheet() -> pl.Scene:
    """A closed contour: the second sheet, 3 cm above the first, has a dent 8 cm deep."""
    scene = scene_of((pl.shapes.cloth((1, 1), (20, 20)), (0, 0, 0)))
    dented = pl.shapes.cloth((1, 1), (17, 17))
    p = dented.points + np.array([0.01, 0.02, 0.03])
    dent = 0.08 * np.exp(-((p[:, 0] - 0.1) ** 2 + p[:, 1] ** 2) / 0.02)
    scene.add_cloth(dented, LAW).set_positions(p - dent[:, None] * (0, 0, 1))
    return scene


def corner_through_a_sheet() -> pl.Scene:
    """An open contour, from rim to rim."""
    turned = pl.shapes.cloth((1, 1), (17, 17)).transformed(
        rotation=Rotation.from_euler("xz", (25, 40), degrees=True).as_matrix()
    )
    return scene_of((pl.shapes.cloth((1, 1), (20, 20)), (0, 0, 0)), (turned, (0.1, 0, 0.2)))


def sheets_from_rim_to_rim() -> pl.Scene:
    """One stands upright in the other: a straight contour, which no small motion shortens."""
    upright = pl.shapes.cloth((1.2, 0.4), (17, 7)).transformed(
        rotation=Rotation.from_euler("xz", (80, 10), degrees=True).as_matrix()
    )
    return scene_of((pl.shapes.cloth((1, 1), (20, 20)), (0, 0, 0)), (upright, (0.31, 0.2, 0.02)))


def rope_through_a_sheet(x: float = 0.1, y: float = 0.2) -> pl.Scene:
    """Its lower end, 12 cm long, is below the sheet; a vertex of it lies in the sheet, by default in one of its
    vertices.
    """
    scene = scene_of((pl.shapes.cloth((1, 1), (20, 20)), (0, 0, 0)))
    along = np.array([0.2, 0.1, 1.0]) / np.linalg.norm([0.2, 0.1, 1.0])
    points, edges = pl.shapes.rope(((x, y, 0.0) - 0.12 * along, (x, y, 0.0) + 0.4 * along), 13)
    scene.add_springs(points, edges, 200.0, 0.002)
    return scene


def sheet_through_a_ball() -> pl.Scene:
    return scene_of((pl.shapes.ball(0.2, 4), (0, 0, 0)), (pl.shapes.cloth((1, 1), (20, 20)), (0, 0, 0.17)))


@pytest.mark.parametrize(
    "make",
    [
        cubes,
        bar_in_a_cube,
        flush_cubes,
        heap_of_balls,
        bump_through_a_sheet,
        corner_through_a_sheet,
        sheets_from_rim_to_rim,
        rope_through_a_sheet,
        sheet_through_a_ball,
    ],
)
def test_nothing_intersects_after_untangling(make) -> None:
    scene = make()
    assert intersects(scene)
    done = scene.untangle()
    assert len(done.left) == 0
    assert str(done.left) == "nothing intersects"
    assert not intersects(scene)


def test_solids_keep_their_shape_and_go_the_shortest_way() -> None:
    """Two cubes of the same mass 1 cm in each other part by 1 cm and a gap along z, half each; a pinned one stays."""
    for is_pinned, shares in ((False, (-0.005, 0.005)), (True, (0.0, 0.01))):
        scene = cubes()
        if is_pinned:
            scene.bodies[0].pin([0])
        before = [body.initial_positions.copy() for body in scene.bodies]
        done = scene.untangle()
        for body, x, share in zip(scene.bodies, before, shares, strict=True):
            moved = body.initial_positions - x
            assert np.ptp(moved, axis=0).max() < 1e-15
            assert moved[0] == pytest.approx((0, 0, share), abs=1e-4)
        assert done.furthest == pytest.approx(max(shares), abs=1e-4)


def test_what_cuts_from_rim_to_rim_goes_the_shortest_way() -> None:
    """Both keep their shapes, and part by no more than takes the upright sheet out of the other along its own plane."""
    scene = sheets_from_rim_to_rim()
    before = [body.initial_positions.copy() for body in scene.bodies]
    below = -before[1][:, 2].min() / np.sin(np.radians(80))
    scene.untangle()
    ways = [body.initial_positions - x for body, x in zip(scene.bodies, before, strict=True)]
    assert max(np.ptp(way, axis=0).max() for way in ways) < 1e-12
    assert np.linalg.norm(ways[1][0] - ways[0][0]) < 1.02 * below


@pytest.mark.parametrize("is_pinned", [False, True])
def test_a_rope_goes_the_shortest_way_out_of_a_sheet(is_pinned: bool) -> None:
    """Both keep their shapes, and part by the depth of its lower end; the rope goes all of that way if the sheet is
    pinned.
    """
    scene = rope_through_a_sheet(0.11, 0.213)
    if is_pinned:
        scene.bodies[0].pin([0])
    before = [body.initial_positions.copy() for body in scene.bodies]
    scene.untangle()
    ways = [body.initial_positions - x for body, x in zip(scene.bodies, before, strict=True)]
    assert max(np.ptp(way, axis=0).max() for way in ways) < 1e-12
    assert np.linalg.norm(ways[1][0] - ways[0][0]) == pytest.approx(-before[1][:, 2].min(), rel=0.01)
    assert (np.abs(ways[0]).max() == 0) == is_pinned


def test_cloth_in_an_obstacle_comes_out() -> None:
    """All vertices end outside the sphere."""
    scene = scene_of((pl.shapes.cloth((1, 1), (20, 20)), (0, 0, 0.17)), sphere=True)
    assert len(scene.untangle().left) == 0
    assert np.linalg.norm(scene.bodies[0].initial_positions, axis=1).min() > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("make", [bar_in_a_cube, heap_of_balls, bump_through_a_sheet, sheet_through_a_ball])
def test_the_guarantee_takes_a_start_that_was_untangled(make) -> None:
    scene = make()
    scene.untangle()
    scene.contact = pl.Contact(guarantee=True)
    sim = pl.Simulation(scene, pl.VBD(10))
    for _ in range(3):
        sim.step()
    assert np.isfinite(sim.positions).all()


def test_gradients_are_those_of_the_length_of_the_contour() -> None:
    """A sheet that cuts another: moving it against the other changes the length of the contour by -sum G . d, by
    central differences.
    """
    scene = corner_through_a_sheet()
    model, team = build_model(scene), Team(1)
    colliders = colliders_of(team, model.contact)
    pairs = piercing_pairs(team, colliders, model.positions)
    first = np.arange(model.n_vertices) < model.body_start[1]
    is_own = ~first[colliders.surface.edges[pairs[:, 0], 0]]  # edges of the second sheet
    gradients = length_gradients(colliders, pairs, model.positions)
    towards = gradients[is_own].sum(axis=0) - gradients[~is_own].sum(axis=0)
    for d in np.eye(3):
        lengths = []
        for sign in (1, -1):
            x = model.positions + np.where(first[:, None], 0.0, sign * 1e-6 * d)
            lengths.append(contour_length(colliders, team, x))
        assert -towards @ d == pytest.approx((lengths[0] - lengths[1]) / 2e-6, rel=1e-4, abs=1e-4)


def contour_length(colliders, team, x) -> float:
    """Of the segments in which triangles of both sheets cut each other, each between two points of pairs."""
    from pliant.contact.intersections import crossing_points

    pairs, surface = piercing_pairs(team, colliders, x), colliders.surface
    corners = np.column_stack([surface.edges[pairs[:, 0]], surface.triangles[pairs[:, 1]]])
    points = crossing_points(corners, x)[0]
    ends: dict[tuple[int, int], list] = {}
    for (edge, triangle), point in zip(pairs, points, strict=True):
        for face in set(colliders.faces_of_edge[edge].tolist()):
            ends.setdefault(tuple(sorted((face, int(triangle)))), []).append(point)
    assert all(len(both) == 2 for both in ends.values())
    return sum(float(np.linalg.norm(a - b)) for a, b in ends.values())


def test_what_intersects_is_listed_by_bodies() -> None:
    sim = pl.Simulation(cubes(), pl.VBD(2))
    found = sim.intersections()
    assert len(found.inside) == 8  # four vertices of each
    assert found.deepest == pytest.approx(0.01)
    assert "solid0 and solid1:" in str(found)
    assert "solid1 in solid0: " in str(found)
    assert "the deepest by 10 mm" in str(found)
    assert len(found.points) == len(found)


def test_what_cannot_be_untangled_is_refused_or_reported() -> None:
    with pytest.raises(PliantError, match="no contact"):
        pl.Scene().untangle()
    scene = cubes()
    for body in scene.bodies:
        body.pin([0])
    assert len(scene.untangle().left) > 0
