"""Which vertices a scene file means, and how they are held or moved."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from pliant.scenes.files.fields import Number, Table, Vector, Whole, one_of, refuse

# --- which vertices -------------------------------------------------------------------------------------------------


class Everything(Table):
    """All vertices of the body."""

    kind: Literal["all"]


class InBox(Table):
    """Vertices within a box, its sides included."""

    kind: Literal["box"]
    low: Annotated[tuple, Vector("m")]
    high: Annotated[tuple, Vector("m")]

    @model_validator(mode="after")
    def _is_not_inside_out(self) -> InBox:
        if any(low > high for low, high in zip(self.low, self.high, strict=True)):
            raise refuse(f"low {list(self.low)} is above high {list(self.high)}: exchange them")
        return self


class BeyondPlane(Table):
    """Vertices on a plane or on the side its normal points to."""

    kind: Literal["plane"]
    point: Annotated[tuple, Vector("m")]
    normal: Annotated[tuple, Vector("any length")]


class OnFace(Table):
    """Vertices at an end of the body along an axis: "+z" is the top."""

    kind: Literal["face"]
    side: Literal["+x", "-x", "+y", "-y", "+z", "-z"]


class Nearest(Table):
    """The vertices nearest to a point."""

    kind: Literal["nearest"]
    point: Annotated[tuple, Vector("m")]
    count: Annotated[int, Whole()] = 1


class Indices(Table):
    """Vertices by their numbers in the mesh, from 0."""

    kind: Literal["indices"]
    indices: Annotated[list[Annotated[int, Whole(0)]], Field(min_length=1)]


Where = one_of((Everything, InBox, BeyondPlane, OnFace, Nearest, Indices), "kind")

# --- how they are held ----------------------------------------------------------------------------------------------


class Hold(Table):
    """Vertices that do not move freely."""

    where: Where  # type: ignore[valid-type]


class Line(Hold):
    """Each moves only along a line through its start."""

    kind: Literal["line"]
    direction: Annotated[tuple, Vector("any length")]


class Plane(Hold):
    """Each moves only in a plane through its start."""

    kind: Literal["plane"]
    normal: Annotated[tuple, Vector("any length")]


Components = Literal["x", "y", "z", "xy", "xz", "yz", "xyz"]


class FirmHold(Hold):
    """They are where they are told to be, and free from `until` on if it is given."""

    until: Annotated[float | None, Number("s", above=0)] = None
    components: Components = "xyz"  # coordinates that are held; the others are free


class Pin(FirmHold):
    """They stay where they start."""

    kind: Literal["pin"]
    clamped: bool = False  # a sheet or rod keeps its slope too, by the next vertices


class SlideMotion(Table):
    """At a constant velocity, for so many seconds from `begin` on; for ever if `seconds` is left out."""

    kind: Literal["slide"]
    velocity: Annotated[tuple, Vector("m/s")]
    begin: Annotated[float, Number("s", least=0)] = 0.0
    seconds: Annotated[float | None, Number("s", above=0)] = None


class TurnMotion(Table):
    """About an axis through a centre, then rest; smooth: gently from rest to rest."""

    kind: Literal["turn"]
    axis: Annotated[tuple, Vector("any length")] = (0.0, 0.0, 1.0)
    centre: Annotated[tuple, Vector("m")] = (0.0, 0.0, 0.0)
    turns: Annotated[float, Number("1")]
    seconds: Annotated[float, Number("s", above=0)]
    begin: Annotated[float, Number("s", least=0)] = 0.0
    smooth: bool = True


class KeyframesMotion(Table):
    """Through offsets from the start at given times."""

    kind: Literal["keyframes"]
    times: list[Annotated[float, Number("s")]]
    offsets: list[Annotated[tuple, Vector("m")]]
    smooth: bool = False
    repeat: bool = False


class Slide(SlideMotion, FirmHold):
    """They move at a constant velocity."""


class Turn(TurnMotion, FirmHold):
    """They turn about an axis."""


class Keyframes(KeyframesMotion, FirmHold):
    """They pass through offsets from their start."""


AnyMotion = one_of((SlideMotion, TurnMotion, KeyframesMotion), "kind")
AnyHold = one_of((Pin, Line, Plane, Slide, Turn, Keyframes), "kind")
