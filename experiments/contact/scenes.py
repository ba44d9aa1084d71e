"""What the experiments share: the paper's law and contact numbers, pictures in a row, and where results go."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from experiments.vbd import outputs, pictures

import pliant as pl
from pliant.viewer.pictures import BODY_COLOURS, Surface, merge

FOLDER = Path(__file__).parent / "results"
DAMPING, FRICTION_SPEED = 1e-6, 1e-2  # of Table 1


def law(mu: float, lam: float) -> pl.StableNeoHookean:
    """The paper's numbers."""
    return pl.StableNeoHookean.from_coefficients(mu, lam)


def cube(size: float, cells: tuple[int, int, int] = (6, 6, 7)) -> pl.TetMesh:
    """392 vertices and 1,512 tets, where the paper has 400 and about 1,450."""
    return pl.shapes.box(size=(size,) * 3, cells=cells, split="kuhn")


def surface_of(sim: pl.Simulation) -> Surface:
    """All bodies, in colours of their own."""
    bodies = sim.scene.bodies
    surfaces = [Surface(b.mesh.surface_triangles, BODY_COLOURS[k % len(BODY_COLOURS)]) for k, b in enumerate(bodies)]
    return merge(surfaces, sim.model.body_start[:-1].tolist())


def rows_of_pictures(
    rows: dict[str, Sequence[np.ndarray]], titles: Sequence[str], surface: Surface, view: tuple[float, float]
) -> plt.Figure:
    """A row of moments for each name, all by one camera."""
    every = [x for row in rows.values() for x in row]
    images = pictures.moments(every, surface, *view, 220)
    figure, axes = plt.subplots(
        len(rows), len(titles), figsize=(2.7 * len(titles), 2.1 * len(rows)), layout="constrained", squeeze=False
    )
    for k, (ax, image) in enumerate(zip(axes.ravel(), images, strict=True)):
        ax.imshow(image)
        ax.set_xticks([])
        ax.set_yticks([])
        if k < len(titles):
            ax.set_title(titles[k], fontsize=9)
    for ax, name in zip(axes[:, 0], rows, strict=True):
        ax.set_ylabel(name, fontsize=9)
    return figure


def save(name: str, figure: plt.Figure, numbers: dict) -> None:
    """Picture and numbers into results."""
    outputs.save(name, figure, numbers, FOLDER)


def least_volume(sim: pl.Simulation) -> float:
    """The least det F of all tets: below zero is inverted."""
    ratios = []
    for solid in sim.model.solids:
        corners = sim.state.x[solid.tets]
        ratios.append(np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6 / solid.volumes)
    return float(np.concatenate(ratios).min())
