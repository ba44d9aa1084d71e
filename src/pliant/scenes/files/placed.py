"""Tables of a scene file for what has vertices and a place."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from pliant.scenes.files.fields import Colour, Number, Table, Vector, refuse


class Rotation(Table):
    """Right-handed about an axis through the origin."""

    axis: Annotated[tuple, Vector("any length")]
    degrees: Annotated[float, Number("degrees")]


class Transform(Table):
    """A shape is first scaled, then rotated, then moved."""

    scale: Annotated[Any, Vector("1", or_one=True)] = 1.0
    rotation: Rotation | None = None
    translation: Annotated[tuple, Vector("m")] = (0.0, 0.0, 0.0)


class PlacedTable(Table):
    """What has vertices: a name, a shape or a mesh, and where it is."""

    name: Annotated[str, Field(min_length=1)] | None = None
    mesh: Annotated[str, Field(min_length=1)] | None = None
    transform: Transform = Transform()
    colour: Annotated[tuple | None, Colour()] = None

    @model_validator(mode="after")
    def _has_one_geometry(self) -> PlacedTable:
        if (self.mesh is None) == (getattr(self, "shape", None) is None):
            raise refuse("give either a shape or a mesh")
        return self
