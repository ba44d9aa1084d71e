"""Bending of sheets that are curved at rest and tear: the energy of those that cannot tear, derivatives, tears."""

import numpy as np
import pytest

import pliant as pl
from pliant.elements import reference
from pliant.elements.curved_square import CURVED_SQUARE, CurvedSquares
from pliant.elements.pair import BENDING, Pairs
from pliant.elements.quadratic_bending import bending_heights, bending_pairs, plate_curvatures
from pliant.elements.rest_height import REST_HEIGHT
from pliant.energies import IncrementalPotential
from pliant.model import build_model
from pliant.model.tearing import tear

LAW = pl.StVenantKirchhoff.from_young(1e3, 0.3)


def arch(cells=(10, 4), noise=0.0):
    """A strip of 1 m x 0.4 m that turns by 1.2 rad at rest."""
    flat = pl.shapes.cloth((1.0, 0.4), cells)
    x = flat.points + noise * np.random.default_rng(0).uniform(-1, 1, flat.points.shape) * [1, 1, 0]
    return pl.TriMesh(np.stack([np.sin(1.2 * x[:, 0]), 1.2 * x[:, 1], np.cos(1.2 * x[:, 0])], 1) / 1.2, flat.triangles)


def potential_of(mesh, **options):
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_cloth(mesh, LAW, density=0.1, bending=1e-2, **options)
    model = build_model(scene)
    return IncrementalPotential(model, 1e6, model.positions, model.positions, model.positions)


@pytest.mark.parametrize("noise", [0.0, 0.02], ids=["regular", "irregular"])
def test_energy_is_that_of_one_form_and_heights(noise):
    """Positions near and far from rest. On regular triangles that is the energy of a sheet that cannot tear; on others
    such a sheet sees further at its rims.
    """
    mesh = arch(noise=noise)
    whole, torn = potential_of(mesh), potential_of(mesh, tear_at=2.0)
    block = next(block for block in torn.model.blocks if type(block) is CurvedSquares)
    assert torn.energies(mesh.points)["elastic"] < 1e-12
    assert np.abs(torn.gradient(mesh.points)).max() < 1e-11
    plate = plate_curvatures(mesh.points, mesh.triangles, is_local=True)
    form = Pairs(*bending_pairs(plate, 1e-2))
    heights = bending_heights(mesh.points, mesh.triangles, plate, 1e-2)
    rng = np.random.default_rng(1)
    for size in (0.01, 0.1):
        x = mesh.points + size * rng.normal(size=mesh.points.shape)
        own = reference.energies(CURVED_SQUARE, block, x).sum()
        both = reference.energies(BENDING, form, x).sum() + reference.energies(REST_HEIGHT, heights, x).sum()
        assert own == pytest.approx(both, rel=1e-10)
        if noise == 0:
            assert torn.energies(x)["elastic"] == pytest.approx(whole.energies(x)["elastic"], rel=1e-12)
            scale = np.abs(whole.gradient(x)).max()
            np.testing.assert_allclose(torn.gradient(x), whole.gradient(x), atol=1e-10 * scale)


def test_derivatives_and_blocks():
    mesh = arch(noise=0.02)
    problem = potential_of(mesh, tear_at=2.0)
    block = next(block for block in problem.model.blocks if type(block) is CurvedSquares)
    rng = np.random.default_rng(2)
    x, d, h = mesh.points + 0.03 * rng.normal(size=mesh.points.shape), rng.normal(size=mesh.points.shape), 1e-6
    energy = lambda x: float(reference.energies(CURVED_SQUARE, block, x).sum())  # noqa: E731
    g = np.zeros_like(x)
    np.add.at(g, block.elements, reference.gradients(CURVED_SQUARE, block, x))
    assert np.sum(g * d) == pytest.approx((energy(x + h * d) - energy(x - h * d)) / (2 * h), rel=1e-7)
    change = (problem.gradient(x + h * d) - problem.gradient(x - h * d)) / (2 * h)
    np.testing.assert_allclose(problem.hessian(x) @ d.ravel(), change.ravel(), atol=1e-7 * np.abs(change).max())
    assert np.linalg.eigvalsh(reference.vertex_blocks(CURVED_SQUARE, block, x)).min() > -1e-12
    rest = reference.hessians(CURVED_SQUARE, block, mesh.points).reshape(-1, 12, 3, 12, 3)
    own = reference.vertex_blocks(CURVED_SQUARE, block, mesh.points)
    np.testing.assert_allclose(own, np.einsum("miaib->miab", rest), atol=1e-9 * np.abs(own).max())  # exact at rest


@pytest.mark.slow
def test_descent_finds_newtons_minimum():
    found = []
    for solver in (pl.Newton(tolerance=1e-12), pl.VBD(iterations=4000)):
        scene, mesh = pl.Scene(), arch((6, 2))
        scene.add_cloth(mesh, LAW, density=0.1, bending=1e-2, tear_at=2.0).pin(mesh.points[:, 0] < -0.45)
        sim = pl.Simulation(scene, solver, frame_rate=50, substeps=1, precision="double")
        for _ in range(3):
            sim.step()
        found.append(sim.positions)
    way = np.abs(found[0] - mesh.points).max()
    assert way > 1e-3
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-6 * way)


def test_squares_part_with_their_triangles():
    """What is left after a tear hangs on no two sides of it."""
    mesh = arch()
    scene = pl.Scene()
    scene.add_cloth(mesh, LAW, bending=1e-2, tear_at=1.2)
    model = build_model(scene)
    x = mesh.points * [1.0, 1.6, 1.0]
    change = tear(model, x, 0.1 * x)
    after = next(block for block in change.model.blocks if type(block) is CurvedSquares)
    before = next(block for block in model.blocks if type(block) is CurvedSquares)
    assert len(change.parents) > 0
    assert 0 < len(after.elements) < len(before.elements)
    triangles = {tuple(sorted(t)) for t in next(b for b in change.model.blocks if b.elements.shape[1] == 3).elements}
    assert all(tuple(sorted(e[:3])) in triangles for e in after.elements)
    assert len(after.at_rest) == len(after.weights) == len(after.elements)
