"""Stress at vertices, and the error of a mesh that is estimated by it."""

import numpy as np
import pytest

import pliant as pl
from pliant.energies.recovery import at_vertices
from pliant.model import build_model

SLOPES = np.random.default_rng(7).normal(size=(3, 3, 3))


def model_of(mesh, element):
    scene = pl.Scene()
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3), element=element)
    return build_model(scene)


@pytest.mark.parametrize("element", ["linear", "patch"])
@pytest.mark.parametrize("split", ["alternating", "kuhn", "centred"])
def test_linear_fields_are_exact_at_every_vertex(split, element):
    """Also at the surface, and in tets of many shapes."""
    box = pl.shapes.box((1, 0.5, 0.4), (5, 3, 2), split)
    points = box.points + np.random.default_rng(1).uniform(-0.02, 0.02, box.points.shape)
    solids = model_of(pl.TetMesh(points, box.tets), element).solids[0]
    middles = points[solids.tets].mean(axis=1)
    field = 1.0 + np.einsum("abk,nk->nab", SLOPES, middles)
    expected = 1.0 + np.einsum("abk,nk->nab", SLOPES, points)
    np.testing.assert_allclose(at_vertices(solids, field, points), expected, atol=1e-11)


def test_a_single_layer_of_patches_has_no_slope_across():
    """Where middles lie in a plane, the mean stays."""
    box = pl.shapes.box((1, 1, 0.2), (4, 4, 1), "kuhn")
    solids = model_of(box, "patch").solids[0]
    x = box.points[solids.tets].mean(axis=1)[:, 0]
    np.testing.assert_allclose(at_vertices(solids, x, box.points), box.points[:, 0], atol=1e-12)


def cantilever(cells, element):
    """A beam 10 : 1 under its own weight, nu = 0: its equilibrium, and its sag over Timoshenko's."""
    mesh = pl.shapes.box((1.0, 0.1, 0.1), (10 * cells, cells, cells))
    scene = pl.Scene()
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e9, 0.0), element=element, name="beam")
    body.pin(np.isclose(mesh.points[:, 0], -0.5))
    found = pl.equilibrium(scene)
    tip = np.isclose(mesh.points[:, 0], 0.5)
    return found, body, -found.displacements[tip, 2].mean() / 0.0014833


@pytest.mark.parametrize(("cells", "error"), [(2, -0.36), (4, -0.12), pytest.param(8, -0.034, marks=pytest.mark.slow)])
def test_the_estimate_is_the_error_of_linear_tets(cells, error, caplog):
    """Within a quarter of it; above a tenth it is reported."""
    found, body, sag = cantilever(cells, "linear")
    assert sag - 1 == pytest.approx(error, rel=0.03)
    assert found.discretisation_error(body) == pytest.approx(1 - sag, rel=0.25)
    notes = [record.getMessage() for record in caplog.records if getattr(record, "entry", "") == "coarse-mesh"]
    assert len(notes) == (cells < 8)
    assert all("stress jumps from tet to tet of beam" in note for note in notes)


@pytest.mark.parametrize(("cells", "tolerance"), [(2, 0.05), (4, 0.01)])
def test_patches_show_the_stress_at_the_surface(cells, tolerance):
    """In the middle of the span, M h / (2 I); no note, since patches of cubes deform as they should."""
    found, body, sag = cantilever(cells, "patch")
    points = body.mesh.points
    top = (np.abs(points[:, 0]) < 1e-9) & np.isclose(points[:, 2], 0.05)
    moment = 1000 * 9.81 * 0.01 * 0.5**2 / 2
    theory = moment * 0.05 / (0.1**4 / 12)
    np.testing.assert_allclose(found.stress(body, smooth=True)[top, 0, 0], theory, rtol=tolerance)
    assert sag == pytest.approx(1, abs=0.03)


def test_patches_that_are_longer_than_thick_are_told(caplog):
    """Cells 4 : 1 along a clamped beam: it bends by half too little, and the note says by about how much."""
    mesh = pl.shapes.box((1.0, 0.1, 0.1), (5, 2, 2))
    scene = pl.Scene()
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e9, 0.0), element="patch", name="beam")
    body.pin(np.isclose(mesh.points[:, 0], -0.5))
    found = pl.equilibrium(scene)
    tip = np.isclose(mesh.points[:, 0], 0.5)
    lacking = 1 + found.displacements[tip, 2].mean() / 0.0014833
    assert lacking > 0.5
    assert found.discretisation_error(body) == pytest.approx(lacking, rel=0.25)
    notes = [record.getMessage() for record in caplog.records if getattr(record, "entry", "") == "coarse-mesh"]
    assert len(notes) == 1
    assert "stress jumps from patch to patch of beam" in notes[0]


def test_the_estimate_is_a_part(caplog):
    """Below 1 where a mesh hardly moves: a plate of tets that are five times as long as thick."""
    mesh = pl.shapes.box((1.0, 1.0, 0.02), (20, 20, 2))
    scene = pl.Scene()
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(2e9, 0.3), name="plate")
    rim = np.isclose(np.abs(mesh.points[:, :2]).max(axis=1), 0.5)
    body.pin(rim)
    found = pl.equilibrium(scene)
    theory = 0.00126 * 1000 * 9.81 * 0.02 * 12 * (1 - 0.3**2) / (2e9 * 0.02**3)  # Timoshenko and Woinowsky-Krieger
    lacking = 1 + found.displacements[:, 2].min() / theory
    assert found.discretisation_error(body) == pytest.approx(lacking, abs=0.1)
