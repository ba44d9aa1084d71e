"""Shapes of rigid bodies: a sphere, a box, a capsule and a cylinder by formula, and closed meshes.

A shape gives exact mass properties, a surface, and how it touches: a mesh by its vertices, edges and faces, a round one
by its core, the points or the segment that its surface keeps a radius away from (contact.round_bodies).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import SceneError
from pliant.geometry import TetMesh, TriMesh
from pliant.geometry.mass_properties import MassProperties, mass_properties
from pliant.geometry.primitive_surfaces import (
    Surface,
    capsule_surface,
    centred_box_surface,
    cylinder_surface,
    sphere_surface,
)
from pliant.model import checks
from pliant.model.closed_surfaces import check_closed

CORE, RIMS = 0, 1  # how a round shape touches: by a core with a radius, or by the rims of its two flat ends
SLIDING_POINTS = {CORE: 64, RIMS: 10}  # of a round shape; a contact takes two of a core, one of rims


@dataclass(frozen=True)
class RoundFeature:
    """A segment from `start` to `end` [m], in the shape's own axes, and a radius [m] around it."""

    kind: int  # CORE or RIMS
    start: np.ndarray  # (3,)
    end: np.ndarray  # (3,); where the start is for a sphere
    radius: float


class RigidShape(ABC):
    """What a rigid body is made of, in its own axes."""

    round_feature: RoundFeature | None = None  # None: it touches by the mesh alone

    @property
    @abstractmethod
    def mass_properties(self) -> MassProperties:
        """Exact."""

    @property
    @abstractmethod
    def surface(self) -> Surface:
        """Points (n, 3) [m] and outward triangles (m, 3): what is drawn, and what touches unless a core does."""

    @property
    def touching_surface(self) -> Surface:
        """The part of the surface that takes part in contact as a mesh."""
        return self.surface


class Primitive(RigidShape):
    """A shape with formulas: a frozen dataclass of its sizes, centred at the origin, along z."""

    kind: ClassVar[str]  # in files

    @property
    def sizes(self) -> dict[str, Any]:
        """Its arguments as plain numbers and lists."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}

    @property
    def mass_properties(self) -> MassProperties:
        volume, moments = self._volume_and_moments()
        return MassProperties(volume, np.zeros(3), np.diag(np.array(moments, float)))

    @abstractmethod
    def _volume_and_moments(self) -> tuple[float, tuple[float, float, float]]:
        """Volume [m^3] and the integrals of x^2, y^2, z^2 [m^5]."""

    def _check_length(self, name: str) -> None:
        value = checks.number(getattr(self, name), f"{type(self).__name__}: {name}", "m", positive=True)
        object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Sphere(Primitive):
    """A ball. radius [m]."""

    kind: ClassVar[str] = "sphere"
    radius: float

    def __post_init__(self) -> None:
        self._check_length("radius")

    def _volume_and_moments(self) -> tuple[float, tuple[float, float, float]]:
        volume = 4 / 3 * np.pi * self.radius**3
        return volume, (volume * self.radius**2 / 5,) * 3

    @property
    def surface(self) -> Surface:
        return sphere_surface(self.radius)

    @property
    def touching_surface(self) -> Surface:
        return NO_SURFACE

    @property
    def round_feature(self) -> RoundFeature:  # type: ignore[override]
        """How it touches."""
        return RoundFeature(CORE, np.zeros(3), np.zeros(3), self.radius)


@dataclass(frozen=True)
class Box(Primitive):
    """A block. size: lengths of its edges along x, y and z [m]."""

    kind: ClassVar[str] = "box"
    size: ArrayLike

    def __post_init__(self) -> None:
        size = checks.vectors(self.size, None, "Box: size", "m")
        if (size <= 0).any():
            raise SceneError(f"Box: size is {size.tolist()}: give three positive lengths [m].")
        size.flags.writeable = False
        object.__setattr__(self, "size", size)

    def _volume_and_moments(self) -> tuple[float, tuple[float, float, float]]:
        size = np.asarray(self.size)
        volume = float(size.prod())
        x, y, z = (volume * size**2 / 12).tolist()
        return volume, (x, y, z)

    @property
    def surface(self) -> Surface:
        a, b, c = (0.5 * np.asarray(self.size)).tolist()
        return centred_box_surface(a, b, c)


@dataclass(frozen=True)
class Capsule(Primitive):
    """All points nearer than `radius` [m] to a segment of `length` [m] along z: length + 2 radius from end to end."""

    kind: ClassVar[str] = "capsule"
    radius: float
    length: float

    def __post_init__(self) -> None:
        self._check_length("radius")
        self._check_length("length")

    def _volume_and_moments(self) -> tuple[float, tuple[float, float, float]]:
        r, length = self.radius, self.length
        middle, ends = np.pi * r**2 * length, 4 / 3 * np.pi * r**3
        across = middle * r**2 / 4 + ends * r**2 / 5
        along = middle * length**2 / 12 + ends * (length**2 / 4 + 3 * length * r / 8 + r**2 / 5)
        return middle + ends, (across, across, along)

    @property
    def surface(self) -> Surface:
        return capsule_surface(self.radius, 0.5 * self.length)

    @property
    def touching_surface(self) -> Surface:
        return NO_SURFACE

    @property
    def round_feature(self) -> RoundFeature:  # type: ignore[override]
        """How it touches."""
        end = np.array([0.0, 0.0, 0.5 * self.length])
        return RoundFeature(CORE, -end, end, self.radius)


@dataclass(frozen=True)
class Cylinder(Primitive):
    """A cylinder along z with flat ends. radius, length [m].

    Obstacles with formulas touch its exact rims; meshes, and so other bodies, a prism of 48 sides within it, whose
    sides are up to 0.2 percent of the radius below the surface.
    """

    kind: ClassVar[str] = "cylinder"
    radius: float
    length: float

    def __post_init__(self) -> None:
        self._check_length("radius")
        self._check_length("length")

    def _volume_and_moments(self) -> tuple[float, tuple[float, float, float]]:
        volume = np.pi * self.radius**2 * self.length
        across = volume * self.radius**2 / 4
        return volume, (across, across, volume * self.length**2 / 12)

    @property
    def surface(self) -> Surface:
        return cylinder_surface(self.radius, 0.5 * self.length)

    @property
    def round_feature(self) -> RoundFeature:  # type: ignore[override]
        """How it touches."""
        end = np.array([0.0, 0.0, 0.5 * self.length])
        return RoundFeature(RIMS, -end, end, self.radius)


@dataclass(frozen=True, eq=False)
class MeshShape(RigidShape):
    """A closed surface, moved so that its centre of mass is at the origin."""

    mesh: TriMesh | TetMesh  # as given
    properties: MassProperties

    @property
    def mass_properties(self) -> MassProperties:
        return self.properties._replace(centre=np.zeros(3))

    @property
    def surface(self) -> Surface:
        surface = self.mesh.surface() if isinstance(self.mesh, TetMesh) else self.mesh
        return surface.points - self.properties.centre, surface.triangles


NO_SURFACE: Surface = (np.empty((0, 3)), np.empty((0, 3), np.int64))
PRIMITIVES: dict[str, type[Primitive]] = {shape.kind: shape for shape in (Sphere, Box, Capsule, Cylinder)}


def rigid_shape(given: object, name: str) -> RigidShape:
    """A shape as a user gives it, checked."""
    if isinstance(given, RigidShape):
        return given
    if not isinstance(given, TriMesh | TetMesh):
        raise SceneError(
            f"{name}: the shape is {given!r}; give pl.Sphere(radius), pl.Box(size), pl.Capsule(radius, length), "
            "pl.Cylinder(radius, length), or a closed TriMesh or a TetMesh."
        )
    surface = given.surface() if isinstance(given, TetMesh) else given
    check_closed(surface.points, surface.triangles, name, "add_mesh_obstacle")
    return MeshShape(given, mass_properties(surface.points, surface.triangles))
