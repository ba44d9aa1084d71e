"""What a guarantee of no intersections needs of a scene (decision 0030)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import SceneError
from pliant.geometry.mesh import TetMesh
from pliant.model.body import Body
from pliant.model.obstacles import CONTAINER, MESH, Shape
from pliant.model.particles import Particles

if TYPE_CHECKING:
    from pliant.model.contact import Contact

OF_SIZE = 1e-3  # of the size of a rigid body: its thickness
HALF = 0.5  # of a tet's least width: a thickness that its own opposite sides do not touch with


def check_guarantee(settings: Contact, bodies: Sequence[Body], shapes: Sequence[Shape]) -> None:
    """Refuse what no proof covers."""
    if settings.thickness == 0:
        raise SceneError(
            "Contact: guarantee=True needs a thickness above 0, within which contact presses: leave thickness out."
        )
    for body in bodies:
        if isinstance(body, Particles):
            raise SceneError(
                f"Contact: guarantee=True does not cover particles, and {body.name} has some: leave it out, or build "
                "the scene without them."
            )
        if body.tears:
            raise SceneError(
                f"Contact: guarantee=True does not cover tearing, which leaves torn edges on each other, and "
                f"{body.name} tears: set its tear_at to None, or leave the guarantee out."
            )
    if any(shape.kind == MESH for shape in shapes):
        raise SceneError(
            "Contact: guarantee=True does not cover meshes with method='sdf', whose distances are interpolated: use "
            "method='mesh', or leave the guarantee out."
        )
    if any(shape.kind == CONTAINER for shape in shapes):
        raise SceneError(
            "Contact: guarantee=True does not cover containers, whose edges are not convex: build the container of "
            "boxes, or leave the guarantee out."
        )


def least_width(mesh: TetMesh) -> float:
    """[m] between parallel planes that hold any tet of a mesh."""
    a, b, c, d = (mesh.points[mesh.tets[:, k]] for k in range(4))
    volume = np.abs(np.einsum("ki,ki->k", np.cross(b - a, c - a), d - a))
    sides = ((b - a, c - a), (b - a, d - a), (c - a, d - a), (c - b, d - b))  # of faces
    opposite = ((b - a, d - c), (c - a, d - b), (d - a, c - b))  # edges
    across = [np.linalg.norm(np.cross(*pair), axis=1) for pair in (*sides, *opposite)]
    return float((volume / np.maximum(across, 1e-300).max(axis=0)).min(initial=np.inf))
