"""Bending forms at the vertices of a flat sheet that agree with the plate on any mesh.

    E = k/2 sum_v phi^T D_v phi,      phi: folds of the edges that meet at vertex v

The start is the energy of the curvature at vertices, the mean of the folds weighed by the length of their edges:

    S_v = 1 / (2 A_v)  sum_{edges e at v} |e| phi_e m_e m_e^T,      E_v = k/2 A_v |S_v|^2

with A_v the Voronoi area and m_e across the edge, in the plane. It bends strips along the cells of a grid exactly, but
is twice too stiff in twist where diagonals alternate, and half too stiff where they cross. The nearest forms that are
positive and agree with the plate (plate_moments, Equation 1) are found by Dykstra's alternating projections, with
distances relative to the start's stiffness of each hinge. A part of the start stays, so that no fold becomes free.
Where cells are long and irregular, no positive forms may have Equation 1. What is found then can be far too soft;
vertices whose hinges have too small moments go back towards the start, which is never too soft by much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements.plate_moments import (
    SQRT2,
    hinge_frames,
    moment_projections,
    rim_edges,
    solve_normal,
    unit_folds,
)

ROUNDS = 40  # of alternating projections at most; regular sheets need two to five
INNER = 4  # iterations of conjugate gradients in a round
ENOUGH = 1e-3  # what Equation 1 may lack, relative
KEPT = 0.1  # part of the start that stays
SHORT = 0.3  # part of its moment that a hinge may lack; vertices go back to the start from there to twice as much


@dataclass(frozen=True)
class VertexForms:
    """Forms at vertices (m,) where the same number k of hinges meet."""

    vertices: np.ndarray
    hinges: np.ndarray  # (m, k)
    forms: np.ndarray  # (m, k, k) D_v [1]


@dataclass(frozen=True)
class _Group:
    """Vertices with k hinges each; D_v in units of `size` of both hinges."""

    vertices: np.ndarray
    hinges: np.ndarray  # (m, k)
    start: np.ndarray  # (m, k, k)
    size: np.ndarray  # (m, k)
    folds: np.ndarray  # (m, k, 3) size times f, in the vertex's frame
    back: np.ndarray  # (m, k, 3, 3): size times moments in the vertex's frame to what (1) asks of a hinge, over |e|

    def moments(self, forms: np.ndarray, total: np.ndarray) -> None:
        """Add what forms (m, k, k) give to Equation 1 (h, 3)."""
        np.add.at(total, self.hinges, np.einsum("mkij,mkj->mki", self.back, forms @ self.folds))

    def adjoint(self, z: np.ndarray) -> np.ndarray:
        """The symmetric forms of z (h, 3)."""
        half = 0.5 * np.einsum("mkij,mki->mkj", self.back, z[self.hinges]) @ self.folds.transpose(0, 2, 1)
        return half + half.transpose(0, 2, 1)

    def positive(self, forms: np.ndarray) -> np.ndarray:
        """The nearest forms that exceed the kept part of the start."""
        values, vectors = np.linalg.eigh(forms - KEPT * self.start)
        return (vectors * np.maximum(values, 0.0)[:, None]) @ vectors.transpose(0, 2, 1) + KEPT * self.start


def vertex_forms(points: np.ndarray, triangles: np.ndarray, hinges: np.ndarray) -> list[VertexForms]:
    """Of a flat sheet: points (n, 3) [m] at rest, triangles (m, 3), their hinges (h, 4)."""
    if not len(hinges):
        return []
    frames = hinge_frames(points, hinges)
    projections = moment_projections(frames, rim_edges(hinges))
    groups = _groups(points, vertex_areas(points, triangles), hinges, projections)
    forms = _nearest(groups, projections[:, :, 1])
    return [
        VertexForms(group.vertices, group.hinges, form * group.size[:, :, None] * group.size[:, None, :])
        for group, form in zip(groups, forms, strict=True)
    ]


def _nearest(groups: list[_Group], plate: np.ndarray) -> list[np.ndarray]:
    """Dykstra's algorithm between Equation 1, whose right-hand side over |e| is `plate` (h, 3), and positive forms."""

    def moments(forms: list[np.ndarray]) -> np.ndarray:
        total = np.zeros_like(plate)
        for group, form in zip(groups, forms, strict=True):
            group.moments(form, total)
        return total

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
    return [_stiffened(group, form, short[group.hinges].max(axis=1)) for group, form in zip(groups, forms, strict=True)]


def _stiffened(group: _Group, forms: np.ndarray, short: np.ndarray) -> np.ndarray:
    """Forms (m, k, k) of vertices where some hinge lacks the part short (m,) of its moment."""
    back = np.clip((short - SHORT) / SHORT, 0.0, 1.0)[:, None, None]
    return forms + back * (group.start - forms)


def _groups(points: np.ndarray, areas: np.ndarray, hinges: np.ndarray, projections: np.ndarray) -> list[_Group]:
    """One for each number of hinges at a vertex."""
    frames = hinge_frames(points, hinges)
    axes = _axes(points, hinges)
    folds = unit_folds(frames)
    ends = hinges[:, :2].ravel()
    order = np.argsort(ends, kind="stable")
    many = np.bincount(ends, minlength=len(points))
    first = np.cumsum(many) - many
    at_vertex = order // 2
    own = np.zeros(len(hinges))
    np.add.at(own, at_vertex, frames.length[at_vertex] ** 2 / (4 * areas[ends[order]]))
    stiffness = np.sqrt(own)
    groups = []
    for k in np.unique(many[many > 0]):
        vertices = np.flatnonzero(many == k)
        chosen = at_vertex[first[vertices][:, None] + np.arange(k)]
        size = stiffness[chosen]
        turns = _turns(axes[chosen])
        density = frames.length[chosen] / size / (2 * np.sqrt(areas[vertices]))[:, None]
        across = turns[..., 1] * density[..., None]  # m m^T of each edge in the vertex's frame
        back = projections[chosen] @ turns.transpose(0, 1, 3, 2) * (size / frames.length[chosen])[..., None, None]
        turned = np.einsum("mkij,mkj->mki", turns, folds[chosen]) * size[..., None]
        groups.append(_Group(vertices, chosen, across @ across.transpose(0, 2, 1), size, turned, back))
    return groups


def _axes(points: np.ndarray, hinges: np.ndarray) -> np.ndarray:
    """(h, 2, 3) unit vectors along the edges of hinges and across them, to wing 2."""
    x = points[hinges]
    along = x[:, 1] - x[:, 0]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    arm = x[:, 2] - x[:, 0]
    across = arm - np.einsum("ma,ma->m", arm, along)[:, None] * along
    return np.stack((along, across / np.linalg.norm(across, axis=1, keepdims=True)), axis=1)


def _turns(axes: np.ndarray) -> np.ndarray:
    """(m, k, 3, 3): tensors from the frames of hinges, axes (m, k, 2, 3), to that of the first hinge of a vertex."""
    R = np.einsum("mfa,mkea->mkfe", axes[:, 0], axes)  # column e: axis e of a hinge in the first one's frame
    (a, b), (c, d) = R[..., 0, :].transpose(2, 0, 1), R[..., 1, :].transpose(2, 0, 1)
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
