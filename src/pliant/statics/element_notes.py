"""Warnings of elements whose static answers are far off: linear tets that lock, solids one cell thick, sheets of long
cells of four triangles, and those that are clamped by long cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from pliant.materials import Invertible
from pliant.materials.rest_moduli import lame_parameters_at_rest
from pliant.model import Body, Cloth, Scene
from pliant.model.solid import LINEAR, PATCH, Solid

LOCKING = 0.45  # Poisson's ratio from which linear tets are said to lock
LONG = 1.2  # length over width from which crossed cells are said to lock
COARSE = {LINEAR: 0.1, PATCH: 0.25}  # part of the strain energy that a mesh may lack by estimate: patches are nearer
SHORTER = 0.005  # of its extent: what a clamp takes of a sheet without a note
ROUNDING = 1e-12  # of Lame's mu: stress that is none
MOST = 0.2  # part of the vertices that are middles of such cells


def element_notes(scene: Scene) -> Iterator[tuple[str, str]]:
    """Notes and their entries in docs/troubleshooting.md."""
    for solid in (body for body in scene.bodies if isinstance(body, Solid)):
        ratio = _largest_poissons_ratio(solid)
        if solid.element == LINEAR and ratio >= LOCKING:
            yield (
                f"equilibrium: {solid.name} has Poisson's ratio {ratio:.4g}, near which linear tets lock: it may "
                'deform far too little. element="patch" does not lock.',
                "locking",
            )
        if len(np.unique(solid.surface)) == len(solid.mesh.points):
            error = (
                "too little, often by more than half"
                if solid.element == LINEAR
                else "up to twice too far, or far too little"
            )
            yield (
                f"equilibrium: {solid.name} has no vertex inside, as a plate or beam one cell thick: it may bend "
                f'{error}. Take two cells across or more, about as long as thick, and element="patch".',
                "one-cell-thick",
            )

    for body in scene.bodies:
        lost, extent = max((_lost_length(body, *rows) for rows in body.clamps), default=0.0), _extent(body)
        if lost > SHORTER * extent:
            yield (
                f"equilibrium: {body.name} is clamped by two rows of vertices and bends from the middle between them, "
                f"{lost:.3g} m inside: let it be that much longer there, or take smaller cells.",
                "clamped-rows",
            )

    for sheet in (body for body in scene.bodies if isinstance(body, Cloth)):
        if (part := _long_crossed_cells(sheet)) > MOST:
            yield (
                f"equilibrium: {100 * part:.0f} % of the vertices of {sheet.name} are middles of four triangles, in "
                "cells longer than wide: with ten of them it may bend a third too little. Take two triangles per cell, "
                "as pl.shapes.cloth has, or cells as long as wide.",
                "crossed-cells",
            )


def mesh_notes(
    scene: Scene, stress_of: Callable[[Solid], np.ndarray], error_of: Callable[[Solid], float]
) -> Iterator[tuple[str, str]]:
    """Notes of meshes that are too coarse, by what is estimated of their error; likewise. A body without stress, as
    one that is only turned, has no error.
    """
    told = " ".join(note for note, _ in element_notes(scene))
    for solid in (body for body in scene.bodies if isinstance(body, Solid)):
        if f"equilibrium: {solid.name} has" in told:
            continue
        if np.abs(stress_of(solid)).max() <= ROUNDING * np.max(_lame_parameters(solid)[1]):
            continue
        if (error := error_of(solid)) > COARSE[solid.element]:
            piece, advice = _OF_COARSE[solid.element]
            yield (
                f"equilibrium: stress jumps from {piece} to {piece} of {solid.name}: its mesh is too coarse, and it "
                f"may deform too little by about {100 * error:.0f} %. {advice}",
                "coarse-mesh",
            )


#: What has one stress, and what to do where it jumps.
_OF_COARSE = {
    LINEAR: ("tet", 'element="patch" is nearer on the same mesh, or take more tets where stress changes.'),
    PATCH: ("patch", "Take cells about as long as thick, or more of them where stress changes."),
}


def _lost_length(body: Body, row: np.ndarray, neighbours: np.ndarray) -> float:
    """[m] by which a clamp shortens what bends: half the mean distance of the next row from the row that is held."""
    if not len(neighbours):
        return 0.0
    here, there = (body.initial_positions[vertices] for vertices in (row, neighbours))
    return 0.5 * float(np.mean([np.linalg.norm(here - point, axis=1).min() for point in there]))


def _extent(body: Body) -> float:
    return float(np.ptp(body.initial_positions, axis=0).max())


def _long_crossed_cells(sheet: Cloth) -> float:
    """Part of the vertices that are middles of four triangles whose rim is longer than wide."""
    triangles, n = sheet.mesh.triangles, sheet.n_vertices
    lengths = np.linalg.norm(np.roll(sheet.mesh.points[triangles], -1, 1) - sheet.mesh.points[triangles], axis=2)
    rim = np.roll(lengths, -1, axis=1).ravel()  # of each corner, the edge across from it
    many, longest, shortest = np.bincount(triangles.ravel(), minlength=n), np.zeros(n), np.full(n, np.inf)
    np.maximum.at(longest, triangles.ravel(), rim)
    np.minimum.at(shortest, triangles.ravel(), rim)
    edges = np.sort(np.stack((triangles, np.roll(triangles, -1, axis=1)), axis=2).reshape(-1, 2), axis=1)
    pairs, uses = np.unique(edges, axis=0, return_counts=True)
    is_inside = np.ones(n, bool)
    is_inside[pairs[uses == 1]] = False
    return float(np.mean(is_inside & (many == 4) & (longest > LONG * shortest)))


def _lame_parameters(solid: Solid) -> tuple[np.ndarray, np.ndarray]:
    """lam and mu (m,) [Pa] of its tets at rest."""
    law = solid.material.law if isinstance(solid.material, Invertible) else solid.material
    return lame_parameters_at_rest(type(law), law.of_elements(len(solid.mesh.tets)))


def _largest_poissons_ratio(solid: Solid) -> float:
    lam, mu = _lame_parameters(solid)
    return float(np.max(lam / (2 * (lam + mu))))
