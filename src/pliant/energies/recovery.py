"""Fields of tets carried over to vertices, and what they tell of the error of a mesh.

A tet, and a patch of tets, has one stress, that at its middle. At a vertex v the field is the linear function that is
nearest to the tets in two rings around it, weighed by their volumes V at rest (Zienkiewicz and Zhu 1992, The
superconvergent patch recovery), evaluated at v:

    s(v) = mean + (v - centre) . gradient,    gradient = (sum V d d^T)^-1 sum V d (s - mean),   d: middle - centre

So fields that are linear in space are exact at the surface too, where a mean over the tets around would be that half a
cell deeper. Directions in which the middles hardly differ, as across a single layer, have no gradient.

The error in energy is estimated by what the recovered field s* differs from the tets' (Zienkiewicz and Zhu 1987, A
simple error estimator): the part that sum of int |s* - s|^2, with s* linear in a tet, has of itself and int |s*|^2.
The energy of the exact solution under given loads, too, is that of the mesh and that of the difference; with |s*|^2 in
place of |s|^2 the part is right for meshes that hardly move, whose own stress jumps from tet to tet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.model import Solids
from pliant.model.blocks import PatchTets
from pliant.sparse import sp

FLAT = 1e-4  # of the greatest variance of the middles: directions with less have no gradient


class Samples(NamedTuple):
    """Where a field is known: tets, or patches of them."""

    sums: sp.csr_matrix  # (k, m) takes values of tets to their mean
    middles: np.ndarray  # (k, 3) [m]
    volumes: np.ndarray  # (k,) [m^3]
    at_vertices: sp.csr_matrix  # (n, k) 1 where a vertex has it


def at_vertices(solids: Solids, values: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Values (m, ...) of tets at the vertices (n, ...) of points (n, 3) [m] at rest; not a number where none is."""
    samples = _samples(solids, points)
    near = samples.at_vertices
    rings = near @ (near.T @ near)
    rings.data[:] = 1.0
    weights = (rings @ sp.diags(samples.volumes)).tocsr()
    flat = samples.sums @ values.reshape(len(values), -1)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = (weights @ np.ones(len(samples.volumes)))[:, None]
        centre, mean = weights @ samples.middles / total, weights @ flat / total
        products = [samples.middles[:, i : i + 1] * samples.middles[:, i:] for i in range(3)]
        second = [weights @ columns / total for columns in products]
        mixed = [
            weights @ (samples.middles[:, i : i + 1] * flat) / total - centre[:, i : i + 1] * mean for i in range(3)
        ]
    variance = np.empty((len(points), 3, 3))
    for i in range(3):
        for j in range(i, 3):
            variance[:, i, j] = variance[:, j, i] = second[i][:, j - i] - centre[:, i] * centre[:, j]
    return (mean + _rise(variance, np.stack(mixed, axis=1), points - centre)).reshape(len(points), *values.shape[1:])


def _rise(variance: np.ndarray, mixed: np.ndarray, away: np.ndarray) -> np.ndarray:
    """(n, c) from centres to vertices `away` (n, 3) from them; variance (n, 3, 3), mixed (n, 3, c) moments."""
    is_known = np.isfinite(variance).all(axis=(1, 2))
    values, axes = np.linalg.eigh(np.where(is_known[:, None, None], variance, 0.0))
    inverse = np.where(values > FLAT * np.maximum(values[:, -1:], 1e-300), 1 / np.maximum(values, 1e-300), 0.0)
    along = np.einsum("nij,ni->nj", axes, away) * inverse
    return np.einsum("nj,nij,nic->nc", along, axes, mixed)


def energy_error(solids: Solids, values: np.ndarray, points: np.ndarray) -> float:
    """The part of the energy that values (m, 3, 3) of tets lack, by what is recovered of them; 0 without any."""
    recovered = at_vertices(solids, values, points)[solids.tets]
    difference = recovered - values[:, None]
    volumes = _rest_volumes(solids)
    error, whole = (float(volumes @ _squares(field)) for field in (difference, recovered))
    return error / (error + whole) if error > 0 else 0.0


def _squares(fields: np.ndarray) -> np.ndarray:
    """(m,) means over tets of |s|^2, s linear with values (m, 4, 3, 3) at the corners."""
    return ((fields**2).sum(axis=(1, 2, 3)) + (fields.sum(axis=1) ** 2).sum(axis=(1, 2))) / 20


def _rest_volumes(solids: Solids) -> np.ndarray:
    return solids.volumes / solids.stabilisation if isinstance(solids, PatchTets) else solids.volumes


def _samples(solids: Solids, points: np.ndarray) -> Samples:
    m, volumes = len(solids.tets), _rest_volumes(solids)
    of_vertices = sp.csr_matrix((np.ones(4 * m), (solids.tets.ravel(), np.repeat(np.arange(m), 4))), (len(points), m))
    middles = points[solids.tets].mean(axis=1)
    if not isinstance(solids, PatchTets):
        return Samples(sp.identity(m, format="csr"), middles, volumes, of_vertices)
    _, patch = np.unique(solids.patch, return_inverse=True)
    members = sp.csr_matrix((np.ones(m), (patch, np.arange(m))), (int(patch.max(initial=-1)) + 1, m))
    total = members @ volumes
    sums = (sp.diags(1 / total) @ members @ sp.diags(volumes)).tocsr()
    return Samples(sums, sums @ middles, total, (of_vertices @ members.T).tocsr())
