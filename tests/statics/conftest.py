"""A clamped beam that several tests share: one law, one mesh, one compiled kernel."""

from collections.abc import Callable

import numpy as np
import pytest

import pliant as pl

SIZE, CELLS = (1.0, 0.1, 0.1), (8, 1, 1)


def end(mesh: pl.TetMesh, side: int) -> np.ndarray:
    """Mask of the vertices at the lower (-1) or upper (1) end along x."""
    x = mesh.points[:, 0]
    return np.isclose(x, x.max() if side > 0 else x.min())


@pytest.fixture(scope="session")
def clamped_beam() -> Callable[..., tuple[pl.Scene, pl.Body]]:
    """A function: a beam along x whose lower end is pinned."""

    def make(
        youngs_modulus=1e6, size=SIZE, cells=CELLS, poissons_ratio=0.0, split="alternating", **options
    ) -> tuple[pl.Scene, pl.Body]:
        scene = pl.Scene(**options)
        mesh = pl.shapes.box(size, cells, split)
        body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(youngs_modulus, poissons_ratio), name="beam")
        body.pin(end(mesh, -1))
        return scene, body

    return make
