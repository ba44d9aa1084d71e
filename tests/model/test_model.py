"""From a scene to flat arrays: masses, bodies one after another, groups of one law."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.materials import SOLID_LAWS
from pliant.model import build_model

SOFT = pl.StableNeoHookean.from_young(1e5, 0.4)


def lumped(mesh, density):
    """A quarter of every tet to each of its vertices, by a plain loop."""
    mass = np.zeros(mesh.n_vertices)
    for tet in mesh.tets:
        edges = mesh.points[tet[1:]] - mesh.points[tet[0]]
        mass[tet] += density * np.linalg.det(edges) / 6 / 4
    return mass


@settings(max_examples=30, deadline=None, derandomize=True)
@given(density=st.floats(1e-3, 1e5), size=st.tuples(*[st.floats(1e-3, 10)] * 3), cells=st.integers(1, 3))
def test_mass_is_density_times_volume(density, size, cells):
    """Sum and lumping, at any size and density."""
    mesh = pl.shapes.box(size, cells)
    scene = pl.Scene()
    scene.add_solid(mesh, SOFT, density)
    model = build_model(scene)
    assert model.mass.sum() == pytest.approx(density * np.prod(size), rel=1e-12)
    np.testing.assert_allclose(model.mass, lumped(mesh, density), rtol=1e-12)


def test_mass_is_that_of_the_rest_shape():
    """Set positions deform the body, they do not make it heavier."""
    mesh = pl.shapes.box(cells=2)
    scene = pl.Scene()
    scene.add_solid(mesh, SOFT, 700.0).set_positions(2 * mesh.points)
    assert build_model(scene).mass.sum() == pytest.approx(700.0, rel=1e-12)


def test_bodies_of_two_laws_keep_their_vertices_masses_and_parameters():
    """Three bodies, two laws: groups by law, vertices in the order of the bodies."""
    meshes = [pl.shapes.box(cells=2), pl.shapes.ball(cells=1), pl.shapes.box((2, 1, 1), (2, 1, 1))]
    laws = [pl.StableNeoHookean(1e4, 2e4), pl.StVenantKirchhoff(3e4, 1e4), pl.StableNeoHookean(5e4, 6e4)]
    scene = pl.Scene()
    for k, (mesh, law) in enumerate(zip(meshes, laws, strict=True)):
        scene.add_solid(mesh, law, 100.0 * (k + 1), damping=k * 1e-3)
    model = build_model(scene)
    sizes = [m.n_vertices for m in meshes]
    np.testing.assert_array_equal(model.body_start, np.cumsum([0, *sizes]))
    np.testing.assert_allclose(model.mass, np.concatenate([lumped(m, 100.0 * (k + 1)) for k, m in enumerate(meshes)]))
    np.testing.assert_array_equal(model.damping, np.repeat([0, 1e-3, 2e-3], sizes))
    np.testing.assert_array_equal(model.positions, np.concatenate([m.points for m in meshes]))
    stable, stvk = model.solids
    assert (stable.law, stvk.law) == (pl.StableNeoHookean, pl.StVenantKirchhoff)
    first = len(meshes[0].tets)
    np.testing.assert_array_equal(stable.tets[first:], meshes[2].tets + sizes[0] + sizes[1])
    np.testing.assert_array_equal(stable.parameters[:first], np.tile([1e4, 2e4], (first, 1)))
    np.testing.assert_array_equal(stable.parameters[first:], np.tile([5e4, 6e4], (len(meshes[2].tets), 1)))
    np.testing.assert_array_equal(stvk.tets, meshes[1].tets + sizes[0])
    assert model.n_tets == sum(len(m.tets) for m in meshes)


@pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
def test_vertices_are_described_as_the_user_knows_them(law):
    scene = pl.Scene()
    scene.add_solid(pl.shapes.box(cells=1), law.from_young(1e5, 0.0), name="left")
    scene.add_solid(pl.shapes.box(cells=1), law.from_young(1e5, 0.0), name="right")
    model = build_model(scene)
    assert model.describe_vertex(7) == "vertex 7 of left"
    assert model.describe_vertex(8) == "vertex 0 of right"


def test_a_model_does_not_follow_later_changes_of_its_scene():
    """The model is frozen: pinning or moving the body afterwards is for the next simulation."""
    mesh = pl.shapes.box(cells=1)
    scene = pl.Scene()
    body = scene.add_solid(mesh, SOFT)
    model = build_model(scene)
    body.pin([0])
    body.set_positions(mesh.points + 1)
    assert (model.subspace == 3).all()
    np.testing.assert_array_equal(model.positions, mesh.points)
