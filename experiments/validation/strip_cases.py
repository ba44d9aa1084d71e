"""Strips and plates that bend far: moment, self-weight, Sze's plate; and the frequencies of a beam."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.integrate import solve_bvp
from scipy.linalg import expm
from scipy.optimize import brentq
from scipy.sparse.linalg import eigsh

import pliant as pl

WIDTH, BENDING = 0.2, 1e-2


def clamped_strip(cells: int, bending_model: str | None, density: float = 0.2) -> tuple[pl.Scene, pl.Cloth, np.ndarray]:
    """A strip of 1 m from the middle between its two clamped rows, with rows (n,) of its vertices."""
    edge = 1.0 / (cells + 0.5)
    mesh = pl.shapes.cloth(((cells + 1) * edge, WIDTH), (cells + 1, max(1, cells // 5)))
    scene = pl.Scene(gravity=(0, 0, 0))
    law = pl.StableNeoHookean.from_young(1e5, 0.0)
    strip = scene.add_cloth(mesh, law, density, BENDING, bending_model=bending_model)
    row = np.rint((mesh.points[:, 0] - mesh.points[:, 0].min()) / edge).astype(int)
    strip.pin(row < 2)
    return scene, strip, row


def self_weight(bending_model: str) -> Callable[[int], float]:
    """Sag of the end under its own weight q with q L^3 / EI = 10."""

    def sag(cells: int) -> float:
        scene, strip, row = clamped_strip(cells, bending_model, density=10 * BENDING / 9.81)
        strip.gravity = (0.0, 0.0, -9.81)
        return -float(pl.equilibrium(scene).displacements[row == row.max(), 2].mean())

    return sag


def self_weight_truth(q: float = 10.0) -> float:
    """EI theta'' = -q (L - s) cos theta, theta(0) = 0, theta'(L) = 0, theta downwards; sag = integral of sin theta."""
    s = np.linspace(0, 1, 200)

    def rate(s, y):
        return np.stack([y[1], -q * (1 - s) * np.cos(y[0]), np.sin(y[0])])

    def ends(a, b):
        return np.array([a[0], b[1], a[2]])

    found = solve_bvp(rate, ends, s, np.zeros((3, len(s))), tol=1e-9, max_nodes=100_000)
    return float(found.y[2, -1])


def turned_by_moment(cells: int) -> float:
    """Turn of the end over 2 pi, mean over the width, under the moment 2 pi EI / L.

    The moment's forces are the same on the three vertices of a row, where half of the width belongs to the middle one:
    beside the end the rims are bent more than the middle. The mean by widths is free of it.
    """
    edge = 1.0 / cells
    mesh = pl.shapes.cloth(((cells + 1) * edge, 0.1), (cells + 1, 2))
    scene = pl.Scene(gravity=(0, 0, 0))
    strip = scene.add_cloth(mesh, pl.StableNeoHookean.from_young(1e4, 0.0), 0.2, BENDING)
    x = mesh.points[:, 0]
    strip.pin(x < x.min() + 1.5 * edge)
    strip.add_moment(x > x.max() - 1.5 * edge, (0, -2 * np.pi * BENDING * 0.1, 0))
    edges = np.diff(pl.equilibrium(scene).positions.reshape(cells + 2, 3, 3), axis=0)
    angles = np.unwrap(np.arctan2(edges[..., 2], edges[..., 0]), axis=0)
    return float((angles[-1] - angles[0]) @ [0.25, 0.5, 0.25] / (2 * np.pi))


def sze_plate(bending_model: str) -> Callable[[int], float]:
    """Rise [m] of the end of Sze's cantilever plate: 10 m x 1 m x 0.1 m, E = 1.2 MPa, nu = 0, P = 4 N."""

    def rise(cells: int) -> float:
        edge = 10.0 / (cells + 0.5)
        mesh = pl.shapes.cloth(((cells + 1) * edge, 1.0), (cells + 1, max(2, cells // 10)))
        scene = pl.Scene(gravity=(0, 0, 0))
        law = pl.StableNeoHookean.from_young(1.2e6 * 0.1, 0.0)
        plate = scene.add_cloth(mesh, law, 100.0, 1.2e6 * 0.1**3 / 12, bending_model=bending_model)
        x, y = mesh.points[:, 0], mesh.points[:, 1]
        plate.pin(x < x.min() + 1.5 * edge)
        tip = np.isclose(x, x.max())
        share = np.where(tip, np.where(np.isclose(np.abs(y), 0.5), 0.5, 1.0), 0.0)
        forces = np.outer(share / share.sum(), [0, 0, 4.0])
        plate.add_force(lambda positions, v, t: forces)
        return float(pl.equilibrium(scene).displacements[tip, 2].mean())

    return rise


def frequency(number: int) -> Callable[[int], float]:
    """[Hz] of the first (0) or second (1) bending mode of a clamped beam of patches, 1 m x 0.05 m x 0.05 m, E = 10 MPa,
    nu = 0, 1000 kg/m^3; each mode is there twice.
    """

    def of_cells(cells: int) -> float:
        mesh = pl.shapes.box((1.0, 0.05, 0.05), (20 * cells, cells, cells))
        scene = pl.Scene(gravity=(0, 0, 0))
        beam = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e7, 0.0), element="patch")
        beam.pin(np.isclose(mesh.points[:, 0], -0.5))
        sim = pl.Simulation(scene, pl.Newton(), frame_rate=1, substeps=1, precision="double")
        return float(vibrations(sim, 2 * number + 2)[0][2 * number] / (2 * np.pi))

    return of_cells


def vibrations(sim: pl.Simulation, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The lowest angular frequencies (count,) [1/s] about rest, modes (count, n, 3); the step has to be 1 s."""
    free = np.repeat(sim.model.is_free, 3)
    inertia = sp.diags(np.repeat(sim.model.mass, 3)[free]).tocsc()
    stiffness = (sim.problem().hessian(sim.positions).tocsc()[free][:, free] - inertia).tocsc()
    squares, vectors = eigsh(stiffness, count, inertia, sigma=0.0, v0=np.ones(stiffness.shape[0]))
    order = np.argsort(squares)
    modes = np.zeros((count, len(free)))
    modes[:, free] = vectors[:, order].T
    return np.sqrt(squares[order]), modes.reshape(count, -1, 3)


def frequency_truth(number: int) -> float:
    """[Hz] of Timoshenko's beam, k = 5/6: w' = phi + Q / (k G A), phi' = M / (E I), M' = -Q - rho I w^2 phi,
    Q' = -rho A w^2 w, clamped at 0, M = Q = 0 at 1 m; near Euler and Bernoulli's frequency, below it.
    """
    modulus, density, area = 1e7, 1000.0, 0.05**2
    bending = area**2 / 12
    shear = 5 / 6 * modulus / 2 * area

    def at_the_end(omega: float) -> float:
        rates = np.zeros((4, 4))
        rates[0, 1], rates[0, 3], rates[1, 2] = 1.0, 1 / shear, 1 / (modulus * bending)
        rates[2, 1], rates[2, 3], rates[3, 0] = -density * bending * omega**2, -1.0, -density * area * omega**2
        return float(np.linalg.det(expm(rates)[2:, 2:]))

    plain = (1.875104, 4.694091)[number] ** 2 * np.sqrt(modulus * bending / (density * area))
    return float(brentq(at_the_end, 0.95 * plain, plain) / (2 * np.pi))


def twisted_square(cells: int) -> float:
    """Rise of the loaded corner of a square sheet that three corners hold, times 2 k / (F L^2)."""
    side, load = 1.0, 1e-3 * BENDING
    mesh = pl.shapes.cloth((side, side), (cells, cells))
    scene = pl.Scene(gravity=(0, 0, 0))
    sheet = scene.add_cloth(mesh, pl.StableNeoHookean.from_young(1e3, 0.0), 0.2, BENDING)
    at = [int(np.argmin(np.abs(mesh.points[:, :2] - [x, y]).sum(axis=1))) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    sheet.pin(at[0])
    sheet.pin(at[1], components="xz")
    sheet.pin(at[2], components="z")
    forces = np.zeros((mesh.n_vertices, 3))
    forces[at[3], 2] = load
    sheet.add_force(lambda positions, v, t: forces)
    return float(pl.equilibrium(scene).displacements[at[3], 2] * 2 * BENDING / (load * side**2))
