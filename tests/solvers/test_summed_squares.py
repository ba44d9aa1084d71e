"""Squares of a tearing sheet's curvatures, summed up to pairs of vertices."""

import numpy as np
import pytest

import pliant as pl
from pliant.elements.pair import Pairs
from pliant.elements.quadratic_bending import bending_squares
from pliant.energies.elements import energy_of
from pliant.solvers.machinery import vbd_tables
from pliant.solvers.machinery.summed_squares import summed_pairs


def jiggled_sheet(cells):
    mesh = pl.shapes.cloth((1, 0.7), cells)
    points = mesh.points.copy()
    points[:, :2] += np.random.default_rng(3).uniform(-0.02, 0.02, (len(points), 2))
    return points, mesh.triangles


def test_pairs_have_the_energy_and_forces_of_the_squares():
    points, triangles = jiggled_sheet((7, 6))
    squares = bending_squares(points, triangles, 0.3, is_flat=True)
    pairs = summed_pairs(squares)
    x = points + np.random.default_rng(4).normal(0, 0.05, points.shape)
    once = pairs.owner < pairs.others[:, 0]
    block = Pairs(np.column_stack([pairs.owner, pairs.others])[once], pairs.constants[once, 0])
    assert energy_of(block).energy(block, x) == pytest.approx(energy_of(squares).energy(squares, x), rel=1e-12)
    forces = np.zeros_like(x)
    np.add.at(forces, pairs.owner, pairs.constants * (x[pairs.others[:, 0]] - x[pairs.owner]))
    np.testing.assert_allclose(-forces, energy_of(squares).gradient(squares, x), atol=1e-10 * np.abs(forces).max())


def test_what_some_vertices_see_has_the_bits_of_the_whole():
    points, triangles = jiggled_sheet((9, 8))
    squares = bending_squares(points, triangles, 0.3, is_flat=True)
    whole, is_owner = summed_pairs(squares), np.zeros(len(points), bool)
    is_owner[[3, 17, 40, 41]] = True
    near = squares.taken(np.flatnonzero(is_owner[squares.elements].any(axis=1)))
    for part, all_of_it in zip(summed_pairs(near, is_owner), whole, strict=True):
        np.testing.assert_array_equal(part, all_of_it[is_owner[whole.owner]])


@pytest.mark.slow
@pytest.mark.parametrize("irregular", [False, True])
def test_tears_are_taken_up_in_place(monkeypatch, irregular):
    """A sheet that is pulled apart: lists have room for what vertices ahead of a tear see."""
    tried = []
    update = vbd_tables.update_lists

    def watched(packs, tables, block, edit, parents):
        found = update(packs, tables, block, edit, parents)
        tried.append(found)
        return found

    monkeypatch.setattr(vbd_tables, "update_lists", watched)
    mesh = pl.shapes.cloth((1, 1), (16, 16))
    points = mesh.points.copy()
    if irregular:
        inner = (np.abs(points[:, :2]) < 0.49).all(axis=1)
        points[inner, :2] += np.random.default_rng(1).uniform(-0.015, 0.015, (inner.sum(), 2))
    scene = pl.Scene(gravity=(0, 0, 0))
    cloth = scene.add_cloth(
        pl.TriMesh(points, mesh.triangles), pl.StVenantKirchhoff(1e3, 1e3), density=0.2, bending=1e-4, tear_at=1.1
    )
    x = points[:, 0]
    cloth.pin(x == x.min())
    cloth.move(x == x.max(), pl.motions.Slide(points[x == x.max()], velocity=(2, 0, 0)))
    sim = pl.Simulation(scene, pl.VBD(iterations=5))
    for _ in range(200):
        sim.step()
    assert len(sim.positions) > len(points) + 10
    assert len(tried) > 10
    assert all(tried)
