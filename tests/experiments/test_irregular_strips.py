"""Small deflections of irregular strips: flat ones of long cells, and strips that are curved at rest or tear."""

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.validation.irregular_cases import irregular_strip, rolled, tip_shares
from scipy.sparse.linalg import spsolve

import pliant as pl
from pliant.elements.quadratic_bending import bending_pairs
from pliant.geometry import hinges


def tip_over_beam(cells: int) -> float:
    """Deflection of an irregular strip, two cells across and ten times as long as wide, over that of the beam."""
    mesh, row = irregular_strip(1.0, 0.1, cells, 2)
    n, free = len(mesh.points), row > 1
    pairs, weights = bending_pairs(mesh.points, mesh.triangles, hinges(mesh.triangles, n), 1.0)
    half = sp.csr_matrix((weights, pairs.T), (n, n))
    full = half + half.T
    stiffness = (sp.diags(np.asarray(full.sum(axis=1)).ravel()) - full).tocsr()[free][:, free]
    shares = tip_shares(mesh.points[:, 1], row == row.max())[free]
    return float(shares @ spsolve(stiffness.tocsc(), shares) * 3 * 0.1)


def test_cells_twice_as_long_as_wide_are_within_five_percent():
    """Without going back towards the start, this draw is 29 % too soft."""
    assert tip_over_beam(10) == pytest.approx(1.0, abs=0.05)


def test_longer_cells_are_not_too_soft():
    """Two and a half times as long as wide: as stiff as the start at most."""
    assert 0.85 < tip_over_beam(8) < 1.05


def test_square_cells_are_exact():
    assert tip_over_beam(20) == pytest.approx(1.0, abs=0.002)


WIDTH, MEMBRANE = 0.2, 1e6  # [m]; [N/m] of a bending stiffness of 1 N m: as thick as 0.0035 of the length
BOUNDS = ((10, 0.03), (20, 0.025), (40, 0.004))  # cells along a strip, largest error: they fall with refinement
draws = pytest.mark.parametrize("draw", range(4))


def sag_of_curved_strip(arc: float, cells: int, draw: int) -> float:
    """Of a strip that turns by arc [rad] at rest, under a small load at its end, over that of the curved beam.

    Its moment is P (X - x(s)), so that the end sinks by P / EI times the integral of (X - x)^2.
    """
    flat, row = irregular_strip(1.0, WIDTH, cells, max(2, cells // 5), draw=draw)
    scene = pl.Scene(gravity=(0, 0, 0))
    sheet = scene.add_cloth(rolled(flat, arc), pl.StVenantKirchhoff.from_young(MEMBRANE, 0.0), 1e-3, 1.0)
    assert sheet.bending_model == "coupled"
    sheet.pin(row < 2)
    sim = pl.Simulation(scene, pl.Newton(), frame_rate=1, substeps=1, precision="double")
    assert np.abs(sim.problem().gradient(sim.positions)).max() < 1e-9  # no stress at rest
    free = np.repeat(row > 1, 3)
    inertia = sp.diags(np.repeat(sim.model.mass, 3)[free])
    stiffness = sim.problem().hessian(sim.positions).tocsr()[free][:, free] - inertia
    load = np.outer(tip_shares(flat.points[:, 1], row == row.max()), [0, 0, 1]).ravel()[free]
    s = np.linspace(0, 1, 10_001)
    arms = (np.sin(arc) - np.sin(arc * s)) / arc
    return float(load @ spsolve(stiffness.tocsc(), load) * WIDTH / np.trapezoid(arms**2, s))


@draws
@pytest.mark.parametrize("arc", [0.5, np.pi / 2, np.pi], ids=["slightly curved", "quarter circle", "half circle"])
def test_strips_that_are_curved_at_rest_converge(arc: float, draw: int) -> None:
    for cells, bound in BOUNDS:
        assert sag_of_curved_strip(arc, cells, draw) == pytest.approx(1.0, abs=bound)


def sag_of_tearing_strip(cells: int, draw: int) -> float:
    """Of a flat strip that could tear, over that of the beam."""
    mesh, row = irregular_strip(1.0, WIDTH, cells, max(2, cells // 5), draw=draw)
    sheet = pl.Scene().add_cloth(mesh, pl.StVenantKirchhoff(1.0, 1.0), bending=1.0, tear_at=1.5)
    n, free = len(mesh.points), row > 1
    stiffness = sp.csr_matrix((n, n))
    for block in sheet.blocks(0)[1:]:
        k = block.elements.shape[1]
        forms = np.einsum("m,mi,mj->mij", block.stiffness, block.weights, block.weights)
        index = np.repeat(block.elements, k, axis=1).ravel(), np.tile(block.elements, (1, k)).ravel()
        stiffness = stiffness + sp.csr_matrix((forms.ravel(), index), (n, n))
    shares = tip_shares(mesh.points[:, 1], row == row.max())[free]
    return float(shares @ spsolve(stiffness.tocsr()[free][:, free].tocsc(), shares) * 3 * WIDTH)


@draws
def test_strips_that_could_tear_converge(draw: int) -> None:
    for cells, bound in BOUNDS:
        assert sag_of_tearing_strip(cells, draw) == pytest.approx(1.0, abs=bound)
