"""What starts on a rigid body, or in it, is outside: whatever rounding says, and however deep it is."""

import numpy as np
import pytest

import pliant as pl
from contact_arrays import open_rules
from pliant.contact.contact_set import depths
from pliant.contact.detection import find_penetrations, track_sides
from pliant.contact.search.colliders import Colliders, make_colliders
from pliant.contact.tracking.closed_starts import outside_closed
from pliant.contact.tracking.side_history import no_side_history
from pliant.elements.closest import VERTEX_TRIANGLE
from pliant.geometry import shapes
from pliant.kernels.threads import Team

CLEARANCE = 1e-3
LAW = pl.StableNeoHookean.from_young(1e5, 0.4)


def solid_over_closed(lower: pl.TriMesh, upper: pl.TetMesh) -> tuple[np.ndarray, Colliders, np.ndarray]:
    """Positions, colliders and the body of each vertex: a closed surface without tets, and a solid."""
    x = np.concatenate([lower.points, upper.points])
    body = np.repeat([0, 1], [len(lower.points), upper.n_vertices]).astype(np.int32)
    about = (lower.triangles, upper.tets + len(lower.points), open_rules(len(x), body), np.full(len(x), CLEARANCE / 2))
    return x, make_colliders(*about, x, is_closed=body == 0), body


@pytest.mark.parametrize("depth", [0.0, 1e-16, -1e-16, 1e-8, 5e-4, 0.03])
def test_vertices_on_and_in_a_closed_surface_are_pushed_out(team: Team, depth: float) -> None:
    """Every vertex of the lower face that is over the box is to go up by its depth and the clearance."""
    lower = shapes.box((0.2, 0.2, 0.2), (1, 1, 1)).surface()
    upper = shapes.box((0.1, 0.1, 0.1), (3, 3, 3)).transformed(translation=(0.013, 0.007, 0.15 - depth))
    x, colliders, body = solid_over_closed(lower, upper)
    tracked = track_sides(team, colliders, no_side_history(), x, x)
    history = outside_closed(team, colliders, tracked, x)
    contacts = find_penetrations(team, colliders, x, history).contacts
    is_lower = (body == 1) & (x[:, 2] < 0.1 - depth + 1e-9)
    mine = (contacts.kind == VERTEX_TRIANGLE) & is_lower[contacts.vertices[:, 0]]
    np.testing.assert_array_equal(np.unique(contacts.vertices[mine, 0]), np.flatnonzero(is_lower))
    np.testing.assert_allclose(contacts.normals[mine], [[0, 0, 1]] * int(mine.sum()), atol=1e-9)
    np.testing.assert_allclose(depths(contacts, x)[mine], depth + CLEARANCE, atol=1e-12)


def test_who_is_inside_a_ball(team: Team) -> None:
    """Of points around a ball of flat triangles, those within the spheres that its triangles touch and its corners lie
    on are tracked or not, as their distance to the centre says.
    """
    surface = shapes.ball(radius=1.0, cells=4).surface()
    least = np.linalg.norm(surface.points[surface.triangles].mean(axis=1), axis=1).min()
    rng = np.random.default_rng(5)
    corner = shapes.box((1e-6, 1e-6, 1e-6), (1, 1, 1))
    centres = rng.normal(size=(200, 3))
    centres *= (rng.uniform(0.2, 1.4, 200) / np.linalg.norm(centres, axis=1))[:, None]
    points = (centres[:, None] + corner.points).reshape(-1, 3)
    tets = (corner.tets[None] + 8 * np.arange(200)[:, None, None]).reshape(-1, 4)
    x, colliders, body = solid_over_closed(surface, pl.TetMesh(points, tets))
    history = outside_closed(team, colliders, no_side_history(), x)
    radius = np.linalg.norm(x, axis=1)
    is_tracked = np.zeros(len(x), bool)
    is_tracked[history.vertices[history.crossed]] = True
    assert is_tracked[(body == 1) & (radius < 0.98 * least)].all()
    assert not is_tracked[(body == 1) & (radius > 1.0)].any()


@pytest.mark.slow
@pytest.mark.parametrize("overlap", [0.0, 0.005])
def test_a_soft_cube_that_starts_on_a_rigid_box_rests_there(overlap: float) -> None:
    """Flush, aside of its middle; or 5 mm in it, in which case it is pushed out. After 0.3 s it is on the box."""
    scene = pl.Scene(contact=pl.Contact())
    scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), position=(0, 0, 0.1)).pin()
    mesh = shapes.box((0.12, 0.12, 0.1), (3, 3, 3)).transformed(translation=(0.013, 0.007, 0.25 - overlap))
    cube = scene.add_solid(mesh, LAW)
    sim = pl.Simulation(scene)
    for _ in range(18):
        sim.advance()
    sag = 1000 * 9.81 * 0.1**2 / (2 * 1e5)  # rho g l^2 / 2E: half of it in the mean
    assert 0.2 - 1e-4 < cube.positions[:, 2].min() < 0.2 + 1.5e-3
    assert abs(cube.positions[:, 2].mean() - 0.25 + sag / 2) < 1.5e-3
