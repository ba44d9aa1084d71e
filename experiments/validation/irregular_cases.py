"""Strips and plates of irregular and crossed triangles bent far: flat, curved at rest, and those that could tear."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from experiments.validation.case import Case
from experiments.validation.strip_cases import BENDING, WIDTH
from scipy.integrate import solve_bvp
from scipy.spatial import Delaunay

import pliant as pl

SHIFT = 0.35  # of a cell, by which vertices are moved at most
ARC = np.pi / 2  # [rad] that the curved strip turns at rest
KINDS = ("flat", "coupled", "tearing")
HOLDS = 10.0  # stretch at which what could tear would
STIFF, SOFT = 1e5, 1e3  # [N/m] membranes: as thick as 0.0011 and 0.011 of a length of 1 m


def irregular_strip(
    length: float, width: float, cells: int, across: int, shift: float = SHIFT, draw: int = 0
) -> tuple[pl.TriMesh, np.ndarray]:
    """Delaunay triangles of a grid whose vertices are moved at random by up to the part `shift` of a cell, those of the
    long rims along them; x is 0 in the middle between the first two rows, which are clamped and straight, and `length`
    at the last, which is straight too. With rows (n,) of its vertices.
    """
    edge = length / (cells + 0.5)
    grid = pl.shapes.cloth(((cells + 1) * edge, width), (cells + 1, across)).points
    points = grid + np.array([0.5 * length - 0.25 * edge, 0, 0])
    row = np.rint((points[:, 0] + 0.5 * edge) / edge).astype(int)
    is_inside = np.stack([(row > 1) & (row < row.max())] * 2, axis=1)
    is_inside[:, 1] &= np.abs(points[:, 1]) < 0.499 * width
    moves = np.random.default_rng(draw).uniform(-shift, shift, (len(points), 2))
    points[:, :2] += moves * [edge, width / across] * is_inside
    triangles = Delaunay(points[:, :2]).simplices.astype(np.int64)
    corner = points[triangles]
    double = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])[:, 2]
    triangles[double < 0] = triangles[double < 0][:, ::-1]
    return pl.TriMesh(points, triangles[np.abs(double) > 1e-9 * edge * edge]), row


def crossed_strip(length: float, width: float, cells: int, across: int) -> tuple[pl.TriMesh, np.ndarray]:
    """Cells of four triangles around their middle, with a column of cells before them whose vertices are clamped; x is
    0 in the middle between the last two rows of these, `length` at the last row. With rows (n,) of its vertices.
    """
    edge = length / (cells + 0.25)
    points = pl.shapes.cloth(((cells + 1) * edge, width), (cells + 1, across)).points
    points = points + np.array([0.5 * (cells + 1) * edge - 0.75 * edge, 0, 0])
    row = np.repeat(np.arange(cells + 2.0), across + 1)
    vertex = np.arange(len(points)).reshape(cells + 2, across + 1)
    a, b, c, d = (v.ravel() for v in (vertex[:-1, :-1], vertex[1:, :-1], vertex[1:, 1:], vertex[:-1, 1:]))
    middle = len(points) + np.arange(len(a))
    triangles = np.concatenate([np.stack((u, v, middle), axis=1) for u, v in ((a, b), (b, c), (c, d), (d, a))])
    mesh = pl.TriMesh(np.concatenate((points, 0.5 * (points[a] + points[c]))), triangles)
    return mesh, np.concatenate((row, 0.5 * (row[a] + row[c])))


def tip_shares(y: np.ndarray, tip: np.ndarray) -> np.ndarray:
    """(n,) parts of a load that is spread evenly over the edge of the vertices `tip`."""
    order = np.flatnonzero(tip)[np.argsort(y[tip])]
    shares, gaps = np.zeros(len(y)), np.diff(y[order])
    np.add.at(shares, order[:-1], 0.5 * gaps)
    np.add.at(shares, order[1:], 0.5 * gaps)
    return shares / shares.sum()


def _height(
    mesh: pl.TriMesh, row: np.ndarray, law: pl.StableNeoHookean, bending: float, load: float, kind: str
) -> float:
    """[m] by which a load [N] upwards lifts the last row.

    What could tear has no static solve: it takes one long step of implicit Euler.
    """
    scene = pl.Scene(gravity=(0, 0, 0))
    options = {"bending_model": "coupled"} if kind == "coupled" else {"tear_at": HOLDS} if kind == "tearing" else {}
    sheet = scene.add_cloth(mesh, law, 0.2, bending, **options)
    sheet.pin(row <= 1)
    tip = row == row.max()
    forces = np.outer(tip_shares(mesh.points[:, 1], tip), [0, 0, load])
    sheet.add_force(lambda positions, v, t: forces)
    if kind == "tearing":
        sim = pl.Simulation(scene, pl.Newton(iterations=500), 1e-3, 1, "double")
        sim.step()
        return float((sim.positions - mesh.points)[tip, 2].mean())
    return float(pl.equilibrium(scene).displacements[tip, 2].mean())


def elastica(load: float, kind: str) -> Callable[[int], float]:
    """Deflection over length of a strip under the load P at its end, P L^2 / EI = load."""

    def rise(cells: int) -> float:
        mesh, row = irregular_strip(1.0, WIDTH, cells, max(2, cells // 5))
        law = pl.StableNeoHookean.from_young(STIFF, 0.0)
        return _height(mesh, row, law, BENDING, load * BENDING * WIDTH, kind)

    return rise


def sze_plate(kind: str) -> Callable[[int], float]:
    """Rise [m] of the end of Sze's cantilever plate: 10 m x 1 m x 0.1 m, E = 1.2 MPa, nu = 0, P = 4 N."""

    def rise(cells: int) -> float:
        mesh, row = irregular_strip(10.0, 1.0, cells, max(2, cells // 10))
        return _height(mesh, row, pl.StableNeoHookean.from_young(1.2e5, 0.0), 1.2e6 * 0.1**3 / 12, 4.0, kind)

    return rise


def crossed_elastica(load: float, young: float, kind: str) -> Callable[[int], float]:
    """As `elastica`, of crossed cells twice as long as wide and a membrane of `young` [N/m]: the four triangles of a
    cell lock where it is bent far and does not stretch.
    """

    def rise(cells: int) -> float:
        across = max(4, 2 * cells // 5)
        mesh, row = crossed_strip(1.0, across / (2 * cells), cells, across)
        width = float(np.ptp(mesh.points[:, 1]))
        return _height(mesh, row, pl.StableNeoHookean.from_young(young, 0.0), BENDING, load * BENDING * width, kind)

    return rise


def crossed_sze(cells: int) -> float:
    """As `sze_plate`, of crossed cells twice as long as wide."""
    mesh, row = crossed_strip(10.0, 1.0, cells, max(2, cells // 5))
    return _height(mesh, row, pl.StableNeoHookean.from_young(1.2e5, 0.0), 1.2e6 * 0.1**3 / 12, 4.0, "flat")


def crossed_curve(load: float) -> Callable[[int], float]:
    """As `curved_strip`, of crossed cells twice as long as wide."""

    def sag(cells: int) -> float:
        across = max(4, 2 * cells // 5)
        flat, row = crossed_strip(1.0, across / (2 * cells), cells, across)
        width = float(np.ptp(flat.points[:, 1]))
        law = pl.StableNeoHookean.from_young(SOFT, 0.0)
        return -_height(rolled(flat, ARC), row, law, BENDING, -load * BENDING * width, "flat")

    return sag


def rolled(flat: pl.TriMesh, arc: float) -> pl.TriMesh:
    """A sheet on a cylinder that turns by arc [rad] over 1 m along x."""
    s, y = flat.points[:, 0], flat.points[:, 1]
    return pl.TriMesh(np.column_stack((np.sin(arc * s) / arc, y, (1 - np.cos(arc * s)) / arc)), flat.triangles)


def curved_strip(load: float, shift: float = SHIFT) -> Callable[[int], float]:
    """Deflection over length of a strip that is a quarter of a circle at rest, bending upwards, pulled down by a load P
    at its end, P L^2 / EI = load. It is as thick as 0.0035 L: thinner ones lock where their curved triangles are few.
    """

    def sag(cells: int) -> float:
        flat, row = irregular_strip(1.0, WIDTH, cells, max(2, cells // 5), shift)
        law = pl.StableNeoHookean.from_young(1e4, 0.0)
        return -_height(rolled(flat, ARC), row, law, BENDING, -load * BENDING * WIDTH, "flat")

    return sag


def curved_truth(load: float) -> float:
    """EI theta'' = P cos theta, theta(0) = 0, theta'(L) = the curvature at rest; height = integral of sin theta."""
    s = np.linspace(0, 1, 200)

    def rate(s, y):
        return np.stack([y[1], load * np.cos(y[0]), np.sin(y[0])])

    def ends(a, b):
        return np.array([a[0], b[1] - ARC, a[2]])

    found = solve_bvp(rate, ends, s, np.stack([ARC * s, ARC + 0 * s, s * s]), tol=1e-9, max_nodes=100_000)
    return float((1 - np.cos(ARC)) / ARC - found.y[2, -1])


_NAMES = {
    "flat": "irregular triangles",
    "coupled": "irregular triangles, coupled bending",
    "tearing": "the same, could tear",
}
CASES = (
    *(
        Case(
            f"elastica, P L^2 / EI = {load}, {_NAMES[kind]}",
            "sag / L",
            truth,
            "Mattiasson 1981",
            elastica(load, kind),
            (10, 20, 40),
            0.01,
        )
        for load, truth in ((1, 0.30172), (10, 0.81061))
        for kind in KINDS
    ),
    *(
        Case(f"Sze's plate, {_NAMES[kind]}", "rise [m]", 6.698, "Sze et al. 2004", sze_plate(kind), (10, 20, 40), bound)
        for kind, bound in (("flat", 0.01), ("coupled", 0.01), ("tearing", 0.01))
    ),
    *(
        Case(
            f"quarter circle pulled down, P L^2 / EI = {load}, {triangles} triangles",
            "sag / L",
            curved_truth(load),
            "boundary value problem",
            curved_strip(load, shift),
            (10, 20, 40),
            bound,
        )
        for load, triangles, shift, bound in (
            (1, "regular", 0.0, 0.005),
            (1, "irregular", SHIFT, 0.01),
            (5, "irregular", SHIFT, 0.01),
        )
    ),
    *(
        Case(
            f"elastica, P L^2 / EI = 10, crossed cells 2 : 1, membrane {young:.0f} N/m{more}",
            "sag / L",
            0.81061,
            "Mattiasson 1981",
            crossed_elastica(10, young, kind),
            cells,
            bound,
        )
        for young, kind, more, cells, bound in (
            (STIFF, "flat", " as above", (10, 20, 40), 0.035),
            (SOFT, "flat", "", (10, 20), 0.02),
            (SOFT, "tearing", ", could tear", (10, 20), 0.02),
        )
    ),
    Case("Sze's plate, crossed cells 2 : 1", "rise [m]", 6.698, "Sze et al. 2004", crossed_sze, (10, 20), 0.03),
    Case(
        f"quarter circle pulled down, P L^2 / EI = 1, crossed cells 2 : 1, membrane {SOFT:.0f} N/m",
        "sag / L",
        curved_truth(1),
        "boundary value problem",
        crossed_curve(1),
        (10, 20),
        0.05,
    ),
)
