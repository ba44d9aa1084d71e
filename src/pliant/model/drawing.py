"""What pictures and results draw of bodies: a round rigid body has no vertices of its own, a solid may have a skin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.model.body import Body
from pliant.model.carried import weights_of
from pliant.model.embedded import skin_of
from pliant.model.model import Model
from pliant.model.rigid import RigidBody, pose_of
from pliant.model.solid import Solid
from pliant.sparse import sp


@dataclass(frozen=True)
class Drawing:
    """From the vertices that are shown of all bodies to what is drawn: four mass points give all points of a rigid
    body, and the points of embedded surfaces come after the vertices of their solid.
    """

    matrix: sp.csr_matrix | None  # (drawn points, shown vertices); None where they are the same
    masses: np.ndarray  # (r, 4) rows of the mass points of rigid bodies among the shown vertices
    offsets: np.ndarray  # (r, 4, 3) of them in the bodies' axes [m]

    @classmethod
    def of(cls, bodies: Sequence[Body], model: Model, skins: bool = True) -> Drawing:
        """skins: whether embedded surfaces are drawn."""
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
                skin = skin_of(body) if skins and isinstance(body, Solid) else None
                own_points = sp.identity(n, format="csr")
                parts.append(own_points if skin is None else sp.vstack([own_points, skin.matrix], format="csr"))
            first += n
        places = np.array(masses, int).reshape(-1, 4), np.array(offsets).reshape(-1, 4, 3)
        is_same = not masses and all(part.shape[0] == part.shape[1] for part in parts)
        return cls(None if is_same else sp.block_diag(parts, format="csr"), *places)

    def poses(self, x: np.ndarray) -> np.ndarray:
        """(r, 7) position [m] and orientation (w, x, y, z) of the rigid bodies, from the shown vertices (n, 3)."""
        found = [pose_of(x[rows], own) for rows, own in zip(self.masses, self.offsets, strict=True)]
        return np.array(found).reshape(-1, 7)
