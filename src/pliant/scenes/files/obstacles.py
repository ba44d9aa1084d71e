"""Tables of a scene file for what bodies run into."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from pliant.geometry.animation import Animation
from pliant.scenes.files import generated
from pliant.scenes.files.fields import Number, Table, Vector, Whole, one_of, refuse
from pliant.scenes.files.holds import AnyMotion
from pliant.scenes.files.placed import PlacedTable

AnySurface = generated.shape_tables(generated.SOLID_SHAPES | generated.SHEET_SHAPES)
MannequinTable = generated.table_of("kind", "walking_mannequin", Animation.walking_mannequin)


def _file_or_figure(value: Any) -> str:
    return "figure" if isinstance(value, dict | Table) else "file"


AnyAnimation = Annotated[
    Annotated[str, Field(min_length=1), Tag("file")] | Annotated[MannequinTable, Tag("figure")],  # type: ignore[valid-type]
    Discriminator(_file_or_figure),
]


class MeshObstacleTable(PlacedTable):
    """A surface that bodies run into, or an animation of one.

    Its vertices are among those of the bodies unless its method is "sdf", so it stands among them.
    """

    kind: Literal["obstacle"]
    shape: AnySurface | None = None  # type: ignore[valid-type]
    animation: AnyAnimation | None = None  # a file as of pl.load_animation, or a figure
    frame_rate: Annotated[float, Number("1/s", above=0)] = 30.0  # of an animation in files
    repeat: bool = False
    friction: Annotated[float, Number("1", least=0)] = 0.3
    motion: AnyMotion | None = None
    method: Literal["mesh", "sdf"] = "mesh"
    resolution: Annotated[int, Whole(8)] = 64

    @model_validator(mode="after")
    def _has_one_geometry(self) -> MeshObstacleTable:
        if [self.mesh, self.shape, self.animation].count(None) != 2:
            raise refuse("give either a shape, a mesh or an animation")
        if self.animation is not None and "transform" in self.model_fields_set:
            raise refuse("an animation is where its frames say; leave out the transform")
        return self


class ObstacleTable(Table):
    """What bodies run into, at rest or moved."""

    friction: Annotated[float, Number("1", least=0)] = 0.3
    motion: AnyMotion | None = None


class PlaneTable(ObstacleTable):
    """The half-space behind a plane."""

    kind: Literal["plane"]
    point: Annotated[tuple, Vector("m")] = (0.0, 0.0, 0.0)
    normal: Annotated[tuple, Vector("any length")] = (0.0, 0.0, 1.0)


class SphereTable(ObstacleTable):
    """A ball."""

    kind: Literal["sphere"]
    centre: Annotated[tuple, Vector("m")]
    radius: Annotated[float, Number("m", above=0)]


class BoxTable(ObstacleTable):
    """A block, or a cavity with floor and walls that is open at the top."""

    kind: Literal["box", "container"]
    centre: Annotated[tuple, Vector("m")]
    size: Annotated[tuple, Vector("m")]


class CapsuleTable(ObstacleTable):
    """A rod with round or flat ends."""

    kind: Literal["capsule", "cylinder"]
    start: Annotated[tuple, Vector("m")]
    end: Annotated[tuple, Vector("m")]
    radius: Annotated[float, Number("m", above=0)]


AnyObstacle = one_of((PlaneTable, SphereTable, BoxTable, CapsuleTable), "kind")
