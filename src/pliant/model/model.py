"""A scene frozen into flat arrays: what kernels, energies and solvers read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.elements.joint import Rods
from pliant.errors import SceneError
from pliant.geometry.surface import enclosed_volume
from pliant.model import checks
from pliant.model.attachments import attachment_pairs
from pliant.model.blocks import (
    Block,
    Converted,
    Sheets,
    Solids,
    Springs,
    Stitches,
    YarnTriangles,
    merge,
)
from pliant.model.body import AXES, CARRIED, FIXED, FREE, VERTEX_BLOCK, Body, Motion
from pliant.model.carried import CarriedPoints
from pliant.model.contact import ContactModel, build_contact
from pliant.model.forces import ForceField, OutsideForce
from pliant.model.joint_rows import JointRows, joint_rows, with_motors
from pliant.model.joints import WorldPoints
from pliant.model.motions import ComponentMotion
from pliant.model.particles import ParticleModel, particle_model
from pliant.model.pressure import PressureSchedule, at_time, pressure_block
from pliant.model.rigid import RigidBody, RigidForceField
from pliant.model.scene import Scene
from pliant.model.seams import band_block, seam_block, stitched_vertices
from pliant.model.sliding_points import provide_sliding_points
from pliant.model.topology import Topology, whole_topology
from pliant.model.volume import VolumeControl
from pliant.model.wind import wind_force


@dataclass(frozen=True)
class KinematicVertices:
    """Vertices whose positions a function of time gives."""

    body: str
    vertices: np.ndarray
    motion: Motion

    @property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of what is prescribed in arrays (n, 3)."""
        names = self.motion.components if isinstance(self.motion, ComponentMotion) else AXES
        return self.vertices[:, None], np.flatnonzero([axis in names for axis in AXES])[None, :]

    def put(self, x: np.ndarray, time: float, left: np.ndarray | float = 0.0) -> None:
        """Write what is prescribed at a time [s] to x (n, 3) [m]; left (k, 3) [m]: added to it."""
        rows, columns = self.places
        x[rows, columns] = (self.positions(time) + left)[:, columns[0]]

    def positions(self, time: float) -> np.ndarray:
        """Where they are to be at a time [s], checked: the function is the user's."""
        what = f"{self.body}: motion at t = {time:g} s"
        return checks.vectors(self.motion(time), len(self.vertices), what, "m")


@dataclass(frozen=True)
class Release:
    """Held vertices that become free at a time [s]."""

    vertices: np.ndarray
    time: float


@dataclass(frozen=True)
class Model:
    """Vertices of all bodies one after another, and what acts on them."""

    positions: np.ndarray  # (n, 3) at the start [m]
    velocities: np.ndarray  # (n, 3) at the start [m/s]
    mass: np.ndarray  # (n,) [kg]
    gravity: np.ndarray  # (n, 3) [m/s^2]
    air_damping: np.ndarray  # (n,) [1/s]
    damping: np.ndarray  # (n,) k_d [s], whatever its form
    vertex_damping: np.ndarray  # (n,) k_d [s] of vertex blocks; strain rates are damped by blocks of their own
    subspace: np.ndarray  # (n,) dimension of the space a vertex moves in: 3 free, 2 plane, 1 line, 0 fixed; 6 carried
    directions: np.ndarray  # (n, 3) normal of the plane or direction of the line
    kinematic: tuple[KinematicVertices, ...]
    forces: tuple[OutsideForce, ...]
    blocks: tuple[Block, ...]
    contact: ContactModel | None
    pressure_schedules: tuple[PressureSchedule, ...]
    body_names: tuple[str, ...]
    body_start: np.ndarray  # (bodies + 1,) first vertex of each
    releases: tuple[Release, ...] = ()
    topology: Topology | None = None  # what tearing and deleting need to know; None where nothing tears
    carried: CarriedPoints | None = None  # points of rigid bodies; None without any
    particles: ParticleModel | None = None  # spheres; None without any
    joints: tuple[JointRows, ...] = ()
    volume_controls: tuple[VolumeControl, ...] = ()  # surfaces whose volumes are prescribed

    @property
    def n_vertices(self) -> int:
        return len(self.mass)

    @property
    def solids(self) -> tuple[Solids, ...]:
        """The blocks that are tets."""
        return tuple(block for block in self.blocks if isinstance(block, Solids))

    @property
    def n_tets(self) -> int:
        return sum(len(solids.tets) for solids in self.solids)

    @cached_property
    def is_free(self) -> np.ndarray:
        """(n,) which vertices move at all."""
        return self.subspace != FIXED

    @cached_property
    def fixed(self) -> np.ndarray:
        """(k,) vertices that do not move by themselves, in ascending order."""
        return np.flatnonzero(self.subspace == FIXED)

    @cached_property
    def follows(self) -> np.ndarray:
        """(n,) which points have no mass and go where the body takes them that carries them."""
        return (self.subspace == CARRIED) & (self.mass == 0)

    @cached_property
    def inverse_body_mass(self) -> np.ndarray:
        """(b,) [1/kg] of the bodies that carry points."""
        return np.zeros(0) if self.carried is None else 1.0 / self.carried.masses(self.mass)

    @cached_property
    def is_partly_held(self) -> bool:
        """Whether any vertex moves along a line or in a plane only."""
        return bool(((self.subspace > FIXED) & (self.subspace < FREE)).any())

    @property
    def prescribed(self) -> np.ndarray:
        """(n, 3) coordinates that pins and motions give."""
        given = np.repeat(~self.is_free[:, None], 3, axis=1)
        for kinematic in self.kinematic:
            given[kinematic.places] = True
        return given

    def released(self, time: float) -> Model:
        """What is left of it at a time [s]: vertices whose time has come are free."""
        due = [release.vertices for release in self.releases if release.time <= time]
        if not due:
            return self
        freed = np.concatenate(due)
        subspace = self.subspace.copy()
        subspace[freed] = FREE
        kinematic = tuple(kinematic for kinematic in self.kinematic if not np.isin(kinematic.vertices, freed).any())
        return replace(
            self, subspace=subspace, kinematic=kinematic, releases=tuple(r for r in self.releases if r.time > time)
        )

    @property
    def internal_state(self) -> np.ndarray:
        """(k,) what all elements remember, block after block: a copy."""
        parts = [block.interpolants for block in self.blocks if isinstance(block, Converted)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def with_internal_state(self, internal_state: np.ndarray) -> Model:
        """The same model, whose elements remember these numbers (k,) and write to them."""
        if not len(internal_state):
            return self
        ends = np.cumsum([block.internal_state_size for block in self.blocks])
        parts = np.split(internal_state, ends[:-1])
        return replace(
            self, blocks=tuple(b.with_internal_state(part) for b, part in zip(self.blocks, parts, strict=True))
        )

    def at(self, time: float) -> Model:
        """The model with the pressures, seams and bands of a time [s], and with what motors are set to; itself if
        nothing changes.
        """
        blocks = self.blocks
        if any(block.changes_in_time for block in blocks):
            blocks = tuple(block.at(time) for block in blocks)
        if any(rows.joint.motor is not None for rows in self.joints):
            blocks = with_motors(blocks, self.joints)
        return (self if blocks is self.blocks else replace(self, blocks=blocks))._with_pressures(time)

    def _with_pressures(self, time: float) -> Model:
        schedules = self.pressure_schedules
        return replace(self, blocks=tuple(at_time(b, schedules, time) for b in self.blocks)) if schedules else self

    def acceleration(self, x: np.ndarray, v: np.ndarray, time: float) -> np.ndarray:
        """(n, 3) [m/s^2] by gravity, wind and the force fields, at positions x, velocities v and a time [s]."""
        if not self.forces:
            return self.gravity
        total = np.zeros_like(x)
        for force in self.forces:
            force.add_to(total, x, v, time)
        return self.gravity + total / np.where(self.mass > 0, self.mass, 1.0)[:, None]

    def project(self, vectors: np.ndarray, vertices: slice | np.ndarray = slice(None)) -> np.ndarray:
        """The part of (n, 3) vectors, of all vertices or of some, along which they may move (VBD 3.4). Vectors of
        carried points stay: what of them moves the body is `CarriedPoints.gathered`.
        """
        subspace = np.minimum(self.subspace[vertices], FREE)
        if (subspace == FREE).all():
            return vectors.copy()
        directions = self.directions[vertices]
        along = np.einsum("na,na->n", vectors, directions)[:, None] * directions
        choices = [np.zeros_like(vectors), along, vectors - along, vectors]
        return np.choose(subspace[:, None], choices)

    def vertices_of(self, body: int) -> np.ndarray:
        """Vertices of a body: those of its mesh, then those that tearing has added."""
        if self.topology is not None:
            return self.topology.vertices_of(body)
        return np.arange(self.body_start[body], self.body_start[body + 1])

    def elements_of(self, body: int) -> np.ndarray:
        """Triangles, springs or tets of a body that are left, by rows of its vertices."""
        own = self.vertices_of(body)
        parts = [block.elements for block in self.blocks if isinstance(block, Sheets | Springs | Solids | Rods)]
        parts += [block.elements[:, :3] for block in self.blocks if isinstance(block, YarnTriangles)]
        parts = parts or [np.empty((0, 3), np.int64)]
        mine = [part[np.isin(part[:, 0], own)] for part in parts]
        return np.searchsorted(own, np.concatenate([part for part in mine if len(part)] or mine[:1]))

    @property
    def drawn_points(self) -> np.ndarray | None:
        """Vertices that pictures and files show, body by body, where that is not simply all: see Topology.drawn."""
        if self.topology is None:
            return None
        drawn = [self.topology.drawn(k) for k in range(len(self.body_names))]
        plain = [np.arange(first, last) for first, last in pairwise(self.body_start)]
        return np.concatenate([own if rows is None else rows for own, rows in zip(plain, drawn, strict=True)])

    def describe_vertex(self, vertex: int) -> str:
        """A vertex as its user knows it."""
        origin = vertex if self.topology is None else int(self.topology.origin[vertex])
        body = int(np.searchsorted(self.body_start, origin, side="right")) - 1
        name = f"vertex {origin - self.body_start[body]} of {self.body_names[body]}"
        return name if origin == vertex else f"a vertex torn off {name}"


def build_model(scene: Scene, quadratic_bending: bool = True) -> Model:
    """Check the scene as a whole and freeze it.

    quadratic_bending: whether sheets that leave their bending_model out may bend by forms of the positions; else they
    bend by angles.
    """
    bodies = scene.bodies
    if not bodies:
        raise SceneError("the scene is empty: add a body with scene.add_solid(mesh, material).")
    provide_sliding_points(bodies, scene.apart)
    sizes = [body.n_vertices for body in bodies]
    start = np.concatenate([[0], np.cumsum(sizes)])
    subspace = np.concatenate([body.subspace for body in bodies])
    if (subspace == FIXED).all():
        raise SceneError(
            f"all {len(subspace)} vertices are pinned or moved: nothing is left to simulate. Leave some vertices free."
        )
    placed = list(zip(bodies, start[:-1].tolist(), strict=True))
    kinematic = tuple(
        KinematicVertices(body.name, first + vertices, motion)
        for body, first in placed
        for vertices, motion in body.motions
    )
    forces: list[OutsideForce] = [
        RigidForceField(body, first + body.mass_vertices, force)
        if isinstance(body, RigidBody)
        else ForceField(body.name, np.arange(first, first + body.n_vertices), force)
        for body, first in placed
        for force in body.forces
    ]
    if scene.wind is not None:
        forces.append(wind_force(scene.wind, placed))
    positions = np.concatenate([body.initial_positions for body in bodies])
    joints = _joint_blocks(scene, placed)
    blocks = merge(_blocks(scene, placed, positions, joints, quadratic_bending))
    model = Model(
        positions,
        np.concatenate([body.initial_velocities for body in bodies]),
        np.concatenate([body.masses for body in bodies]),
        _each([scene.gravity if body.gravity is None else body.gravity for body in bodies], sizes),
        _each([body.air_damping for body in bodies], sizes),
        _each([body.damping for body in bodies], sizes),
        _each([body.damping * (body.damping_form == VERTEX_BLOCK) for body in bodies], sizes),
        subspace,
        np.concatenate([body.directions for body in bodies]),
        kinematic,
        tuple(forces),
        blocks,
        None
        if scene.contact is None
        else build_contact(
            scene.contact, bodies, start, scene.apart, scene.shapes, _gravities(scene), _stitched(blocks)
        ),
        _pressure_schedules(bodies),
        tuple(body.name for body in bodies),
        start,
        tuple(Release(first + held, time) for body, first in placed for held, time in body.releases),
        carried=_carried(placed),
        particles=particle_model(placed),
        joints=joint_rows(scene.joints, joints, blocks, {id(body): first for body, first in placed}),
    )
    model = replace(model, volume_controls=_volume_controls(bodies, model))
    return replace(model, topology=whole_topology(model, bodies)) if any(body.tears for body in bodies) else model


def _blocks(
    scene: Scene,
    placed: list[tuple[Body, int]],
    positions: np.ndarray,
    joints: list[list[Block]],
    quadratic_bending: bool,
) -> list[Block]:
    """Elements of the bodies, then what acts on them as an energy; positions (n, 3) at the start [m]; joints: the
    elements of each.
    """
    bent = placed if quadratic_bending else [(body.with_angles(), first) for body, first in placed]
    blocks = [block for body, first in bent for block in body.blocks(first)]
    blocks += [block for body, first in bent for block in body.damping_blocks(first)]
    blocks += [
        pressure_block(inflated, first, positions[first : first + body.n_vertices])
        for body, first in placed
        for inflated in body.inflated()
    ]
    first_of = {id(body): first for body, first in placed}
    for link in scene.attachments:
        blocks.append(attachment_pairs(link, first_of[id(link.body_a)], first_of[id(link.body_b)]))
    for seam in scene.seams:
        blocks.append(seam_block(seam, first_of[id(seam.body_a)], first_of[id(seam.body_b)]))
    blocks += [band_block(band, first_of[id(band.body)]) for band in scene.bands]
    blocks += [block for own in joints for block in own]
    if scene.world_box is not None:
        blocks.append(scene.world_box.block(len(positions)))
    return blocks


def _joint_blocks(scene: Scene, placed: list[tuple[Body, int]]) -> list[list[Block]]:
    """Elements of each joint."""
    first_of: dict[Any, int] = {id(body): first for body, first in placed}
    first_of[id(None)] = next((first for body, first in placed if isinstance(body, WorldPoints)), 0)
    return [joint.made_of(first_of[id(joint.body_a)], first_of[id(joint.body_b)]) for joint in scene.joints]


def _stitched(blocks: tuple[Block, ...]) -> np.ndarray:
    """(k, 2) vertices that seams join."""
    pairs = [stitched_vertices(block) for block in blocks if isinstance(block, Stitches)]
    return np.concatenate(pairs) if pairs else np.zeros((0, 2), np.int64)


def _gravities(scene: Scene) -> np.ndarray:
    """(bodies, 3) [m/s^2]."""
    return np.array([scene.gravity if body.gravity is None else body.gravity for body in scene.bodies], dtype=float)


def _carried(placed: list[tuple[Body, int]]) -> CarriedPoints | None:
    """The points of all rigid bodies that nothing holds."""
    rigid = [(body, first) for body, first in placed if isinstance(body, RigidBody) and not body.is_held]
    if not rigid:
        return None
    return CarriedPoints(
        np.concatenate([np.arange(first, first + body.n_vertices) for body, first in rigid]),
        np.concatenate([[0], np.cumsum([body.n_vertices for body, _ in rigid])]),
        np.concatenate([body.offsets for body, _ in rigid]),
        np.stack([body.pose for body, _ in rigid]),
        np.stack([body.inertia for body, _ in rigid]),
    )


def _pressure_schedules(bodies: list[Body]) -> tuple[PressureSchedule, ...]:
    """Pressures that functions give, on the triangles of the block that `_blocks` makes of them."""
    schedules, first = [], 0
    for inflated in (inflated for body in bodies for inflated in body.inflated()):
        last = first + len(inflated.triangles)
        if callable(inflated.pressure):
            schedules.append(PressureSchedule(inflated.what, first, last, inflated.pressure))
        first = last
    return tuple(schedules)


def _volume_controls(bodies: list[Body], model: Model) -> tuple[VolumeControl, ...]:
    """Prescribed volumes, on the triangles of the block that `_blocks` makes of them."""
    controls, first = [], 0
    for k, inflated in ((k, inflated) for k, body in enumerate(bodies) for inflated in body.inflated()):
        last = first + len(inflated.triangles)
        if inflated.volume is not None:
            at_start = enclosed_volume(model.positions[model.body_start[k] :], inflated.triangles)
            controls.append(VolumeControl(inflated.what, k, first, last, inflated.volume, at_start))
        first = last
    return tuple(controls)


def _each(values: list, sizes: list[int]) -> np.ndarray:
    """Values of bodies at each of their vertices."""
    return np.repeat(np.array(values, dtype=float), sizes, axis=0)
