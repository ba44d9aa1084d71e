"""What a scene says about contact: the settings, who may touch whom, and the obstacles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.model import checks
from pliant.model.body import Body
from pliant.model.cloth import Cloth
from pliant.model.mesh_obstacle import MeshObstacleBody
from pliant.model.obstacles import Shape
from pliant.model.rigid import RigidBody
from pliant.model.solid import Solid


@dataclass(frozen=True)
class Contact:
    """How bodies touch each other and obstacles.

    stiffness: k_c [N/m] of a contact (VBD, Equation 12); a body at rest sinks in by its weight over the sum of the
        stiffnesses it rests on.
    friction: coefficient of contacts between bodies that say nothing else.
    friction_speed: [m/s] below which friction falls smoothly to zero (Equation 15); what should stick creeps slower.
    detect_every: iterations between detections; None: once per step.
    self_contact: whether a body can touch itself.
    damping: k_d [s] of contacts: k_d k_c times the speed at which the depth grows is added to the normal force, which
        never pulls.
    thickness: [m] distance that sheets keep from each other and from solids.
    """

    stiffness: float = 1e7
    friction: float = 0.3
    friction_speed: float = 1e-2
    detect_every: int | None = None
    self_contact: bool = True
    damping: float = 0.0
    thickness: float = 1e-3

    def __post_init__(self) -> None:
        checks.number(self.stiffness, "Contact: stiffness", "N/m", positive=True)
        checks.number(self.friction, "Contact: friction", "1")
        checks.number(self.friction_speed, "Contact: friction_speed", "m/s", positive=True)
        checks.number(self.damping, "Contact: damping", "s")
        checks.number(self.thickness, "Contact: thickness", "m")
        if self.detect_every is not None:
            checks.count(self.detect_every, "Contact: detect_every")


@dataclass(frozen=True)
class ContactModel:
    """Contact frozen into arrays, by vertices of the scene (n in all)."""

    settings: Contact
    triangles: np.ndarray  # (t, 3) of sheets and mesh obstacles
    tets: np.ndarray  # (m, 4) of solids
    body: np.ndarray  # (n,) body of each vertex
    allowed: np.ndarray  # (bodies, bodies) which may touch
    excluded: np.ndarray  # (n,) vertices that touch nothing
    radius: np.ndarray  # (n,) half the thickness [m]
    friction: np.ndarray  # (n,) of the body, not a number where it says nothing
    positions: np.ndarray  # (n, 3) where vertices start [m]
    shapes: tuple[Shape, ...]  # obstacles with formulas


def build_contact(
    settings: Contact,
    bodies: Sequence[Body],
    start: np.ndarray,
    apart: set[tuple[str, str]],
    shapes: Sequence[Shape],
) -> ContactModel:
    """Gather what takes part; `apart`: names of bodies that do not touch."""
    placed = list(zip(bodies, start[:-1].tolist(), strict=True))
    sheets = [body.surface + first for body, first in placed if isinstance(body, Cloth | MeshObstacleBody | RigidBody)]
    tets = [body.mesh.tets + first for body, first in placed if isinstance(body, Solid)]
    sizes = [body.n_vertices for body in bodies]
    friction = [np.nan if body.friction is None else body.friction for body in bodies]
    radius = [0.5 * settings.thickness if isinstance(body, Cloth) else 0.0 for body in bodies]
    return ContactModel(
        settings,
        np.concatenate([np.empty((0, 3), np.int64), *sheets]),
        np.concatenate([np.empty((0, 4), np.int64), *tets]),
        np.repeat(np.arange(len(bodies)), sizes),
        _allowed(settings, bodies, apart),
        np.concatenate([body.touches_nothing for body in bodies]),
        np.repeat(radius, sizes),
        np.repeat(friction, sizes),
        np.concatenate([np.empty((0, 3)), *(body.initial_positions for body in bodies)]),
        tuple(shapes),
    )


def _allowed(settings: Contact, bodies: Sequence[Body], apart: set[tuple[str, str]]) -> np.ndarray:
    """Which pairs of bodies may touch; two obstacles never do."""
    n = len(bodies)
    allowed = np.ones((n, n), bool)
    allowed[np.arange(n), np.arange(n)] = [settings.self_contact and not isinstance(body, RigidBody) for body in bodies]
    for i, one in enumerate(bodies):
        for j, other in enumerate(bodies):
            both_obstacles = isinstance(one, MeshObstacleBody) and isinstance(other, MeshObstacleBody)
            if both_obstacles or (one.name, other.name) in apart or (other.name, one.name) in apart:
                allowed[i, j] = False
    return allowed
