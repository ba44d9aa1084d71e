"""Strips and rods bent to circles have the energy k/2 curvature^2, and bend under loads as plates and beams do."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve
from scipy.spatial import Delaunay

import pliant as pl
from pliant.elements import hinge, reference, rod_bend
from pliant.elements.hinge import HINGE, Hinges
from pliant.elements.pair import BENDING, Pairs
from pliant.elements.quadratic_bending import bending_pairs, plate_curvatures
from pliant.elements.registry import element_of
from pliant.elements.rod_bend import ROD_BEND, RodBends
from pliant.geometry import hinges, rod_bends

K = 0.7  # bending stiffness [N m]
LENGTH, WIDTH = 1.0, 0.2
CORNERS = ((0, -0.5), (1, -0.5), (0, 0.5), (1, 0.5))


def alternating(nx: int, ny: int, width: float = WIDTH) -> tuple[np.ndarray, np.ndarray]:
    mesh = pl.shapes.cloth((LENGTH, width), (nx, ny))
    return mesh.points + np.array([LENGTH / 2, 0, 0]), mesh.triangles


def parallel(nx: int, ny: int, width: float = WIDTH) -> tuple[np.ndarray, np.ndarray]:
    """All diagonals in one direction."""
    points, _ = alternating(nx, ny, width)
    vertex = np.arange((nx + 1) * (ny + 1)).reshape(nx + 1, ny + 1)
    a, b, c, d = (v.ravel() for v in (vertex[:-1, :-1], vertex[1:, :-1], vertex[1:, 1:], vertex[:-1, 1:]))
    return points, np.vstack((np.stack((a, b, c), axis=1), np.stack((a, c, d), axis=1)))


def irregular(nx: int, ny: int, width: float = WIDTH) -> tuple[np.ndarray, np.ndarray]:
    """Delaunay triangles of points moved by up to a third of a cell, those of the rim along it."""
    points, _ = alternating(nx, ny, width)
    cell = np.array([LENGTH / nx, width / ny, 0])
    inner = np.stack(
        (np.abs(points[:, 0] - LENGTH / 2) < LENGTH / 2 - 1e-9, np.abs(points[:, 1]) < width / 2 - 1e-9), 1
    )
    shift = 0.35 * cell * np.random.default_rng(0).uniform(-1, 1, points.shape)
    points = points + shift * np.column_stack((inner, inner[:, 0]))
    triangles = Delaunay(points[:, :2]).simplices.astype(np.int64)
    corner = points[triangles]
    turn = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])[:, 2]
    triangles[turn < 0] = triangles[turn < 0][:, ::-1]
    return points, triangles[np.abs(turn) > 1e-9]


def crossed(nx: int, ny: int, width: float = WIDTH) -> tuple[np.ndarray, np.ndarray]:
    """Four triangles around the middle of each cell."""
    points, _ = alternating(nx, ny, width)
    vertex = np.arange((nx + 1) * (ny + 1)).reshape(nx + 1, ny + 1)
    a, b, c, d = (v.ravel() for v in (vertex[:-1, :-1], vertex[1:, :-1], vertex[1:, 1:], vertex[:-1, 1:]))
    middle = len(points) + np.arange(len(a))
    fans = [np.stack((u, v, middle), axis=1) for u, v in ((a, b), (b, c), (c, d), (d, a))]
    return np.vstack((points, 0.5 * (points[a] + points[c]))), np.vstack(fans)


MESHES = {
    "crossed": crossed(40, 8),
    "alternating": alternating(40, 8),
    "refined": alternating(80, 16),
    "long cells": alternating(40, 20),
    "parallel": parallel(40, 8),
    "irregular": irregular(40, 8),
    "irregular and refined": irregular(80, 16),
    "two wide": alternating(40, 2),
}
every_mesh = pytest.mark.parametrize("name", MESHES)


def bent(points: np.ndarray, curvature: float, direction: float) -> np.ndarray:
    """The sheet rolled, without stretch, onto a cylinder across a direction in its plane [rad from x]."""
    t, m = np.array([np.cos(direction), np.sin(direction)]), np.array([-np.sin(direction), np.cos(direction)])
    s, w = points[:, :2] @ t, points[:, :2] @ m
    plane = np.outer(np.sin(curvature * s) / curvature, t) + np.outer(w, m)
    return np.column_stack((plane, (1 - np.cos(curvature * s)) / curvature))


def hinge_energy(points: np.ndarray, triangles: np.ndarray, x: np.ndarray) -> float:
    found = hinges(triangles, len(points))
    angles, weights = hinge.rest_data(points, found)
    return reference.energies(HINGE, Hinges(found, angles, K * weights), x).sum()


def quadratic_energy(points: np.ndarray, triangles: np.ndarray, x: np.ndarray) -> float:
    pairs = Pairs(*bending_pairs(plate_curvatures(points, triangles), K))
    return reference.energies(BENDING, pairs, x).sum()


def coupled_blocks(points: np.ndarray, triangles: np.ndarray) -> list:
    """Hinges, pairs and fans of a sheet with coupled bending."""
    sheet = pl.Scene().add_cloth(
        pl.TriMesh(points, triangles), pl.StableNeoHookean(1.0, 1.0), bending=K, bending_model="coupled"
    )
    return sheet.blocks(0)[1:]


def coupled_energy(points: np.ndarray, triangles: np.ndarray, x: np.ndarray) -> float:
    return sum(reference.energies(element_of(block), block, x).sum() for block in coupled_blocks(points, triangles))


def relative(energy, name: str, curvature: float, direction: float = 0.0) -> float:
    """Energy over that of the plate."""
    points, triangles = MESHES[name]
    return energy(points, triangles, bent(points, curvature, direction)) / (K / 2 * curvature**2 * LENGTH * WIDTH)


@every_mesh
@pytest.mark.parametrize("curvature", [0.1, 2 * np.pi], ids=["slightly", "full circle"])
def test_quadratic_bending_of_a_rolled_strip(name: str, curvature: float) -> None:
    """Within 4 % on all meshes, up to the full circle; half a cell at either end does not bend."""
    assert relative(quadratic_energy, name, curvature) == pytest.approx(1.0, abs=0.04)


@pytest.mark.parametrize("name", ["alternating", "refined", "long cells", "parallel"])
@pytest.mark.parametrize("curvature", [0.1, 2 * np.pi], ids=["slightly", "full circle"])
def test_hinges_of_a_rolled_strip(name: str, curvature: float) -> None:
    """Within 5 % where cells lie along the strip, up to the full circle."""
    assert relative(hinge_energy, name, curvature) == pytest.approx(1.0, abs=0.05)


def test_hinges_of_irregular_strips_are_as_documented() -> None:
    """A sum over single angles depends on the mesh: 1.0 to 1.5 times the plate's energy, less at a rim."""
    for name in ("irregular", "irregular and refined"):
        ratios = [relative(hinge_energy, name, 0.1, a) for a in np.linspace(0, np.pi, 8, endpoint=False)]
        assert min(ratios) > 0.92
        assert max(ratios) < 1.5
    assert relative(hinge_energy, "parallel", 0.1, np.pi / 4) == pytest.approx(3.0, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["parallel", "crossed", "irregular and refined", "refined"])
def test_quadratic_bending_in_any_direction(name: str) -> None:
    """Rolled obliquely. What is missing belongs to the rim, half a cell wide: an eighth of a sheet of eight cells."""
    ratios = [relative(quadratic_energy, name, 0.1, a) for a in np.linspace(0, np.pi, 8, endpoint=False)]
    assert min(ratios) > 0.87
    assert max(ratios) < 1.01


def deflection(name: str, stiffness: sp.csr_matrix) -> float:
    """Of a strip clamped at x = 0 and loaded at its free end, over that of the beam, F x^2 (3 L - x) / (6 K W)."""
    points, _ = MESHES[name]
    x, tip = points[:, 0], points[:, 0] > LENGTH - 1e-9
    beam = x**2 * (3 * LENGTH - x) / (6 * K * WIDTH)
    across = points[tip, 1]
    order = np.argsort(across)
    load = np.zeros(len(points))
    load[np.flatnonzero(tip)[order]] = np.gradient(across[order]) / WIDTH * [0.5, *[1] * (len(order) - 2), 0.5]
    clamped = x < 1.4 * np.diff(np.unique(MESHES["alternating"][0][:, 0]))[0]
    free, z = ~clamped, np.where(clamped, beam, 0)
    z[free] = spsolve(stiffness[free][:, free].tocsc(), load[free] - stiffness[free][:, clamped] @ beam[clamped])
    return float(np.mean(z[tip]) / beam[tip][0])


def corner_of_twisted_square(make, stiffness) -> float:
    """Rise of the loaded corner of a square of side 1 that three corners hold, over the plate's F / (2 K): z = x y."""
    points, triangles = make(12, 12, 1.0)
    corners = [int(np.argmin(np.abs(points[:, :2] - [x, y]).sum(axis=1))) for x, y in CORNERS]
    held = np.isin(np.arange(len(points)), corners[:3])
    z = spsolve(stiffness(points, triangles)[~held][:, ~held].tocsc(), (np.arange(len(points)) == corners[3])[~held])
    return float(z[np.flatnonzero(~held) == corners[3]][0] * 2 * K)


def quadratic_stiffness(points: np.ndarray, triangles: np.ndarray) -> sp.csr_matrix:
    pairs, weights = bending_pairs(plate_curvatures(points, triangles), K)
    half = sp.csr_matrix((-weights, pairs.T), (len(points),) * 2)
    full = half + half.T
    return (full - sp.diags(np.asarray(full.sum(axis=1)).ravel())).tocsr()


def hinge_stiffness(points: np.ndarray, triangles: np.ndarray) -> sp.csr_matrix:
    """Of heights, from the exact Hessians of hinges at rest."""
    found = hinges(triangles, len(points))
    angles, weights = hinge.rest_data(points, found)
    blocks = reference.hessians(HINGE, Hinges(found, angles, K * weights), points)[:, 2::3, 2::3]
    index = np.repeat(found, 4, axis=1).ravel(), np.tile(found, (1, 4)).ravel()
    return sp.csr_matrix((blocks.ravel(), index), (len(points),) * 2)


@every_mesh
def test_quadratic_bending_of_a_loaded_strip(name: str) -> None:
    """The end of a free strip sinks as a beam's, within 0.5 %: the rim is free to warp and does not."""
    assert deflection(name, quadratic_stiffness(*MESHES[name])) == pytest.approx(1.0, abs=0.005)


@pytest.mark.parametrize("make", [parallel, alternating, crossed, irregular])
def test_quadratic_bending_of_a_twisted_square(make) -> None:
    """Within 0.5 %, rim and corners included."""
    assert corner_of_twisted_square(make, quadratic_stiffness) == pytest.approx(1.0, abs=0.005)


def coupled_stiffness(points: np.ndarray, triangles: np.ndarray) -> sp.csr_matrix:
    """Of heights, from the exact Hessians at rest."""
    return stiffness_of(coupled_blocks(points, triangles), points)


def tearing_stiffness(points: np.ndarray, triangles: np.ndarray) -> sp.csr_matrix:
    """Of heights, of a sheet that tears."""
    sheet = pl.Scene().add_cloth(pl.TriMesh(points, triangles), pl.StableNeoHookean(1.0, 1.0), bending=K, tear_at=1.5)
    return stiffness_of(sheet.blocks(0)[1:], points)


def stiffness_of(blocks: list, points: np.ndarray) -> sp.csr_matrix:
    total = sp.csr_matrix((len(points),) * 2)
    for block in blocks:
        k = block.elements.shape[1]
        blocks = reference.hessians(element_of(block), block, points)[:, 2::3, 2::3]
        index = np.repeat(block.elements, k, axis=1).ravel(), np.tile(block.elements, (1, k)).ravel()
        total = total + sp.csr_matrix((blocks.ravel(), index), (len(points),) * 2)
    return total


@pytest.mark.parametrize("name", ["alternating", "long cells", "parallel", "crossed", "irregular"])
def test_coupled_bending_of_a_loaded_strip(name: str) -> None:
    """The end of a free strip sinks as a beam's, within 0.5 %, on every mesh."""
    assert deflection(name, coupled_stiffness(*MESHES[name])) == pytest.approx(1.0, abs=0.005)


@pytest.mark.parametrize("stiffness", [coupled_stiffness, tearing_stiffness], ids=["coupled", "tearing"])
@pytest.mark.parametrize("make", [parallel, alternating, crossed, irregular])
def test_folds_of_a_twisted_square(make, stiffness) -> None:
    """Sheets of coupled angles and those that tear: within 0.5 %."""
    assert corner_of_twisted_square(make, stiffness) == pytest.approx(1.0, abs=0.005)


@pytest.mark.parametrize("name", ["alternating", "two wide", "crossed", "irregular"])
def test_tearing_sheets_bend_as_beams(name: str) -> None:
    """The end of a loaded strip, within 0.5 %: the same form as that of sheets that do not, but at the rim."""
    points, triangles = MESHES[name]
    Q, whole = tearing_stiffness(points, triangles), quadratic_stiffness(points, triangles)
    assert deflection(name, Q) == pytest.approx(1.0, abs=0.005)
    inside = (np.abs(points[:, 0] - LENGTH / 2) < 0.4 * LENGTH) & (np.abs(points[:, 1]) < 0.2 * WIDTH)
    assert np.abs((Q - whole)[inside].data).max() < 1e-10 * np.abs(Q.data).max()


@pytest.mark.parametrize("name", ["alternating", "long cells", "parallel", "crossed", "irregular"])
@pytest.mark.parametrize("curvature", [0.1, 2 * np.pi], ids=["slightly", "full circle"])
def test_coupled_bending_of_a_rolled_strip(name: str, curvature: float) -> None:
    """Within 3 % on all meshes, up to the full circle; half a cell at either end does not bend."""
    assert relative(coupled_energy, name, curvature) == pytest.approx(1.0, abs=0.03)


def test_rest_of_a_curved_sheet_has_no_energy() -> None:
    """A strip that is a cylinder at rest; flattened it has the energy of the same change of curvature."""
    points, triangles = MESHES["alternating"]
    rolled = bent(points, 2.0, 0.0)
    expected = K / 2 * 2.0**2 * LENGTH * WIDTH
    assert abs(coupled_energy(rolled, triangles, rolled)) < 1e-20
    assert coupled_energy(rolled, triangles, points) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(("name", "expected"), [("alternating", 1.2), ("parallel", 1.2), ("irregular", 1.03)])
def test_hinges_of_a_loaded_strip_are_as_documented(name: str, expected: float) -> None:
    """Right triangles fold where no angle resists: a fifth too soft."""
    assert deflection(name, hinge_stiffness(*MESHES[name])) == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("sides", [12, 60])
def test_rod_bent_to_a_circle(sides: int) -> None:
    """k/2 curvature^2 times the length, 2 pi r, of a straight rod; within the polygon's own error (pi / n)^2."""
    radius, rigidity = 0.4, 0.02
    points, edges = pl.shapes.polygon(radius, sides)
    found = rod_bends(edges, sides)
    _, lengths = rod_bend.rest_data(points, found)
    energy = reference.energies(ROD_BEND, RodBends(found, np.zeros(sides), rigidity / lengths), points).sum()
    expected = rigidity / 2 / radius**2 * 2 * np.pi * radius
    assert energy == pytest.approx(expected, rel=(np.pi / sides) ** 2)


def test_rod_under_a_load_sinks_as_a_beam() -> None:
    """Cantilever of 40 segments: F L^3 / (3 k), from the exact Hessian at rest."""
    points, edges = pl.shapes.chain(1.0, 40)
    found = rod_bends(edges, 41)
    angles, lengths = rod_bend.rest_data(points, found)
    hessian = reference.hessians(ROD_BEND, RodBends(found, angles, 0.02 / lengths), points)[:, 2::3, 2::3]
    stiffness = np.zeros((41, 41))
    for vertices, block in zip(found, hessian, strict=True):
        stiffness[np.ix_(vertices, vertices)] += block
    height = points[:, 0] ** 2 * (3 - points[:, 0]) / (6 * 0.02)
    load = np.zeros(41)
    load[-1] = 1.0
    free = slice(2, None)
    sunk = np.linalg.solve(stiffness[free, free], load[free] - stiffness[free, :2] @ height[:2])
    assert sunk[-1] == pytest.approx(1 / (3 * 0.02), rel=1e-3)
