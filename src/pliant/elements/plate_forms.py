"""Bending forms of neighbouring folds that agree with the plate on any mesh.

    E = k/2 sum_g phi^T D_g phi,      phi: folds of the hinges of group g, which meet at a vertex v

The start is the energy of the curvature at vertices, the mean of the folds weighed by the length of their edges:

    S_v = 1 / (2 A_v)  sum_{edges e at v} |e| phi_e m_e m_e^T,      E_v = k/2 A_v |S_v|^2

with A_v the Voronoi area and m_e across the edge, in the plane; of a group, the sum is over its hinges. It bends strips
along the cells of a grid exactly, but is twice too stiff in twist where diagonals alternate, and half too stiff where
they cross. The nearest forms that are positive and agree with the plate (plate_moments, Equation 1) are found by
Dykstra's alternating projections, with distances relative to the start's stiffness of each hinge. A part of the start
stays, so that no fold becomes free. Where cells are long and irregular, no positive forms may have Equation 1. What is
found then can be far too soft; groups whose hinges have too small moments go back towards the start, which is never too
soft by much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.elements.plate_moments import (
    SQRT2,
    HingeFrames,
    hinge_frames,
    moment_projections,
    rim_edges,
    solve_normal,
    unit_folds,
)
from pliant.sparse import sp

ROUNDS = 40  # of alternating projections at most; regular sheets need two to five
INNER = 4  # iterations of conjugate gradients in a round
ENOUGH = 1e-3  # what Equation 1 may lack, relative
KEPT = 0.1  # part of the start that stays
SHORT = 0.3  # part of its moment that a hinge may lack; groups go back to the start from there to twice as much


class SheetFolds(NamedTuple):
    """What forms of a sheet's hinges (h, 4) are made of."""

    frames: HingeFrames
    folds: np.ndarray  # (h, 3) f [m]
    projections: np.ndarray  # (h, 3, 3) on what Equation 1 asks of each hinge
    areas: np.ndarray  # (n,) A_v [m^2]
    size: np.ndarray  # (h,) root of the start's stiffness of each hinge


@dataclass(frozen=True)
class FormGroup:
    """Groups of k hinges each; D_g in units of `size` of both hinges."""

    hinges: np.ndarray  # (m, k)
    sums: sp.csr_matrix  # (h, m k) adds what the hinges of groups have to all hinges
    start: np.ndarray  # (m, k, k)
    size: np.ndarray  # (m, k)
    folds: np.ndarray  # (m, k, 3) size times f, in the group's frame
    back: np.ndarray  # (m, k, 3, 3): size times moments in the group's frame to what (1) asks of a hinge, over |e|

    def moments(self, forms: np.ndarray) -> np.ndarray:
        """What forms (m, k, k) give to Equation 1 (h, 3)."""
        return self.sums @ np.einsum("mkij,mkj->mki", self.back, forms @ self.folds).reshape(-1, 3)

    def adjoint(self, z: np.ndarray) -> np.ndarray:
        """The symmetric forms of z (h, 3)."""
        half = 0.5 * np.einsum("mkij,mki->mkj", self.back, z[self.hinges]) @ self.folds.transpose(0, 2, 1)
        return half + half.transpose(0, 2, 1)

    def positive(self, forms: np.ndarray) -> np.ndarray:
        """The nearest forms that exceed the kept part of the start."""
        values, vectors = np.linalg.eigh(forms - KEPT * self.start)
        return (vectors * np.maximum(values, 0.0)[:, None]) @ vectors.transpose(0, 2, 1) + KEPT * self.start

    def stiffened(self, forms: np.ndarray, short: np.ndarray) -> np.ndarray:
        """Forms (m, k, k), where each hinge lacks the part short (h,) of its moment."""
        back = np.clip((short[self.hinges].max(axis=1) - SHORT) / SHORT, 0.0, 1.0)[:, None, None]
        return forms + back * (self.start - forms)


def sheet_folds(points: np.ndarray, triangles: np.ndarray, hinges: np.ndarray) -> SheetFolds:
    """Of points (n, 3) [m] at rest, triangles (m, 3), their hinges (h, 4)."""
    frames, areas = hinge_frames(points, hinges), vertex_areas(points, triangles)
    own = np.sum(frames.length[:, None] ** 2 / (4 * areas[hinges[:, :2]]), axis=1)
    projections = moment_projections(frames, rim_edges(hinges))
    return SheetFolds(frames, unit_folds(frames), projections, areas, np.sqrt(own))


def form_group(sheet: SheetFolds, vertices: np.ndarray, hinges: np.ndarray, turns: np.ndarray) -> FormGroup:
    """Hinges (m, k) at vertices (m,); turns (m, k, 3, 3) take tensors from their frames to that of the group."""
    size, length = sheet.size[hinges], sheet.frames.length[hinges]
    density = length / size / (2 * np.sqrt(sheet.areas[vertices]))[:, None]
    across = turns[..., 1] * density[..., None]  # m m^T of each edge in the group's frame
    back = sheet.projections[hinges] @ turns.transpose(0, 1, 3, 2) * (size / length)[..., None, None]
    folds = np.einsum("mkij,mkj->mki", turns, sheet.folds[hinges]) * size[..., None]
    places = np.arange(hinges.size)
    sums = sp.csr_matrix((np.ones(hinges.size), (hinges.ravel(), places)), (len(sheet.size), hinges.size))
    return FormGroup(hinges, sums, across @ across.transpose(0, 2, 1), size, folds, back)


def nearest_forms(sheet: SheetFolds, groups: list[FormGroup]) -> list[np.ndarray]:
    """D_g (m, k, k) [1] of each, by Dykstra's algorithm between Equation 1 and positive forms."""
    plate = sheet.projections[:, :, 1]  # the right-hand side of Equation 1 over |e|

    def moments(forms: list[np.ndarray]) -> np.ndarray:
        return sum((group.moments(form) for group, form in zip(groups, forms, strict=True)), np.zeros_like(plate))

    forms = [group.start for group in groups]
    kept = [np.zeros_like(form) for form in forms]
    enough = ENOUGH * np.linalg.norm(plate)
    for _ in range(ROUNDS):
        lack = plate - moments(forms)
        if np.linalg.norm(lack) <= enough:
            break
        z = solve_normal(lambda z: moments([group.adjoint(z) for group in groups]), lack, INNER)
        for place, group in enumerate(groups):
            tried = forms[place] + group.adjoint(z) + kept[place]
            forms[place] = group.positive(tried)
            kept[place] = tried - forms[place]
    short = np.sum((plate - moments(forms)) * plate, axis=1) / np.maximum(np.sum(plate**2, axis=1), 1e-12)
    return [
        group.stiffened(form, short) * group.size[:, :, None] * group.size[:, None, :]
        for group, form in zip(groups, forms, strict=True)
    ]


def tensor_turns(R: np.ndarray) -> np.ndarray:
    """(..., 3, 3) that turn tensors by R (..., 2, 2), whose columns are the axes of the frame they are in."""
    a, b, c, d = R[..., 0, 0], R[..., 0, 1], R[..., 1, 0], R[..., 1, 1]
    rows = (
        (a * a, b * b, SQRT2 * a * b),
        (c * c, d * d, SQRT2 * c * d),
        (SQRT2 * a * c, SQRT2 * b * d, a * d + b * c),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def vertex_areas(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Voronoi areas (n,) [m^2] of vertices; they sum to the area of the sheet.

    A corner of a triangle without obtuse angle owns what is nearest to it; of an obtuse triangle half goes to the
    obtuse corner and a quarter to each other (Meyer et al. 2003, Discrete Differential-Geometry Operators).
    """
    x = points[triangles]
    ahead, behind = np.roll(x, -1, axis=1) - x, np.roll(x, 1, axis=1) - x
    double = np.linalg.norm(np.cross(ahead[:, 0], behind[:, 0]), axis=1)[:, None]
    cotangent = np.einsum("mka,mka->mk", ahead, behind) / double
    opposite = np.sum((ahead - behind) ** 2, axis=2) * cotangent  # |opposite edge|^2 cot of the corner's angle
    nearest = (np.roll(opposite, -1, axis=1) + np.roll(opposite, 1, axis=1)) / 8
    obtuse = np.where(cotangent < 0, double / 4, double / 8)
    share = np.where((cotangent < 0).any(axis=1, keepdims=True), obtuse, nearest)
    return np.bincount(triangles.ravel(), share.ravel(), len(points))
