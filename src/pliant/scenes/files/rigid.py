"""Tables of a scene file for rigid bodies and their joints."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pliant.scenes.files.fields import Number, Pair, Quaternion, Table, Vector, one_of
from pliant.scenes.files.holds import AnyMotion
from pliant.scenes.files.placed import PlacedTable


class RigidSphere(Table):
    """A ball."""

    kind: Literal["sphere"]
    radius: Annotated[float, Number("m", above=0)]


class RigidBox(Table):
    """A block."""

    kind: Literal["box"]
    size: Annotated[tuple, Vector("m")]


class RigidRod(Table):
    """A rod along z with round or flat ends; a capsule's length is that between the centres of its ends."""

    kind: Literal["capsule", "cylinder"]
    radius: Annotated[float, Number("m", above=0)]
    length: Annotated[float, Number("m", above=0)]


AnyRigidShape = one_of((RigidSphere, RigidBox, RigidRod), "kind")


class RigidTable(PlacedTable):
    """A rigid body: a shape with a formula or a closed mesh, whose centre of mass is at `position`."""

    kind: Literal["rigid"]
    shape: AnyRigidShape | None = None  # type: ignore[valid-type]
    density: Annotated[float, Number("kg/m^3", above=0)] = 1000.0
    position: Annotated[tuple, Vector("m")] = (0.0, 0.0, 0.0)
    orientation: Annotated[tuple, Quaternion()] = (1.0, 0.0, 0.0, 0.0)
    velocity: Annotated[tuple, Vector("m/s")] = (0.0, 0.0, 0.0)
    angular_velocity: Annotated[tuple, Vector("rad/s")] = (0.0, 0.0, 0.0)
    friction: Annotated[float | None, Number("1", least=0)] = None
    restitution: Annotated[float, Number("1", least=0)] = 0.0
    gravity: Annotated[tuple | None, Vector("m/s^2")] = None
    air_damping: Annotated[float, Number("1/s", least=0)] = 0.0
    pinned: bool = False
    motion: AnyMotion | None = None
    points: list[Annotated[tuple, Vector("m")]] = Field(default_factory=list)  # to attach, in the body's own axes


class MotorTable(Table):
    """What drives a hinge, or a slider or distance, whose numbers are then in m, m/s and N."""

    angle: Annotated[float | None, Number("rad or m")] = None
    speed: Annotated[float | None, Number("rad/s or m/s")] = None
    torque: Annotated[float | None, Number("N m or N")] = None
    max_torque: Annotated[float | None, Number("N m or N", above=0)] = None  # without it: infinite


class JointTable(Table):
    """A joint of a rigid body with another one, the world or vertices of a soft body, where it starts."""

    kind: Literal["ball", "hinge", "slider", "fixed", "universal", "distance"]
    bodies: Annotated[list[str], Field(min_length=1, max_length=2)]
    point: Annotated[tuple | None, Vector("m")] = None  # of joints without vertices, and of distances
    axis: Annotated[tuple | None, Vector("any length")] = None
    stiffness: Annotated[float | None, Number("N/m", above=0)] = None  # without it: infinite
    length: Annotated[float | None, Number("m", above=0)] = None
    other_point: Annotated[tuple | None, Vector("m")] = None
    one_sided: bool = True
    collide: bool = False
    limits: Annotated[tuple | None, Pair("rad or m")] = None
    spring: Annotated[float, Number("N m/rad or N/m", least=0)] = 0.0
    damping: Annotated[float, Number("N m s/rad or N s/m", least=0)] = 0.0
    rest: Annotated[float | None, Number("rad or m")] = None
    motor: MotorTable | None = None
    break_force: Annotated[float | None, Number("N", above=0)] = None  # without it: it never breaks
    cone: Annotated[float | None, Number("rad", above=0)] = None  # of a ball
    twist: Annotated[tuple | None, Pair("rad")] = None  # of a ball or a universal
    vertices: list[int] | None = None  # of a soft second body
