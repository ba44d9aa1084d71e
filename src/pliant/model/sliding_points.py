"""How many points slide over round rigid bodies: enough for all contacts with the meshes around them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.model.body import Body
from pliant.model.rigid import RigidBody
from pliant.model.rigid_shapes import CORE, RoundFeature
from pliant.model.spring_net import SpringNet

LAYERS = 2.0  # of a mesh, as fine as it is in the mean, that may lie around a body
PER_CONTACT = 2  # one at the core, one on the surface


def provide_sliding_points(bodies: Sequence[Body], apart: set[tuple[str, str]]) -> None:
    """Have round rigid bodies slide over all that may lie around them; apart: names of bodies that do not touch."""
    for body in bodies:
        feature = body.shape.round_feature if isinstance(body, RigidBody) else None
        if isinstance(body, RigidBody) and feature is not None and feature.kind == CORE:
            others = [b for b in bodies if b is not body and not {(body.name, b.name), (b.name, body.name)} & apart]
            body.provide_sliding(PER_CONTACT * sum(_contacts(feature, other) for other in others))


def _contacts(feature: RoundFeature, other: Body) -> int:
    """How many a core has with another body at most: a ball with each triangle one, a capsule with each edge one."""
    if isinstance(other, SpringNet):
        edges = np.linalg.norm(np.diff(other.initial_positions[other.edges], axis=1)[:, 0], axis=1)
        count, area = len(edges), 0.25 * float(edges.mean()) ** 2
    elif len(other.surface):
        a, b, c = np.moveaxis(other.initial_positions[other.surface], 1, 0)
        count, area = len(other.surface), 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).mean())
    else:
        return 0
    length, r = float(np.linalg.norm(feature.end - feature.start)), feature.radius
    around = (4 * np.pi * r**2 + 2 * np.pi * r * length) / area
    per_piece = 1.0 if length == 0.0 else 1.5  # edges for each triangle
    return int(np.ceil(per_piece * min(float(count), LAYERS * around)))
