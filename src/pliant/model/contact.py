"""What a scene says about contact: the settings, who may touch whom, and the obstacles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from pliant.lanes.compiled import cached, compiled
from pliant.model import checks
from pliant.model.body import Body
from pliant.model.carried import weights_of
from pliant.model.cloth import Cloth
from pliant.model.guarantee import HALF, OF_SIZE, check_guarantee, least_width
from pliant.model.joints import WorldPoints
from pliant.model.mesh_obstacle import MeshObstacleBody
from pliant.model.obstacles import CONTAINER, Shape
from pliant.model.particles import Particles
from pliant.model.rigid import RigidBody
from pliant.model.solid import Solid
from pliant.model.spring_net import SpringNet

THICKNESS = 0.1  # of a sheet's mean edge: what it keeps from others if nothing else is given
CLEARANCE = 0.02  # of the mean edge of a solid: what it keeps from other bodies


@dataclass(frozen=True)
class Contact:
    """How bodies touch each other and obstacles. What is None is chosen from the scene (decision 0024).

    stiffness: k_c [N/m] of a contact (VBD, Equation 12); a body at rest sinks in by its weight over the sum of the
        stiffnesses it rests on. None: chosen for each contact from the masses, the step and the materials that meet.
        Solids then also keep a clearance of a fiftieth of their mean edge from other bodies (decision 0090).
    friction: coefficient of contacts between bodies that say nothing else.
    friction_speed: [m/s] below which friction falls smoothly to zero (Equation 15); what should stick creeps slower.
        None: a hundredth of sqrt(gravity edge).
    detect_every: iterations between detections; None: once per step.
    self_contact: whether a body can touch itself.
    damping: k_d [s] of contacts: k_d k_c times the speed at which the depth grows is added to the normal force, which
        never pulls.
    thickness: [m] distance that sheets and springs keep from each other and from solids. None: a tenth of the mean edge
        of the sheet or net, at most half its shortest.
    guarantee: whether steps are cut so that, from a start without intersections, no edge ever crosses a triangle
        (decision 0030). Solids then keep a thickness too, chosen as that of sheets, at most half the least width of a
        tet. What cannot be guaranteed is refused when the simulation is built.
    """

    stiffness: float | None = None
    friction: float = 0.3
    friction_speed: float | None = None
    detect_every: int | None = None
    self_contact: bool = True
    damping: float = 0.0
    thickness: float | None = None
    guarantee: bool = False

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
        object.__setattr__(self, "guarantee", checks.flag(self.guarantee, "Contact: guarantee"))


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
    friction: np.ndarray  # (n,) of the body, not a number where it has none of its own
    general_friction: np.ndarray  # (1,) where neither body has one; may change between steps
    edge: np.ndarray  # (n,) mean edge of the body as it starts [m]
    gravities: np.ndarray  # (bodies, 3) [m/s^2] of each; may change between steps
    positions: np.ndarray  # (n, 3) where vertices start [m]
    shapes: tuple[Shape, ...]  # obstacles with formulas
    skips_obstacles: np.ndarray  # (n,) vertices that touch no obstacle with a formula
    round_bodies: RoundBodies
    restitution: np.ndarray  # (bodies,) of rigid bodies, zero of others
    stitched: np.ndarray  # (k, 2) vertices that seams join
    clearance: np.ndarray  # (n,) [m] half of what solids and rigid bodies keep from other bodies; zero of others
    is_closed: np.ndarray  # (n,) bool: of a rigid body, whose triangles enclose it and look outwards

    @property
    def gravity(self) -> float:
        """[m/s^2] The largest of all bodies."""
        return float(cached(longest)(self.gravities))


@compiled
def longest(vectors):
    most = 0.0
    for k in range(len(vectors)):
        most = max(most, vectors[k, 0] ** 2 + vectors[k, 1] ** 2 + vectors[k, 2] ** 2)
    return math.sqrt(most)


class RoundBodies(NamedTuple):
    """Features of rigid bodies that touch by a core and a radius or by rims, f in all (model.rigid_shapes)."""

    kind: np.ndarray  # (f,) CORE or RIMS
    body: np.ndarray  # (f,) number of the body
    masses: np.ndarray  # (f,) the first of its four mass points, by vertices of the scene
    ends: np.ndarray  # (f, 2, 4) weights of the mass points that give the ends of the segment
    radius: np.ndarray  # (f,) [m]
    sliding: np.ndarray  # (s,) sliding points, feature after feature, by vertices of the scene
    sliding_start: np.ndarray  # (f + 1,) where those of each begin
    core_ends: np.ndarray  # (f, 2) vertices at the ends of a core; -1: it has rims
    offsets: np.ndarray  # (f, 4, 3) of the mass points in the body's axes [m]

    def chosen(self, which: np.ndarray) -> RoundBodies:
        """The features that a mask (f,) chooses."""
        counts = np.diff(self.sliding_start)
        start = np.concatenate([[0], np.cumsum(counts[which])])
        columns = self._replace(sliding=which, sliding_start=which)
        rows = RoundBodies(*(column[which] for column in columns))
        return rows._replace(sliding=self.sliding[np.repeat(which, counts)], sliding_start=start)


def build_contact(
    settings: Contact,
    bodies: Sequence[Body],
    start: np.ndarray,
    apart: set[tuple[str, str]],
    shapes: Sequence[Shape],
    gravities: np.ndarray,
    stitched: np.ndarray,
) -> ContactModel:
    """Gather what takes part; `apart`: names of bodies that do not touch; gravities (bodies, 3) [m/s^2];
    stitched (k, 2): vertices that seams join.
    """
    placed = list(zip(bodies, start[:-1].tolist(), strict=True))
    thin: Any = Cloth | MeshObstacleBody | RigidBody
    if settings.guarantee:  # nothing is ever inside a solid: its surface alone takes part, with a thickness
        check_guarantee(settings, bodies, shapes)
        thin |= Solid
    sheets = [body.surface + first for body, first in placed if isinstance(body, thin)]
    tets = [body.mesh.tets + first for body, first in placed if isinstance(body, Solid) and not settings.guarantee]
    springs = [body.edges + first for body, first in placed if isinstance(body, SpringNet)]
    sizes = [body.n_vertices for body in bodies]
    friction = [np.nan if body.friction is None else body.friction for body in bodies]
    edges = [_edge_lengths(body) for body in bodies]
    radius = [0.5 * _thickness(settings, body, lengths) for body, lengths in zip(bodies, edges, strict=True)]
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
        np.array([settings.friction], dtype=float),
        np.repeat([lengths.mean() for lengths in edges], sizes),
        gravities,
        np.concatenate([np.empty((0, 3)), *(body.initial_positions for body in bodies)]),
        tuple(shapes),
        np.concatenate([_skips_obstacles(body) for body in bodies]),
        _round_bodies(placed, radius),
        np.array([body.restitution if isinstance(body, RigidBody) else 0.0 for body in bodies]),
        stitched,
        np.repeat(_half_clearances(settings, bodies, edges), sizes),
        np.repeat([isinstance(body, RigidBody) for body in bodies], sizes),
    )


def untested_contact(bodies: Sequence[Body], shapes: Sequence[Shape]) -> str:
    """A sentence on what is not tested although contact is on; empty if all is."""
    if bodies and any(shape.kind == CONTAINER for shape in shapes):
        return (
            "contact: containers are tested against vertices alone: at their rims edges sink in between their vertices."
        )
    return ""


def _edge_lengths(body: Body) -> np.ndarray:
    """Of the elements of a body as it starts [m], a shared edge once for each; the diameters of particles."""
    if isinstance(body, Particles):
        return 2 * body.radius
    if isinstance(body, Solid):
        corners = body.mesh.tets
    elif isinstance(body, RigidBody) and body.shape.round_feature is not None:
        return np.array([body.shape.round_feature.radius])
    elif isinstance(body, WorldPoints):
        return np.array([np.inf])
    elif isinstance(body, Cloth | MeshObstacleBody | RigidBody):
        corners = body.surface
    else:
        assert isinstance(body, SpringNet)
        corners = body.edges
    places = body.initial_positions[corners]
    sides = [places[:, i] - places[:, j] for i, j in combinations(range(corners.shape[1]), 2)]
    return np.linalg.norm(np.concatenate(sides), axis=1)


def _thickness(settings: Contact, body: Body, lengths: np.ndarray) -> float:
    """Of a body with edges of such lengths [m]; zero of those that touch without."""
    if not isinstance(body, Cloth | SpringNet) and not (settings.guarantee and isinstance(body, Solid | RigidBody)):
        return 0.0
    if settings.thickness is not None:
        return settings.thickness
    chosen = float(min(THICKNESS * lengths.mean(), 0.5 * lengths.min()))
    if isinstance(body, RigidBody):
        return min(chosen, OF_SIZE * float(np.linalg.norm(np.ptp(body.shape.surface[0], axis=0))))
    return min(chosen, HALF * least_width(body.mesh)) if isinstance(body, Solid) else chosen


def _half_clearances(settings: Contact, bodies: Sequence[Body], edges: list[np.ndarray]) -> list[float]:
    """[m] half of what bodies with edges of such lengths keep from others, so that they are not in each other where
    they press; none where a stiffness is given, beside a thickness, or between rigid bodies alone.
    """
    has_solids = any(isinstance(body, Solid) for body in bodies)
    if settings.guarantee or settings.stiffness is not None or not has_solids:
        return [0.0 for _ in bodies]
    return [0.5 * _clearance(body, lengths) for body, lengths in zip(bodies, edges, strict=True)]


def _clearance(body: Body, lengths: np.ndarray) -> float:
    if isinstance(body, Solid):
        return min(CLEARANCE * float(lengths.mean()), HALF * least_width(body.mesh))
    if isinstance(body, RigidBody) and body.shape.round_feature is None:
        return OF_SIZE * float(np.linalg.norm(np.ptp(body.shape.surface[0], axis=0)))
    return 0.0


def _skips_obstacles(body: Body) -> np.ndarray:
    """(n,) vertices that something else keeps from obstacles: rims of a cylinder, particles' own search."""
    is_round = isinstance(body, RigidBody) and body.shape.round_feature is not None
    return body.touches_nothing | is_round | isinstance(body, Particles)


def _round_bodies(placed: list[tuple[Body, int]], half: list[float]) -> RoundBodies:
    """Features of the rigid bodies among bodies and their first vertices; half: of their thicknesses [m]."""
    rows, sliding = [], []
    for number, (body, first) in enumerate(placed):
        feature = body.shape.round_feature if isinstance(body, RigidBody) else None
        if isinstance(body, RigidBody) and feature is not None:
            own = body.offsets[body.mass_vertices]
            ends = weights_of(own[None], np.stack([feature.start, feature.end]))
            core_ends = first + body.core_ends if len(body.core_ends) else np.full(2, -1)
            radius = feature.radius + half[number]
            sliding.append(first + body.sliding)
            rows.append((feature.kind, number, first + int(body.mass_vertices[0]), ends, radius, core_ends, own))
    columns: list[Any] = [np.array(values) for values in zip(*rows, strict=True)] if rows else [np.zeros(0)] * 7
    kind, numbers, masses, ends, radius, core_ends, own = columns
    start = np.cumsum([0, *(len(vertices) for vertices in sliding)])
    return RoundBodies(
        kind.astype(np.int64),
        numbers.astype(np.int64),
        masses.astype(np.int64),
        ends.reshape(-1, 2, 4),
        radius,
        np.concatenate([np.zeros(0, np.int64), *sliding]),
        start.astype(np.int64),
        core_ends.astype(np.int64).reshape(-1, 2),
        own.reshape(-1, 4, 3),
    )


def _allowed(settings: Contact, bodies: Sequence[Body], apart: set[tuple[str, str]]) -> np.ndarray:
    """Which pairs of bodies may touch; two obstacles never do."""
    n = len(bodies)
    allowed = np.ones((n, n), bool)
    allowed[np.arange(n), np.arange(n)] = [settings.self_contact and not isinstance(body, RigidBody) for body in bodies]
    is_obstacle = np.array([isinstance(body, MeshObstacleBody) for body in bodies], bool)
    allowed[np.ix_(is_obstacle, is_obstacle)] = False
    number = {body.name: k for k, body in enumerate(bodies)}
    for one, other in apart:
        if one in number and other in number:
            i, j = number[one], number[other]
            allowed[i, j] = allowed[j, i] = False
    return allowed
