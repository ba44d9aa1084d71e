"""Blocks held at the top: the plainest scene that keeps a solver busy."""

from __future__ import annotations

from pliant.geometry import shapes
from pliant.materials import StableNeoHookean
from pliant.model import Scene


def cube(cells: int = 25) -> Scene:
    """A cube of 1 m and 1000 kg that hangs from its top face: Young's modulus 1e5 Pa, Poisson's ratio 0.45.

    It has 6 cells^3 tets, 93,750 by default. The benchmarks time solvers on it.
    """
    mesh = shapes.box((1.0, 1.0, 1.0), cells, split="kuhn")
    scene = Scene()
    body = scene.add_solid(mesh, StableNeoHookean.from_young(1e5, 0.45), density=1000.0, name="cube")
    z = mesh.points[:, 2]
    body.pin(z == z.max())
    return scene
