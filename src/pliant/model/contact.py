"""What a scene says about contact: the settings, who may touch whom, and the obstacles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pliant.model import checks
from pliant.model.body import Body
from pliant.model.cloth import Cloth
from pliant.model.mesh_obstacle import MeshObstacleBody
from pliant.model.obstacles import CONTAINER, Shape
from pliant.model.particles import Particles
from pliant.model.rigid import RigidBody
from pliant.model.solid import Solid
from pliant.model.spring_net import SpringNet

THICKNESS = 0.1  # of a sheet's mean edge: what it keeps from others if nothing else is given


@dataclass(frozen=True)
class Contact:
    """How bodies touch each other and obstacles. What is None is chosen from the scene (decision 0024).

    stiffness: k_c [N/m] of a contact (VBD, Equation 12); a body at rest sinks in by its weight over the sum of the
        stiffnesses it rests on. None: chosen for each contact from the masses, the step and the materials that meet.
    friction: coefficient of contacts between bodies that say nothing else.
    friction_speed: [m/s] below which friction falls smoothly to zero (Equation 15); what should stick creeps slower.
        None: a hundredth of sqrt(gravity edge).
    detect_every: iterations between detections; None: once per step.
    self_contact: whether a body can touch itself.
    damping: k_d [s] of contacts: k_d k_c times the speed at which the depth grows is added to the normal force, which
        never pulls.
    thickness: [m] distance that sheets and springs keep from each other and from solids. None: a tenth of the mean edge
        of the sheet or net, at most half its shortest.
    """

    stiffness: float | None = None
    friction: float = 0.3
    friction_speed: float | None = None
    detect_every: int | None = None
    self_contact: bool = True
    damping: float = 0.0
    thickness: float | None = None

    def __post_init__(self) -> None:
        if self.stiffness is not None:
            checks.number(self.stiffness, "Contact: stiffness", "N/m", positive=True)
        checks.number(self.friction, "Contact: friction", "1")
        if self.friction_speed is not None:
            checks.number(self.friction_speed, "Contact: friction_speed", "m/s", positive=True)
        checks.number(self.damping, "Contact: damping", "s")
        if self.thickness is not None:
            checks.number(self.thickness, "Contact: thickness", "m")
        if self.detect_every is not None:
            checks.count(self.detect_every, "Contact: detect_every")


@dataclass(frozen=True)
class ContactModel:
    """Contact frozen into arrays, by vertices of the scene (n in all)."""

    settings: Contact
    triangles: np.ndarray  # (t, 3) of sheets and mesh obstacles
    tets: np.ndarray  # (m, 4) of solids
    springs: np.ndarray  # (s, 2) of ropes and nets
    body: np.ndarray  # (n,) body of each vertex
    allowed: np.ndarray  # (bodies, bodies) which may touch
    excluded: np.ndarray  # (n,) vertices that touch nothing
    radius: np.ndarray  # (n,) half the thickness [m]
    friction: np.ndarray  # (n,) of the body, not a number where it says nothing
    edge: np.ndarray  # (n,) mean edge of the body as it starts [m]
    gravity: float  # [m/s^2] the largest of all bodies
    positions: np.ndarray  # (n, 3) where vertices start [m]
    shapes: tuple[Shape, ...]  # obstacles with formulas


def build_contact(
    settings: Contact,
    bodies: Sequence[Body],
    start: np.ndarray,
    apart: set[tuple[str, str]],
    shapes: Sequence[Shape],
    gravity: float,
) -> ContactModel:
    """Gather what takes part; `apart`: names of bodies that do not touch; gravity [m/s^2]: the largest of all."""
    placed = list(zip(bodies, start[:-1].tolist(), strict=True))
    sheets = [body.surface + first for body, first in placed if isinstance(body, Cloth | MeshObstacleBody | RigidBody)]
    tets = [body.mesh.tets + first for body, first in placed if isinstance(body, Solid)]
    springs = [body.edges + first for body, first in placed if isinstance(body, SpringNet)]
    sizes = [body.n_vertices for body in bodies]
    friction = [np.nan if body.friction is None else body.friction for body in bodies]
    edges = [_edge_lengths(body) for body in bodies]
    radius = [
        0.5 * _thickness(settings, lengths) if isinstance(body, Cloth | SpringNet) else 0.0
        for body, lengths in zip(bodies, edges, strict=True)
    ]
    return ContactModel(
        settings,
        np.concatenate([np.empty((0, 3), np.int64), *sheets]),
        np.concatenate([np.empty((0, 4), np.int64), *tets]),
        np.concatenate([np.empty((0, 2), np.int64), *springs]),
        np.repeat(np.arange(len(bodies)), sizes),
        _allowed(settings, bodies, apart),
        np.concatenate([body.touches_nothing for body in bodies]),
        np.repeat(radius, sizes),
        np.repeat(friction, sizes),
        np.repeat([lengths.mean() for lengths in edges], sizes),
        gravity,
        np.concatenate([np.empty((0, 3)), *(body.initial_positions for body in bodies)]),
        tuple(shapes),
    )


def untested_contact(bodies: Sequence[Body], shapes: Sequence[Shape]) -> str:
    """A sentence on what is not tested although contact is on; empty if all is."""
    if not bodies or not any(shape.kind == CONTAINER for shape in shapes):
        return ""
    return "contact: containers are tested against vertices alone: at their rims edges sink in between their vertices."


def _edge_lengths(body: Body) -> np.ndarray:
    """Of the elements of a body as it starts [m], a shared edge once for each; the diameters of particles."""
    if isinstance(body, Particles):
        return 2 * body.radius
    if isinstance(body, Solid):
        corners = body.mesh.tets
    elif isinstance(body, Cloth | MeshObstacleBody | RigidBody):
        corners = body.surface
    else:
        assert isinstance(body, SpringNet)
        corners = body.edges
    places = body.initial_positions[corners]
    sides = [places[:, i] - places[:, j] for i, j in combinations(range(corners.shape[1]), 2)]
    return np.linalg.norm(np.concatenate(sides), axis=1)


def _thickness(settings: Contact, lengths: np.ndarray) -> float:
    """Of a sheet or net with edges of such lengths [m]."""
    if settings.thickness is not None:
        return settings.thickness
    return float(min(THICKNESS * lengths.mean(), 0.5 * lengths.min()))


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
