"""Small deflections of strips and plates of any mesh: flat ones, those that could tear and those curved at rest."""

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.validation.irregular_cases import irregular_strip, rolled, tip_shares
from experiments.validation.strip_meshes import MESHES, strip_mesh
from scipy.sparse.linalg import spsolve

import pliant as pl
from pliant.elements import reference
from pliant.elements.registry import element_of
from pliant.model import Cloth

LAW = pl.StVenantKirchhoff.from_young(1e4, 0.0)  # [N/m], of a bending stiffness of 1 N m: as thick as 0.035 m
CELLS = (10, 20, 40)
shapes = pytest.mark.parametrize("shape", [4, 2, 1, 0.5], ids=["4 to 1", "2 to 1", "1 to 1", "1 to 2"])
kinds = pytest.mark.parametrize("kind", MESHES)


def stiffness_of(sheet: Cloth) -> sp.csr_matrix:
    """Of the heights of a flat sheet, from its bending alone."""
    n = sheet.n_vertices
    total = sp.csr_matrix((n, n))
    for block in sheet.blocks(0)[1:]:
        k = block.elements.shape[1]
        forms = reference.hessians(element_of(block), block, sheet.mesh.points)[:, 2::3, 2::3]
        index = np.repeat(block.elements, k, axis=1).ravel(), np.tile(block.elements, (1, k)).ravel()
        total = total + sp.csr_matrix((forms.ravel(), index), (n, n))
    return total.tocsr()


def ends_of(points: np.ndarray) -> np.ndarray:
    """(n,) a unit load at either end of a strip from -1 to 1."""
    return sum(tip_shares(points[:, 1], np.abs(points[:, 0] - end) < 1e-9) for end in (-1, 1))


def sinking(stiffness: sp.csr_matrix, load: np.ndarray, held: np.ndarray) -> float:
    """Work of the load per end, where `held` do not move."""
    return float(0.5 * load[~held] @ spsolve(stiffness[~held][:, ~held].tocsc(), load[~held]))


def strip_over_beam(mesh: pl.TriMesh, **options) -> float:
    """A strip held in the middle and loaded at both ends, as two beams of length 1 m; no clamp disturbs it."""
    sheet = pl.Scene().add_cloth(mesh, LAW, bending=1.0, **options)
    x, width = mesh.points[:, 0], float(np.ptp(mesh.points[:, 1]))
    held = np.abs(x) < 1e-9
    held[np.argmax(x)] = True  # the two ends may turn against each other: their mean is what counts
    return sinking(stiffness_of(sheet), ends_of(mesh.points), held) * 3 * width


def corner_over_plate(mesh: pl.TriMesh, **options) -> float:
    """A rectangle held at three corners and loaded at the fourth: z = c x y, F = 2 z / area."""
    sheet = pl.Scene().add_cloth(mesh, LAW, bending=1.0, **options)
    lower, upper = mesh.points.min(axis=0), mesh.points.max(axis=0)
    corners = [
        int(np.argmin(np.hypot(*(mesh.points[:, :2] - corner).T)))
        for corner in ((lower[0], lower[1]), (lower[0], upper[1]), (upper[0], lower[1]), (upper[0], upper[1]))
    ]
    held = np.isin(np.arange(mesh.n_vertices), corners[:3])
    load = (np.arange(mesh.n_vertices) == corners[3]).astype(float)
    return 2 * sinking(stiffness_of(sheet), load, held) * 2 / float(np.prod((upper - lower)[:2]))


@kinds
@shapes
def test_strips_converge_to_the_beam(kind: str, shape: float) -> None:
    """On every mesh: before, crossed cells 2 : 1 stayed at 0.72 to 0.79 and irregular ones 4 : 1 at 0.85 to 0.92."""
    for cells, bound in zip(CELLS, (0.06, 0.01, 0.002), strict=True):
        assert strip_over_beam(strip_mesh(kind, cells, shape)) == pytest.approx(1.0, abs=bound)


@kinds
@shapes
def test_strips_that_could_tear_converge_to_the_beam(kind: str, shape: float) -> None:
    """Before, crossed cells 2 : 1 stayed at 0.53 to 0.57."""
    for cells, bound in zip(CELLS, (0.06, 0.01, 0.002), strict=True):
        assert strip_over_beam(strip_mesh(kind, cells, shape), tear_at=1.5) == pytest.approx(1.0, abs=bound)


@kinds
@shapes
@pytest.mark.parametrize("options", [{}, {"tear_at": 1.5}], ids=["whole", "could tear"])
def test_twist_is_that_of_the_plate(kind: str, shape: float, options: dict) -> None:
    """Constant curvature is exact, rims included; before, 0.63 to 1.09 on crossed and irregular cells."""
    assert corner_over_plate(strip_mesh(kind, 10, shape), **options) == pytest.approx(1.0, abs=0.003)


@kinds
@shapes
def test_nothing_but_rigid_motions_is_free(kind: str, shape: float) -> None:
    """The form is positive, with the three motions of a plane as its null space."""
    mesh = strip_mesh(kind, 10, shape)
    for options in ({}, {"tear_at": 1.5}):
        Q = stiffness_of(pl.Scene().add_cloth(mesh, LAW, bending=1.0, **options)).toarray()
        values = np.linalg.eigvalsh(Q / np.abs(Q).max())
        assert np.abs(values[:3]).max() < 1e-12 < 1e-9 < values[3]


def stiffness_at_rest(mesh: pl.TriMesh, law: pl.StVenantKirchhoff, **options) -> sp.csr_matrix:
    """(3 n, 3 n) of membrane and bending."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_cloth(mesh, law, 1e-3, 1.0, **options)
    sim = pl.Simulation(scene, pl.Newton(), frame_rate=1, substeps=1, precision="double", threads=1)
    problem = sim.problem()
    stiffness = problem.hessian(sim.positions).tocsr() - sp.diags(np.repeat(sim.model.mass, 3))
    assert np.abs(problem.gradient(sim.positions)).max() < 1e-13 * stiffness.max()  # no stress at rest, on 1 m
    return stiffness


def sag_of_curved_beam(arc: float) -> float:
    """Of a unit load and stiffness. The moment is X - x(s), so that the end sinks by the integral of (X - x)^2."""
    s = np.linspace(0, 1, 10_001)
    return float(np.trapezoid(((np.sin(arc) - np.sin(arc * s)) / arc) ** 2, s))


def sag_of_curved_strip(kind: str, cells: int, shape: float, arc: float, draw: int = 0, **options) -> float:
    """Of a strip that turns by arc [rad] over a metre at rest, held in the middle, over that of the curved beam."""
    flat = strip_mesh(kind, cells, shape, draw)
    held = np.repeat((np.abs(flat.points[:, 0]) < 1e-9)[:, None], 3, axis=1)
    held[np.argmax(flat.points[:, 0]), 2] = True
    load = np.outer(ends_of(flat.points), [0, 0, 1]).ravel()
    sag = sinking(stiffness_at_rest(rolled(flat, arc), LAW, **options), load, held.ravel())
    return sag * float(np.ptp(flat.points[:, 1])) / sag_of_curved_beam(arc)


@kinds
@shapes
@pytest.mark.parametrize("arc", [0.5, np.pi / 2], ids=["slightly curved", "quarter circle"])
def test_strips_that_are_curved_at_rest_converge(kind: str, shape: float, arc: float) -> None:
    """What is left on few long cells is locking of the membrane: it goes with softer ones, and with refinement.

    Before, crossed cells 2 : 1 went to 0.51 and those 4 : 1 to 0.57.
    """
    assert sag_of_curved_strip(kind, 20, shape, arc) == pytest.approx(1.0, abs=0.15 if shape == 4 else 0.02)
    if shape > 1:
        assert sag_of_curved_strip(kind, 40, shape, arc) == pytest.approx(1.0, abs=0.015)


@kinds
@pytest.mark.parametrize("shape", [2, 1], ids=["2 to 1", "1 to 1"])
def test_strips_that_are_curved_at_rest_and_could_tear_converge(kind: str, shape: float) -> None:
    """With the same bounds as those that cannot. Before, crossed cells 2 : 1 went to 0.51."""
    assert sag_of_curved_strip(kind, 20, shape, np.pi / 2, tear_at=3.0) == pytest.approx(1.0, abs=0.02)
    if shape > 1:
        assert sag_of_curved_strip(kind, 40, shape, np.pi / 2, tear_at=3.0) == pytest.approx(1.0, abs=0.015)


@pytest.mark.parametrize("draw", range(1, 4))
def test_other_draws_of_irregular_cells(draw: int) -> None:
    for shape in (2, 1):
        assert sag_of_curved_strip("irregular", 20, shape, np.pi / 2, draw) == pytest.approx(1.0, abs=0.01)
        assert strip_over_beam(strip_mesh("irregular", 20, shape, draw)) == pytest.approx(1.0, abs=0.005)


def test_energy_of_a_curved_sheet_is_positive_and_zero_at_rest() -> None:
    """A square form less the heights at rest: never negative, however far the sheet is bent, and zero for any rigid
    motion of the shape at rest.
    """
    mesh = rolled(strip_mesh("irregular", 10, 1), np.pi / 2)
    blocks = pl.Scene().add_cloth(mesh, LAW, bending=1.0).blocks(0)[1:]
    assert {type(block).__name__ for block in blocks} == {"Pairs", "RestHeights"}

    def energy(x: np.ndarray) -> float:
        return sum(float(reference.energies(element_of(block), block, x).sum()) for block in blocks)

    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    size = sum(float(np.abs(reference.energies(element_of(block), block, mesh.points)).sum()) for block in blocks)
    assert abs(energy(mesh.points @ turn.T + [1.0, -2.0, 0.5])) < 1e-12 * size
    for part in (1e-4, 1e-2, 0.1, 1.0):
        assert energy(mesh.points + part * rng.normal(size=mesh.points.shape)) > 0
    assert energy(mesh.points * [1, 1, -1]) > 0  # snapped through


WIDTH, THIN = 0.2, pl.StVenantKirchhoff.from_young(1e6, 0.0)  # [m]; [N/m]: as thick as 0.0035 of the length
draws = pytest.mark.parametrize("draw", range(4))


def clamped_over_beam(width: float, cells: int, across: int, draw: int = 0, **options) -> float:
    """Deflection of the end of an irregular strip whose first two rows are clamped, over that of the beam."""
    mesh, row = irregular_strip(1.0, width, cells, across, draw=draw)
    sheet = pl.Scene().add_cloth(mesh, LAW, bending=1.0, **options)
    load = tip_shares(mesh.points[:, 1], row == row.max())
    return 2 * sinking(stiffness_of(sheet), load, row < 2) * 3 * width


@pytest.mark.parametrize(("cells", "error"), [(8, 0.01), (10, 0.005), (20, 0.001)])
def test_clamped_strips_of_two_irregular_cells_across(cells: int, error: float) -> None:
    """Cells 2.5, 2 and 1 times as long as wide; before, within 15, 5 and 0.2 %."""
    assert clamped_over_beam(0.1, cells, 2) == pytest.approx(1.0, abs=error)


@draws
@pytest.mark.parametrize("options", [{}, {"tear_at": 1.5}], ids=["whole", "could tear"])
def test_clamped_irregular_strips_converge(draw: int, options: dict) -> None:
    for cells, error in ((10, 0.004), (20, 0.001), (40, 0.0002)):
        assert clamped_over_beam(WIDTH, cells, cells // 5, draw, **options) == pytest.approx(1.0, abs=error)


@draws
@pytest.mark.parametrize("arc", [0.5, np.pi / 2, np.pi], ids=["slightly curved", "quarter circle", "half circle"])
def test_clamped_irregular_strips_that_are_curved_at_rest_converge(arc: float, draw: int) -> None:
    """Thinner than those above: ten cells of a half circle lock, by 0.5 to 6.4 %."""
    for cells, error in ((10, 0.07 if arc == np.pi else 0.03), (20, 0.025), (40, 0.004)):
        flat, row = irregular_strip(1.0, WIDTH, cells, cells // 5, draw=draw)
        load = np.outer(tip_shares(flat.points[:, 1], row == row.max()), [0, 0, 1]).ravel()
        sag = 2 * sinking(stiffness_at_rest(rolled(flat, arc), THIN), load, np.repeat(row < 2, 3))
        assert sag * WIDTH / sag_of_curved_beam(arc) == pytest.approx(1.0, abs=error)
