"""Loads and holds that engineers use: single components of motion, a moment that bends a strip to a circle."""

import numpy as np
import pytest

import pliant as pl
from pliant.geometry import triangle_areas
from pliant.geometry.surface import boundary_triangles

E, NU = 1e6, 0.3


def test_symmetry_planes_by_components():
    """An eighth of a bar: x, y and z are held each on a face of its own. Uniaxial stress, exact with any mesh."""
    mesh = pl.shapes.box((1.0, 1.0, 1.0), (2, 2, 2))
    x, y, z = mesh.points.T
    scene = pl.Scene(gravity=(0, 0, 0))
    bar = scene.add_solid(mesh, pl.StableNeoHookean.from_young(E, NU))
    for axis, values in zip("xyz", (x, y, z), strict=True):
        bar.pin(values < -0.499, components=axis)
    end = x > 0.499
    face = boundary_triangles(mesh.tets, mesh.n_vertices)
    face = face[end[face].all(axis=1)]
    areas = triangle_areas(mesh.points, face)
    share = np.bincount(face.ravel(), np.repeat(areas / 3, 3), mesh.n_vertices)
    forces = np.outer(share, [E * 1e-5, 0, 0])
    bar.add_force(lambda positions, v, t: forces)
    found = pl.equilibrium(scene, tolerance=1e-9)
    assert found.von_mises(bar) == pytest.approx(E * 1e-5, rel=2e-3)
    moved = found.displacements
    assert moved[end, 0] == pytest.approx(1e-5, rel=2e-3)
    assert moved[y > 0.499, 1] == pytest.approx(-NU * 1e-5, rel=2e-3)
    assert bar.subspace[np.argmin(x + y + z)] == 0  # three planes meet: fixed


def test_components_are_checked():
    mesh = pl.shapes.box(cells=(1, 1, 1))
    body = pl.Scene().add_solid(mesh, pl.StableNeoHookean(1.0, 1.0))
    for wrong in ("", "xw", 1):
        with pytest.raises(pl.SceneError, match="give one or more of 'x', 'y' and 'z'"):
            body.pin([0], components=wrong)
    body.constrain_to_plane([1], (1, 1, 0))
    with pytest.raises(pl.SceneError, match=r"pin: vertex 1 is already moved, or held along a line"):
        body.pin([0, 1], components="x")
    body.pin([2], components="z")
    body.pin([2], components="xy")
    assert body.subspace[2] == 0
    assert body.subspace[0] == 3


def strip_under_a_moment(cells: int, load_steps: int):
    """Middles of the rows of a strip that the moment 2 pi k b / L bends, from the middle of its clamped rows on."""
    edge, width, bending = 1.0 / cells, 0.1, 1e-2
    mesh = pl.shapes.cloth(((cells + 1) * edge, width), (cells + 1, 2))
    scene = pl.Scene(gravity=(0, 0, 0))
    strip = scene.add_cloth(mesh, pl.StableNeoHookean.from_young(1e4, 0.0), 0.2, bending)
    x = mesh.points[:, 0]
    strip.pin(x < x.min() + 1.5 * edge)
    strip.add_moment(x > x.max() - 1.5 * edge, (0, -2 * np.pi * bending * width, 0))
    found = pl.equilibrium(scene, load_steps=load_steps)
    assert found.report.converged
    assert found.report.load_factor == 1.0
    rows = found.positions.reshape(cells + 2, 3, 3)[:, 1]
    return 0.5 * (rows[1:] + rows[:-1]), rows


@pytest.mark.parametrize(
    ("cells", "steps", "error"), [(20, 5, 0.06), pytest.param(40, 10, 0.015, marks=pytest.mark.slow)]
)
def test_a_moment_bends_a_strip_to_a_full_circle(cells, steps, error):
    """Radius L / 2 pi, and the end turned by 360 degrees."""
    middles, rows = strip_under_a_moment(cells, steps)
    radius = 1 / (2 * np.pi)
    centre = middles[0] + [0, 0, radius]
    assert np.linalg.norm(middles - centre, axis=1) == pytest.approx(radius, rel=error)
    edges = np.diff(rows, axis=0)
    angles = np.unwrap(np.arctan2(edges[:, 2], edges[:, 0]))
    assert angles[-1] - angles[0] == pytest.approx(2 * np.pi, rel=error / 3)


def test_a_bar_pulled_by_one_component_contracts_freely():
    """A face prescribed along x alone: uniaxial stress, with the reaction E A strain and -nu strain across."""
    youngs_modulus, nu, strain = 1e6, 0.3, 1e-4
    mesh = pl.shapes.box((1.0, 0.5, 0.5), (2, 1, 1))
    scene = pl.Scene(gravity=(0, 0, 0))
    bar = scene.add_solid(mesh, pl.StableNeoHookean.from_young(youngs_modulus, nu))
    x, y, z = mesh.points.T
    left, right = np.isclose(x, -0.5), np.isclose(x, 0.5)
    bar.pin(np.isclose(y, -0.25), components="y")
    bar.pin(np.isclose(z, -0.25), components="z")
    bar.pin(left, components="x")
    points = mesh.points[right]
    bar.move(right, lambda t: points + np.array([strain * t, 5.0, 5.0]), components="x")
    found = pl.equilibrium(scene, load_steps=1)
    assert found.report.converged
    np.testing.assert_allclose(found.displacements[:, 0], strain * (x + 0.5), atol=1e-8)
    np.testing.assert_allclose(found.displacements[:, 1], -nu * strain * (y + 0.25), atol=1e-8)
    assert found.reaction_force(bar, right)[0] == pytest.approx(youngs_modulus * 0.25 * strain, rel=1e-3)


def weight_between_springs(following: float):
    """Of 1 N on a mass that hangs on a spring of 10 N/m; a force that depends on positions pulls it back to where it is
    without load by `following` [N/m].
    """
    scene = pl.Scene(gravity=(0, 0, 0))
    points = np.array([[0.0, 0, 0], [0, 0, -1.0]])
    rope = scene.add_springs(points, np.array([[0, 1]]), stiffness=10.0, mass=0.1)
    rope.pin([0])
    rope.add_force(lambda x, v, t: np.array([[0, 0, 0], [0, 0, -1.0]]) - following * (x - points) * [[0], [1]])
    return pl.equilibrium(scene, tolerance=1e-9)


@pytest.mark.parametrize("following", [0.0, 1.0, 100.0, 1e4])
def test_loads_that_follow_may_be_stiffer_than_the_body(following):
    """Loads held during an iteration would let an error grow by their stiffness over the body's, a thousand here."""
    found = weight_between_springs(following)
    assert found.report.converged
    assert found.report.iterations < 10
    assert found.displacements[1] == pytest.approx([0, 0, -1 / (10 + following)], abs=1e-9)


def test_loads_that_push_on_are_followed_up_to_the_stiffness_of_the_body():
    assert weight_between_springs(-9.0).displacements[1] == pytest.approx([0, 0, -1.0], abs=1e-7)
