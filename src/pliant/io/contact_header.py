"""Contact and obstacles of a scene as plain words and numbers, for checkpoints and scene files."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import numpy as np

from pliant.errors import FileError
from pliant.geometry import TriMesh
from pliant.geometry.animation import Animation
from pliant.model import MOTIONS, Contact, RigidMotion, Scene, rigid_motion
from pliant.model.distance_field import DistanceField
from pliant.model.obstacles import Box, Capsule, Container, Cylinder, Plane, Shape, Sphere

#: Obstacles with formulas, by the names that files give them.
SHAPES: dict[str, type[Shape]] = {
    kind.__name__.lower(): kind for kind in (Plane, Sphere, Box, Container, Capsule, Cylinder, DistanceField)
}


def describe_contact(scene: Scene) -> dict[str, Any] | None:
    """The settings of contact; None without contact."""
    return None if scene.contact is None else asdict(scene.contact)


def describe_shapes(scene: Scene) -> list[dict[str, Any]]:
    """The obstacles with formulas and fields; one that a Python function moves is refused."""
    return [describe_shape(k, shape) for k, shape in enumerate(scene.shapes)]


def describe_shape(k: int, shape: Shape) -> dict[str, Any]:
    motion = shape.motion
    if motion is not None and not isinstance(motion, RigidMotion):
        raise FileError(
            f"obstacle {k}, a {type(shape).__name__}, is moved by a Python function, which a file cannot hold; "
            f"use one of pliant.motions: {', '.join(f'{name}.rigid' for name in MOTIONS)}."
        )
    names = [field.name for field in fields(shape) if field.init and field.name != "motion"]
    plain = {name: _plain(getattr(shape, name)) for name in names}
    moved = {} if motion is None else {"motion": motion.options()}
    return {"kind": type(shape).__name__.lower(), **plain, **moved}


def _plain(value: Any) -> Any:
    """Arrays as lists, surfaces as tables of these."""
    if isinstance(value, TriMesh):
        return {"points": value.points.tolist(), "triangles": value.triangles.tolist()}
    if isinstance(value, Animation):
        return {name: _plain(getattr(value, name)) for name in ("triangles", "frames", "times", "repeat")}
    return value.tolist() if isinstance(value, np.ndarray) else value


def _surface(about: dict[str, Any]) -> TriMesh | Animation:
    """What `_plain` described."""
    return TriMesh(**about) if "points" in about else Animation(**about)


def restore_contact(scene: Scene, contact: dict[str, Any] | None, shapes: list[dict[str, Any]]) -> None:
    """Give a scene the contact and the obstacles that were described."""
    for about in shapes:
        options = {name: value for name, value in about.items() if name != "kind"}
        if "motion" in options:
            options["motion"] = rigid_motion(**options["motion"])
        if "surface" in options:
            options["surface"] = _surface(options["surface"])
        scene.shapes.append(SHAPES[about["kind"]](**options))
    if contact is not None:
        scene.contact = Contact(**contact)
