"""Bending forms of all the folds around each vertex of a flat sheet (elements.plate_forms).

They are as exact as forms of folds are known to be, but couple a vertex with all its neighbours: good for one constant
quadratic form of the positions (elements.quadratic_bending).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements.plate_forms import form_group, nearest_forms, sheet_folds, tensor_turns


@dataclass(frozen=True)
class VertexForms:
    """Forms at vertices (m,) where the same number k of hinges meet."""

    vertices: np.ndarray
    hinges: np.ndarray  # (m, k)
    forms: np.ndarray  # (m, k, k) D_v [1]


def vertex_forms(points: np.ndarray, triangles: np.ndarray, hinges: np.ndarray) -> list[VertexForms]:
    """Of a flat sheet: points (n, 3) [m] at rest, triangles (m, 3), their hinges (h, 4)."""
    if not len(hinges):
        return []
    sheet, axes = sheet_folds(points, triangles, hinges), _axes(points, hinges)
    rings = _rings(hinges, len(points))
    groups = [form_group(sheet, vertices, of_ring, _turns(axes[of_ring])) for vertices, of_ring in rings]
    return [VertexForms(*ring, forms) for ring, forms in zip(rings, nearest_forms(sheet, groups), strict=True)]


def _rings(hinges: np.ndarray, n_vertices: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each number k of hinges at a vertex: vertices (m,) and their hinges (m, k)."""
    ends = hinges[:, :2].ravel()
    at_vertex = np.argsort(ends, kind="stable") // 2
    many = np.bincount(ends, minlength=n_vertices)
    first = np.cumsum(many) - many
    rings = []
    for k in np.unique(many[many > 0]):
        vertices = np.flatnonzero(many == k)
        rings.append((vertices, at_vertex[first[vertices][:, None] + np.arange(k)]))
    return rings


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
    return tensor_turns(np.einsum("mfa,mkea->mkfe", axes[:, 0], axes))
