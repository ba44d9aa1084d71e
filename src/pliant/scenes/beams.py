"""Beams: one that is wrung until it buckles, one that hangs from a wall."""

from __future__ import annotations

from collections.abc import Sequence

from pliant.geometry import shapes
from pliant.materials import StableNeoHookean
from pliant.model import Scene
from pliant.model.motions import Turn


def twisted_beam(cells: Sequence[int] = (8, 8, 60), turns: float = 1.75, seconds: float = 1.2) -> Scene:
    """A soft upright beam, 0.16 x 0.16 x 1 m, clamped below, its top turned within so many seconds and then held.

    Wrung this far it buckles sideways soon after the top stops, and swings. 23,040 tets by default: Kuhn's, six
    per cell, with which it was recorded.
    """
    mesh = shapes.box((0.16, 0.16, 1.0), cells, split="kuhn")
    scene = Scene()
    beam = scene.add_solid(mesh, StableNeoHookean.from_young(2e5, 0.45), density=1000.0, name="beam")
    z = mesh.points[:, 2]
    top = z == z.max()
    beam.pin(z == z.min())
    beam.move(top, Turn(mesh.points[top], turns=turns, seconds=seconds))
    return scene


def hanging_beam(cells: Sequence[int] = (32, 8, 8), youngs_modulus: float = 1e6, damping: float = 0.0) -> Scene:
    """A level beam, 1 x 0.25 x 0.25 m, held at its left end and let go. Young's modulus [Pa], damping k_d [s].

    Of Kuhn's tets, 6 a cell, on which curves of `experiments/solvers` were measured.
    """
    mesh = shapes.beam(1.0, 0.25, 0.25, cells, split="kuhn")
    scene = Scene()
    material = StableNeoHookean.from_young(youngs_modulus, 0.45)
    beam = scene.add_solid(mesh, material, density=1000.0, damping=damping, name="beam")
    x = mesh.points[:, 0]
    beam.pin(x == x.min())
    return scene
