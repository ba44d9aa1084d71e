"""Textbook cases: the truth, where it is from, and what Pliant computes with more and more cells.

A case is a function of the number of cells; every number comes from pl.equilibrium with its default settings.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from experiments.validation import (
    balloon_cases,
    friction_cases,
    irregular_cases,
    limit_cases,
    motion_cases,
    strip_cases,
)
from experiments.validation.case import Case
from scipy.optimize import brentq

import pliant as pl

# --- solids ---------------------------------------------------------------------------------------------------------


def hanging_bar(cells: int) -> float:
    """Lengthening of a bar of 1 m that hangs by its end, E = 10 MPa, nu = 0."""
    mesh = pl.shapes.box((1.0, 0.1, 0.1), (cells, 1, 1))
    scene = pl.Scene(gravity=(9.81, 0, 0))
    bar = scene.add_solid(mesh, pl.Corotated.from_young(1e7, 0.0))
    bar.pin(np.isclose(mesh.points[:, 0], -0.5))
    found = pl.equilibrium(scene)
    return float(found.displacements[np.isclose(mesh.points[:, 0], 0.5), 0].mean())


def cantilever(split: str, element: str = "linear") -> Callable[[int], float]:
    """Sag of the end of a square beam, 1 m x 0.1 m x 0.1 m, nu = 0, so stiff that it is linear."""

    def sag(cells: int) -> float:
        mesh = pl.shapes.box((1.0, 0.1, 0.1), (10 * cells, cells, cells), split)
        scene = pl.Scene()
        beam = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e9, 0.0), element=element)
        beam.pin(np.isclose(mesh.points[:, 0], -0.5))
        found = pl.equilibrium(scene)
        return -float(found.displacements[np.isclose(mesh.points[:, 0], 0.5), 2].mean())

    return sag


def bent_beam(cells: int) -> float:
    """Sag of the end of a square beam, 1 m x 0.1 m x 0.1 m, under a moment of 1 N m at its end, nu = 0."""
    mesh = pl.shapes.box((1.0, 0.1, 0.1), (10 * cells, cells, cells))
    scene = pl.Scene(gravity=(0, 0, 0))
    beam = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e9, 0.0), element="patch")
    beam.pin(np.isclose(mesh.points[:, 0], -0.5))
    end = np.isclose(mesh.points[:, 0], 0.5)
    beam.add_moment(end, (0.0, 1.0, 0.0))
    return -float(pl.equilibrium(scene).displacements[end, 2].mean())


def timoshenko_sag(E: float = 1e9, side: float = 0.1, density: float = 1000.0) -> float:
    """q L^4 / (8 E I) + q L^2 / (2 k G A) with k = 5/6, nu = 0, L = 1 m."""
    area, q = side**2, density * side**2 * 9.81
    return q / (8 * E * side**4 / 12) + q / (2 * 5 / 6 * E / 2 * area)


def cook(cells: int) -> float:
    """Rise of Cook's membrane with free faces, nu = 1/3."""
    return cook_rise(cells, 1 / 3, "linear", flat=False)


def cook_incompressible(element: str) -> Callable[[int], float]:
    """Rise of Cook's membrane in plane strain, nu = 0.4999."""
    return lambda cells: cook_rise(cells, 0.4999, element, flat=True)


def cook_rise(cells: int, nu: float, element: str, flat: bool) -> float:
    """Rise of the middle of the loaded edge of Cook's membrane over load / (E thickness), in a slab one cell thick;
    flat: without motion across it.
    """
    unit = pl.shapes.box((1.0, 1.0, 1.0), (cells, cells, 1))
    s, t, z = (unit.points + 0.5).T
    points = np.stack([48 * s, 44 * s + t * (44 - 28 * s), z * 48 / cells], axis=1)
    scene = pl.Scene(gravity=(0, 0, 0))
    law = pl.StableNeoHookean.from_young(1.0, nu)
    body = scene.add_solid(pl.TetMesh(points, unit.tets), law, density=1.0, element=element)
    if flat:
        body.constrain_to_plane(s >= 1e-9, (0, 0, 1))
    body.pin(s < 1e-9)
    right, load = s > 1 - 1e-9, 1e-4
    share = np.where(right, np.where((t < 1e-9) | (t > 1 - 1e-9), 0.5, 1.0), 0.0)
    forces = np.outer(share / share.sum(), [0, load * 48 / cells, 0])
    body.add_force(lambda x, v, time: forces)
    found = pl.equilibrium(scene)
    return float(found.displacements[right & np.isclose(t, 0.5), 1].mean() / load)


# --- ropes and sheets -----------------------------------------------------------------------------------------------


def catenary_sag(cells: int) -> float:
    """Sag of a rope of 1 m whose ends are 0.6 m apart."""
    points, edges = pl.shapes.chain(length=1.0, segments=cells)
    scene = pl.Scene()
    rope = scene.add_springs(points, edges, stiffness=1e6 * cells, mass=1.0 / cells)
    s = np.linspace(-1, 1, cells + 1)
    rope.set_positions(np.stack([0.3 * s, 0 * s, 0.3 * (s**2 - 1)], axis=1))
    rope.pin([0, cells])
    return -float(pl.equilibrium(scene).positions[:, 2].min())


def catenary_truth() -> float:
    a = brentq(lambda a: 2 * a * np.sinh(0.3 / a) - 1, 0.05, 2)
    return float(a * (np.cosh(0.3 / a) - 1))


def elastica(load: float, bending_model: str) -> Callable[[int], float]:
    """Sag of the end of a clamped strip over its length, under the end load P with P L^2 / (E I) = load.

    Two rows of pinned vertices hold position and slope. A row bends over half an edge to either side, so that the free
    strip begins in the middle between the two rows.
    """

    def sag(cells: int) -> float:
        edge, width, bending = 1.0 / (cells + 0.5), 0.2, 1e-2
        mesh = pl.shapes.cloth(((cells + 1) * edge, width), (cells + 1, max(1, cells // 5)))
        scene = pl.Scene(gravity=(0, 0, 0))
        law = pl.StableNeoHookean.from_young(1e5, 0.0)
        strip = scene.add_cloth(mesh, law, 0.2, bending, bending_model=bending_model)
        x, y = mesh.points[:, 0], mesh.points[:, 1]
        strip.pin(x < x.min() + 1.5 * edge)
        tip = np.isclose(x, x.max())
        share = np.where(tip, np.where(np.isclose(np.abs(y), width / 2), 0.5, 1.0), 0.0)
        forces = np.outer(share / share.sum(), [0, 0, -load * bending * width])
        strip.add_force(lambda positions, v, t: forces)
        return -float(pl.equilibrium(scene).displacements[tip, 2].mean())

    return sag


def plane_stress_strain(cells: int) -> float:
    """Strain of a pulled strip times E w / F, Poisson's ratio 0.45."""
    mesh = pl.shapes.cloth((1.0, 0.4), (cells, max(1, cells // 2)))
    scene = pl.Scene(gravity=(0, 0, 0))
    strip = scene.add_cloth(mesh, pl.plane_stress(pl.StableNeoHookean.from_young(1e3, 0.45)), bending=0.0)
    x, y = mesh.points[:, 0], mesh.points[:, 1]
    left, right = np.isclose(x, -0.5), np.isclose(x, 0.5)
    corner = left & np.isclose(y, -0.2)
    strip.pin(corner)
    strip.constrain_to_line(left & ~corner, (0, 1, 0))
    strip.constrain_to_plane(~left, (0, 0, 1))
    share = np.where(right, np.where(np.isclose(np.abs(y), 0.2), 0.5, 1.0), 0.0)
    forces = np.outer(share / share.sum(), [0.01, 0, 0])
    strip.add_force(lambda positions, v, t: forces)
    found = pl.equilibrium(scene)
    return float(found.displacements[right, 0].mean() / (0.01 / (1e3 * 0.4)))


# --- contact --------------------------------------------------------------------------------------------------------


def resting_block(cells: int) -> float:
    """Force on the ground over the weight of a block that was let go above it."""
    mesh = pl.shapes.box((0.2, 0.2, 0.2), (cells, cells, cells))
    scene = pl.Scene()
    block = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3))
    block.set_positions(mesh.points + np.array([0, 0, 0.15]))
    scene.add_plane((0, 0, 0), (0, 0, 1))
    return -float(pl.equilibrium(scene).contacts.force_on_obstacle(0)[2] / (0.008 * 9810))


ELASTICA = {1: 0.30172, 2: 0.49346, 5: 0.71379, 10: 0.81061}  # Mattiasson 1981, w / L


def _elastica_case(load: int, model: str, cells: tuple[int, ...], tolerance: float) -> Case:
    name = f"elastica, P L^2 / EI = {load}, {model} bending"
    return Case(name, "sag / L", ELASTICA[load], "Mattiasson 1981", elastica(load, model), cells, tolerance)


CASES = (
    Case("hanging bar", "lengthening [m]", 1000 * 9.81 / 2e7, "rho g L^2 / (2 E)", hanging_bar, (4, 8, 16), 2e-3),
    *(
        Case(f"cantilever, {split}", "sag [m]", timoshenko_sag(), "Timoshenko beam", cantilever(split), (2, 4, 8), 0.06)
        for split in ("alternating", "centred", "kuhn")
    ),
    *(
        Case(
            f"cantilever, {split}, patches",
            "sag [m]",
            timoshenko_sag(),
            "Timoshenko beam",
            cantilever(split, "patch"),
            (2, 4, 6),
            0.01,
        )
        for split in ("alternating", "kuhn")
    ),
    *(
        Case(
            f"Cook's membrane, nu = 0.4999, {name}",
            "rise",
            18.50,
            "mean dilatation, extrapolated",
            cook_incompressible(element),
            (8, 16, 32),
            bound,
        )
        for name, element, bound in (("linear tets", "linear", 0.75), ("patches", "patch", 0.01))
    ),
    Case("beam bent by a moment, patches", "sag [m]", 6.0e-5, "M L^2 / (2 E I)", bent_beam, (2, 4, 6), 0.015),
    Case("Cook's membrane, nu = 1/3", "rise", 23.96, "Cook 1974; 23.96", cook, (8, 16, 32), 0.04),
    Case("catenary", "sag [m]", catenary_truth(), "2 a sinh(d / 2a) = L", catenary_sag, (20, 40, 80), 1e-3),
    *(_elastica_case(load, "quadratic", (10, 20, 40), 0.002) for load in ELASTICA),
    _elastica_case(1, "dihedral", (10, 20), 0.3),
    *(_elastica_case(load, "coupled", (10, 20), 0.01) for load in (1, 10)),
    *(
        Case(
            f"elastica under its own weight, q L^3 / EI = 10, {model} bending",
            "sag / L",
            strip_cases.self_weight_truth(),
            "boundary value problem",
            strip_cases.self_weight(model),
            (10, 20),
            bound,
        )
        for model, bound in (("quadratic", 0.002), ("coupled", 0.01))
    ),
    Case("strip bent by a moment", "turn / 2 pi", 1.0, "2 pi EI / L", strip_cases.turned_by_moment, (20, 40, 80), 2e-3),
    *(
        Case(
            f"Sze's plate, {model} bending",
            "rise [m]",
            6.698,
            "Sze et al. 2004",
            strip_cases.sze_plate(model),
            (10, 20),
            0.05,
        )
        for model in ("quadratic", "coupled")
    ),
    *irregular_cases.CASES,
    Case("twisted square sheet", "rise 2 k / (F L^2)", 1.0, "plate", strip_cases.twisted_square, (6, 12), 0.01),
    Case(
        "arch of two bars that snaps",
        "load [N]",
        limit_cases.snap_load_truth(),
        "maximum of 2 k (L - l) z / l",
        limit_cases.snap_load,
        (10, 20, 40),
        2e-3,
        "steps",
    ),
    Case(
        "overhang of four bricks",
        "lengths",
        limit_cases.overhang_truth(),
        "sum of 1 / (2 k)",
        limit_cases.overhang,
        (2, 4),
        5e-3,
        "substeps",
    ),
    Case(
        "beam's first frequency, patches",
        "[Hz]",
        strip_cases.frequency_truth(0),
        "Timoshenko beam",
        strip_cases.frequency(0),
        (2, 4, 6),
        0.01,
    ),
    Case(
        "beam's second frequency, patches",
        "[Hz]",
        strip_cases.frequency_truth(1),
        "Timoshenko beam",
        strip_cases.frequency(1),
        (2, 4, 6),
        0.02,
    ),
    Case("pulled sheet, nu = 0.45", "strain E w / F", 1.0, "plane stress", plane_stress_strain, (4,), 1e-3),
    Case(
        "balloon",
        "stretch",
        balloon_cases.balloon_truth(),
        "p R = psi'(l) / l^2",
        balloon_cases.balloon_stretch,
        (2, 4, 8),
        0.002,
    ),
    Case(
        "balloon of eight times its volume",
        "pressure [Pa]",
        balloon_cases.inflation(2.0) / 0.2,
        "p R = psi'(l) / l^2",
        balloon_cases.balloon_pressure,
        (2, 4, 8),
        0.005,
    ),
    Case("block at rest", "force / weight", 1.0, "balance", resting_block, (2, 3), 1e-5),
    Case(
        "box on a slope of 30 degrees",
        "acceleration [m/s^2]",
        float(9.81 * (0.5 - 0.3 * np.sqrt(0.75))),
        "g (sin - mu cos)",
        motion_cases.sliding,
        (5, 10),
        1e-3,
        "substeps",
    ),
    Case(
        "ball on a slope of 20 degrees",
        "acceleration [m/s^2]",
        float(5 / 7 * 9.81 * np.sin(np.radians(20))),
        "5/7 g sin",
        motion_cases.rolling,
        (5, 10),
        1e-3,
        "substeps",
    ),
    Case(
        "capstan, half a turn, friction 0.3",
        "tension / load",
        friction_cases.capstan_truth(),
        "exp(mu phi)",
        friction_cases.capstan,
        (16, 32, 64),
        0.01,
    ),
    Case(
        "ball hit by another",
        "speed [m/s]",
        1.0,
        "momentum and energy",
        motion_cases.collision,
        (5, 10),
        1e-5,
        "substeps",
    ),
    Case(
        "box spun about its middle axis",
        "first flip [s]",
        motion_cases.flip_truth(),
        "Euler's equations",
        motion_cases.flip_time("euler"),
        (5, 10, 20),
        0.01,
        "substeps",
    ),
    Case(
        "the same, BDF2",
        "first flip [s]",
        motion_cases.flip_truth(),
        "Euler's equations",
        motion_cases.flip_time("bdf2"),
        (5, 10, 20),
        1e-3,
        "substeps",
    ),
)
