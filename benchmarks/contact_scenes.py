"""Scenes full of contact: a pile of soft cubes, a cloth dropped on a sphere, and layers of cloth."""

from __future__ import annotations

import numpy as np

import pliant as pl

H = 1 / 300
GRAVITY = (0.0, 0.0, -9.81)
YOUNG, POISSON, DENSITY = 5e4, 0.4, 1000.0
CUBE, GAP, SHIFT = 0.1, 5e-4, 0.02  # [m] edge of a cube, free way around it, shift of every other layer
STIFFNESS, FRICTION, FRICTION_SPEED = 1e4, 0.3, 1e-2
CLOTH_MU, CLOTH_LAM, CLOTH_DENSITY, BENDING = 300.0, 200.0, 0.2, 1e-4
CLOTH_STIFFNESS, RADIUS = 1e3, 0.25
THICKNESS = 2e-3  # [m] of cloth, and distance at which Newton's contacts begin


def pile(side: int, cells: tuple[int, int, int] = (6, 6, 7)) -> pl.Scene:
    """side^3 cubes in layers on the ground, each on up to four others and touching those beside it."""
    mesh = pl.shapes.box(size=(CUBE,) * 3, cells=cells, split="kuhn")
    scene = pl.Scene(gravity=GRAVITY)
    scene.contact = pl.Contact(stiffness=STIFFNESS, friction=FRICTION, friction_speed=FRICTION_SPEED)
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=FRICTION)
    material = pl.StableNeoHookean.from_young(YOUNG, POISSON)
    for i, j, k in np.ndindex(side, side, side):
        sideways = SHIFT if k % 2 else 0.0
        place = np.array([i, j, k + 0.5]) * (CUBE + GAP) + [sideways, sideways, 0.0]
        scene.add_solid(pl.TetMesh(mesh.points + place, mesh.tets), material, DENSITY)
    return scene


def draped(cells: int = 128) -> pl.Scene:
    """A square metre of cloth falling on a sphere, touching itself in folds."""
    mesh = pl.shapes.cloth(size=(1, 1), cells=(cells, cells))
    scene = pl.Scene(gravity=GRAVITY)
    scene.contact = pl.Contact(
        stiffness=CLOTH_STIFFNESS, friction=FRICTION, friction_speed=FRICTION_SPEED, thickness=THICKNESS
    )
    scene.add_sphere((0, 0, 0), RADIUS, friction=FRICTION)
    sheet = scene.add_cloth(
        mesh, pl.StableNeoHookean(CLOTH_MU, CLOTH_LAM), CLOTH_DENSITY, BENDING, bending_model="dihedral"
    )
    sheet.set_positions(mesh.points + np.array([0.0, 0.0, RADIUS + THICKNESS]))
    return scene


def layers(count: int, cells: int = 69) -> pl.Scene:
    """Sheets of half a metre fall on a sphere and on each other, with the guarantee and no numbers of contact; 50
    of them have 245,000 vertices and 476,100 triangles.
    """
    mesh = pl.shapes.cloth(size=(0.5, 0.5), cells=(cells, cells))
    scene = pl.Scene(gravity=GRAVITY, contact=pl.Contact(guarantee=True))
    scene.add_sphere((0, 0, 0), 0.5 * RADIUS)
    gap = 0.2 * 0.5 / cells  # twice the thickness
    for k in range(count):
        turned = mesh.transformed(rotation=_turn(0.4 * k))
        sheet = scene.add_cloth(turned, pl.StableNeoHookean(CLOTH_MU, CLOTH_LAM), CLOTH_DENSITY, BENDING)
        sheet.set_positions(turned.points + np.array([0.0, 0.0, 0.5 * RADIUS + (k + 1) * gap]))
    return scene


def _turn(angle: float) -> np.ndarray:
    """About the vertical by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
