"""Triangles of yarn cloth and their neighbours as elements (elements.yarn_strains has the strains)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements.block import Block, Invariance
from pliant.elements.element import Element
from pliant.elements.strain_rates import TriangleRates
from pliant.materials import YarnCloth


@dataclass(frozen=True)
class YarnTriangles(Block):
    """Triangles of one yarn cloth (m, 6): three corners, then the wings opposite to them."""

    invariance = Invariance.RIGID

    material: YarnCloth
    gradients: np.ndarray  # (m, 3, 2) b [1/m], along warp and weft
    areas: np.ndarray  # (m,) [m^2]
    present: np.ndarray  # (m, 3) 1 where there is a wing, 0 where the edge is free

    @property
    def key(self) -> tuple:
        return type(self), self.material


def wings(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The vertex across each edge (m, 3), opposite to corner k, and where there is one; edges of three triangles or of
    two that face each other's back have none.
    """
    m = len(triangles)
    starts, ends = triangles[:, [1, 2, 0]], triangles[:, [2, 0, 1]]
    n = int(triangles.max()) + 1
    keys, back = (starts * n + ends).ravel(), (ends * n + starts).ravel()
    order = np.argsort(keys, kind="stable")
    place = np.minimum(np.searchsorted(keys[order], back), 3 * m - 1)
    other = order[place]
    _, inverse, counts = np.unique(np.minimum(keys, back), return_inverse=True, return_counts=True)
    found = (keys[other] == back) & (counts[inverse.ravel()] == 2)
    wing = np.where(found, triangles.ravel()[other], triangles.ravel())
    return wing.reshape(m, 3), found.reshape(m, 3)


def rest_gradients(points: np.ndarray, triangles: np.ndarray, warp: np.ndarray) -> np.ndarray:
    """b (m, 3, 2) [1/m] along warp and weft; warp (m, 3): directions, laid into the triangles."""
    corner = points[triangles]
    first, second = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    normal = np.cross(first, second)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    along = warp - np.einsum("ma,ma->m", warp, normal)[:, None] * normal
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    frame = np.stack((along, np.cross(normal, along)), axis=1)  # warp, weft
    Dm = np.einsum("mfa,mka->mfk", frame, np.stack((first, second), axis=1))
    inverse = np.linalg.inv(Dm)  # rows: corner 1 and 2
    return np.concatenate((-inverse.sum(axis=1, keepdims=True), inverse), axis=1)


def rates_of_yarn(block: YarnTriangles, k_d: float) -> TriangleRates:
    """The damping in the plane, as of a sheet with the cloth's moduli at rest; k_d [s]."""
    lam, mu, _ = block.material.rest_moduli
    previous = np.zeros((len(block.elements), 3, 3))
    sizes = k_d * block.areas
    return TriangleRates(block.elements[:, :3], block.gradients, sizes * mu, sizes * lam, previous)


YARN_TRIANGLE = Element(
    YarnTriangles, "yarn cloth", corners=6, path="yarn triangles", damping=rates_of_yarn,
)  # fmt: skip
