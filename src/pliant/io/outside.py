"""What acts on a scene from outside, in a checkpoint: settings of bodies, world box, wind, attachments,
joints, seams, bands and embedded surfaces.

Functions of time, other than a Schedule, are not in the file. They are named "<body>.<setting>" and "wind.velocity" and
passed again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError
from pliant.io.arrays import check_arrays
from pliant.io.saved_arrays import expected_of_attachment
from pliant.io.sewing import pack_sewing, unpack_sewing
from pliant.io.skins import pack_skins, unpack_skins
from pliant.model import Attachment, Body, Joint, Scene, Schedule, Wind, WorldBox
from pliant.model.joint_drives import Drive
from pliant.model.joint_stops import Stop
from pliant.model.motors import Motor

Functions = Mapping[str, Callable[[float], Any]]
_FUNCTION = {"function": True}  # stands for one in the header
_LINKS = ("vertices_a", "weights_a", "vertices_b", "weights_b")
_SIDES = ("body_a", "body_b")


def pack_settings(body: Body) -> dict[str, Any]:
    """Gravity, air damping, pressure and so on of a body, for the header."""
    return {name: _plain(getattr(body, name)) for name in body.settings}


def unpack_settings(body: Body, about: dict[str, Any], functions: Functions) -> None:
    for name, value in about.items():
        setattr(body, name, functions[f"{body.name}.{name}"] if value == _FUNCTION else _restored(value))


def pack_outside(scene: Scene, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The rest, for the header; indices and weights of links are added to `arrays`."""
    box, wind = scene.world_box, scene.wind
    links = []
    for k, link in enumerate(scene.attachments):
        arrays.update({f"attachment{k}.{name}": getattr(link, name) for name in _LINKS})
        ends = [next(n for n, own in enumerate(scene.bodies) if own is body) for body in (link.body_a, link.body_b)]
        links.append({"bodies": ends, "stiffness": link.stiffness})
    return {
        "world_box": box and {name: _plain(getattr(box, name)) for name in ("lower", "upper", "stiffness")},
        "wind": wind and {name: _plain(getattr(wind, name)) for name in ("velocity", "drag", "lift", "air_density")},
        "attachments": links,
        "joints": [_pack_joint(scene, joint) for joint in scene.joints],
        **pack_sewing(scene, arrays),
        **pack_skins(scene, arrays),
    }


def unpack_outside(
    path: Path, scene: Scene, about: dict[str, Any], arrays: dict[str, np.ndarray], functions: Functions
) -> None:
    """Give a scene what was packed; the arrays of its links are taken out."""
    if about["world_box"] is not None:
        scene.world_box = WorldBox(**about["world_box"])
    if about["wind"] is not None:
        velocity = about["wind"]["velocity"]
        velocity = functions["wind.velocity"] if velocity == _FUNCTION else _restored(velocity)
        scene.wind = Wind(**{**about["wind"], "velocity": velocity})
    for k, link in enumerate(about["attachments"]):
        body_a, body_b = (scene.bodies[n] for n in link["bodies"])
        prefix = f"attachment{k}."
        own = {name: arrays.pop(name) for name in list(arrays) if name.startswith(prefix)}
        check_arrays(path, own, expected_of_attachment(prefix, (body_a, body_b), own))
        va, wa, vb, wb = (own[prefix + name] for name in _LINKS)
        scene.attachments.append(Attachment(body_a, va, wa, body_b, vb, wb, link["stiffness"]))

    unpack_sewing(path, scene, about, arrays)
    unpack_skins(path, scene, about, arrays)
    scene.joints.extend(_unpack_joint(scene, joint) for joint in about.get("joints", ()))


def _pack_joint(scene: Scene, joint: Joint) -> dict[str, Any]:
    values = {field.name: _plain(getattr(joint, field.name)) for field in fields(joint)}
    values["starts_broken"], drive = joint.is_broken, joint.drive
    values["stops"] = [vars(stop) for stop in joint.stops]
    if drive is not None:
        values["drive"] = {**vars(drive), "motor": None if drive.motor is None else drive.motor.options()}
    for side in _SIDES:
        places = [n for n, own in enumerate(scene.bodies) if own is values[side]]
        values[side] = places[0] if places else None
    return values


def _unpack_joint(scene: Scene, about: dict[str, Any]) -> Joint:
    vectors = {
        name: None if about[name] is None else np.array(about[name]) for name in ("point", "axis", "other_point")
    }
    links = [(a, b) for a, b in about["links"]]
    dots = [tuple((side, vertex) for side, vertex in ends) for ends in about["dots"]]
    bodies: dict[str, Any] = {side: None if about[side] is None else scene.bodies[about[side]] for side in _SIDES}
    drive = about.get("drive")
    if drive is not None:
        motor = None if drive["motor"] is None else Motor(**drive["motor"])
        limits = None if drive["limits"] is None else tuple(drive["limits"])
        drive = Drive(**{**drive, "limits": limits, "motor": motor})
    own = {"links": links, "dots": dots, "drive": drive, "corners": _ends(about.get("corners", ()))}
    own["stops"] = [
        Stop(stop["coordinate"], tuple(stop["limits"]), tuple(stop["lines"]), _ends(stop["corners"]))
        for stop in about.get("stops", ())
    ]
    own |= {name: None if about.get(name) is None else tuple(about[name]) for name in ("twist", "bend")}
    return Joint(**{**about, **vectors, **bodies, **own})


def _ends(given: Any) -> list[tuple[int, int]]:
    """(side, vertex) of points that a joint holds."""
    return [(side, vertex) for side, vertex in given]


def check_functions(path: Path, header: dict[str, Any], given: Functions) -> None:
    """Every function of time that the file leaves out is given, and no other."""
    kept = {"wind.velocity": (header["outside"]["wind"] or {}).get("velocity")}
    for body in header["bodies"]:
        kept |= {f"{body['name']}.{name}": value for name, value in body["settings"].items()}
    wanted = [name for name, value in kept.items() if value == _FUNCTION]
    missing = [name for name in wanted if name not in given]
    if missing:
        raise FileError(
            f"{path}: {missing[0]} is a Python function of time, which a file cannot hold. Pass it again: "
            f"Simulation.resume(path, functions={{{missing[0]!r}: function}})."
        )
    unknown = [name for name in given if name not in wanted]
    if unknown:
        raise FileError(
            f"{path}: a function is given for {unknown[0]!r}, but those of the file are {', '.join(wanted) or 'none'}."
        )


def _plain(value: Any) -> Any:
    """A setting as JSON has it."""
    if isinstance(value, Schedule):
        return value.options()
    if callable(value):
        return _FUNCTION
    return value.tolist() if isinstance(value, np.ndarray) else value


def _restored(value: Any) -> Any:
    return Schedule(**value) if isinstance(value, dict) else value
