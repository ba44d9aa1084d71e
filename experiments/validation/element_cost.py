"""Error against time of the two elements of solids: how many tets and how much processor time an error costs."""

from __future__ import annotations

import time

import numpy as np
from experiments.validation.cases import timoshenko_sag

import pliant as pl

CELLS = {"linear": (2, 4, 8, 13), "patch": (2, 3, 4, 6)}


def sag(element: str, cells: int) -> dict[str, float]:
    """Tets, relative error of the sag and processor time [s] of a square cantilever of 10 : 1 under its own weight,
    nu = 0, with pl.equilibrium; what is compiled is compiled before.
    """
    mesh = pl.shapes.box((1.0, 0.1, 0.1), (10 * cells, cells, cells))
    scene = pl.Scene()
    beam = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e9, 0.0), element=element)
    beam.pin(np.isclose(mesh.points[:, 0], -0.5))
    began = time.process_time()
    found = pl.equilibrium(scene, threads=1)
    seconds = time.process_time() - began
    value = -float(found.displacements[np.isclose(mesh.points[:, 0], 0.5), 2].mean())
    return {"tets": len(mesh.tets), "error": value / timoshenko_sag() - 1, "seconds": seconds}


def curves() -> dict[str, list[dict[str, float]]]:
    """By element, the cells growing."""
    for element in CELLS:
        sag(element, 1)  # compiles
    return {element: [sag(element, cells) for cells in CELLS[element]] for element in CELLS}
