"""How obstacles come into a scene."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal, TypeVar, overload

from numpy.typing import ArrayLike

from pliant.arguments import is_one_of
from pliant.errors import SceneError
from pliant.model.body import Body
from pliant.model.contact import Contact
from pliant.model.distance_field import DistanceField
from pliant.model.mesh_obstacle import MeshObstacleBody, Surface
from pliant.model.obstacles import Box, Capsule, Container, Cylinder, ObstacleMotion, Plane, Shape, Sphere

AnyShape = TypeVar("AnyShape", bound=Shape)


class AddingObstacles(ABC):
    """A part of Scene."""

    shapes: list[Shape]
    _contact: Contact | None

    @abstractmethod
    def add(self, body: Any) -> Any: ...

    @abstractmethod
    def _free_name(self, name: str | None, kind: type[Body]) -> str: ...

    def add_plane(
        self,
        point: ArrayLike = (0.0, 0.0, 0.0),
        normal: ArrayLike = (0.0, 0.0, 1.0),
        friction: float = 0.3,
        motion: ObstacleMotion | None = None,
    ) -> Plane:
        """Add the half-space behind a plane through `point` [m]; `normal` points to the free side.

        friction: coefficient of contacts with it (see Body.friction).

        motion: of any obstacle, a function of the time [s] that gives a translation (3,) [m] and a rotation (3, 3)
        away from where it was made.
        """
        return self._add_shape(Plane(point, normal, friction=friction, motion=motion))

    def add_sphere(
        self, centre: ArrayLike, radius: float, friction: float = 0.3, motion: ObstacleMotion | None = None
    ) -> Sphere:
        """Add a ball [m]."""
        return self._add_shape(Sphere(centre, radius, friction=friction, motion=motion))

    def add_box(
        self, centre: ArrayLike, size: ArrayLike, friction: float = 0.3, motion: ObstacleMotion | None = None
    ) -> Box:
        """Add a block with edges of lengths `size` [m]."""
        return self._add_shape(Box(centre, size, friction=friction, motion=motion))

    def add_container(
        self, centre: ArrayLike, size: ArrayLike, friction: float = 0.3, motion: ObstacleMotion | None = None
    ) -> Container:
        """Add a box-shaped cavity with floor and walls, open at the top [m]."""
        return self._add_shape(Container(centre, size, friction=friction, motion=motion))

    def add_capsule(
        self,
        start: ArrayLike,
        end: ArrayLike,
        radius: float,
        friction: float = 0.3,
        motion: ObstacleMotion | None = None,
    ) -> Capsule:
        """Add all points nearer than `radius` to a segment [m]."""
        return self._add_shape(Capsule(start, end, radius, friction=friction, motion=motion))

    def add_cylinder(
        self,
        start: ArrayLike,
        end: ArrayLike,
        radius: float,
        friction: float = 0.3,
        motion: ObstacleMotion | None = None,
    ) -> Cylinder:
        """Add a cylinder with flat ends [m]."""
        return self._add_shape(Cylinder(start, end, radius, friction=friction, motion=motion))

    @overload
    def add_mesh_obstacle(
        self,
        mesh: Surface,
        friction: float = ...,
        motion: ObstacleMotion | None = ...,
        name: str | None = ...,
        method: Literal["mesh"] = ...,
        resolution: int = ...,
    ) -> MeshObstacleBody: ...

    @overload
    def add_mesh_obstacle(
        self,
        mesh: Surface,
        friction: float = ...,
        motion: ObstacleMotion | None = ...,
        name: str | None = ...,
        *,
        method: Literal["sdf"],
        resolution: int = ...,
    ) -> DistanceField: ...

    def add_mesh_obstacle(
        self,
        mesh: Surface,
        friction: float = 0.3,
        motion: ObstacleMotion | None = None,
        name: str | None = None,
        method: str = "mesh",
        resolution: int = 64,
    ) -> MeshObstacleBody | DistanceField:
        """Add a triangle mesh that bodies run into, or a pl.Animation of one, which moves by itself.

        method: "mesh" takes vertices, edges and faces as they are, open or closed; the vertices are among the scene's,
            held. "sdf" takes a closed mesh as a field of signed distances on a grid: it has smooth normals and an
            inside, and costs the same however fine the mesh is; details below a cell are rounded. An animation's
            grid is built again for each step.
        resolution: of "sdf": cells along the longest side of the mesh's box.
        """
        if not is_one_of(method, ("mesh", "sdf")):
            raise SceneError(f"add_mesh_obstacle: method is {method!r}; give 'mesh' or 'sdf'.")
        if method == "sdf":
            own = name or f"mesh{sum(isinstance(shape, DistanceField) for shape in self.shapes)}"
            return self._add_shape(DistanceField(mesh, resolution, own, friction=friction, motion=motion))
        body = MeshObstacleBody(self._free_name(name, MeshObstacleBody), mesh, friction, motion)
        self._contact = self._contact or Contact()
        return self.add(body)

    def _add_shape(self, shape: AnyShape) -> AnyShape:
        self._contact = self._contact or Contact()
        self.shapes.append(shape)
        return shape
