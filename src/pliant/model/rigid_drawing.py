"""Surfaces of rigid bodies in pictures and results: a round one has no vertices of its own to draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pliant.model.body import Body
from pliant.model.carried import weights_of
from pliant.model.model import Model
from pliant.model.rigid import RigidBody, pose_of


@dataclass(frozen=True)
class RigidDrawing:
    """From the vertices that are shown of all bodies to what is drawn: four mass points give all points of a rigid
    body.
    """

    drawing: sp.csr_matrix | None  # (drawn points, shown vertices); None without rigid bodies
    masses: np.ndarray  # (r, 4) rows of the mass points of rigid bodies among the shown vertices
    offsets: np.ndarray  # (r, 4, 3) of them in the bodies' axes [m]

    @classmethod
    def of(cls, bodies: Sequence[Body], model: Model) -> RigidDrawing:
        parts, first, masses, offsets = [], 0, [], []
        for k, body in enumerate(bodies):
            torn = None if model.topology is None else model.topology.drawn(k)
            n = body.n_vertices if torn is None else len(torn)
            if isinstance(body, RigidBody):
                own = body.offsets[body.mass_vertices]
                weights = weights_of(own[None], body.shape.surface[0])
                columns = np.broadcast_to(body.mass_vertices, weights.shape)
                rows = np.repeat(np.arange(len(weights)), 4)
                parts.append(sp.csr_matrix((weights.ravel(), (rows, columns.ravel())), (len(weights), n)))
                masses.append(first + body.mass_vertices)
                offsets.append(own)
            else:
                parts.append(sp.identity(n, format="csr"))
            first += n
        if not masses:
            return cls(None, np.zeros((0, 4), int), np.zeros((0, 4, 3)))
        return cls(sp.block_diag(parts, format="csr"), np.stack(masses), np.stack(offsets))

    def poses(self, x: np.ndarray) -> np.ndarray:
        """(r, 7) position [m] and orientation (w, x, y, z) of the rigid bodies, from the shown vertices (n, 3)."""
        found = [pose_of(x[rows], own) for rows, own in zip(self.masses, self.offsets, strict=True)]
        return np.array(found).reshape(-1, 7)
