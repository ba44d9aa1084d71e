"""Scenes written back into files, their arrays beside them, so that reading gives the same bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError
from pliant.geometry.animation import Animation
from pliant.io.contact_header import describe_contact, describe_shape, describe_shapes
from pliant.io.meshes import save_arrays
from pliant.io.paths import as_path
from pliant.model import (
    Attachment,
    Body,
    Cloth,
    MeshObstacleBody,
    Particles,
    Primitive,
    RigidBody,
    Scene,
    Schedule,
    Solid,
    SpringNet,
    WorldPoints,
    YarnSheet,
)
from pliant.model.distance_field import DistanceField
from pliant.scenes.files.build import LINKS
from pliant.scenes.files.garments import describe_sewing
from pliant.scenes.files.joints import describe_joint, points_to_attach
from pliant.scenes.files.laws import describe_law
from pliant.scenes.files.toml_text import toml_text
from pliant.scenes.files.writing_holds import check_kept, describe_holds, where_indices
from pliant.simulate import Simulation
from pliant.solvers.contract.registry import describe_solver


def save_scene(scene: Scene | Simulation, path: str | Path) -> None:
    """Write a scene file that `load_scene` reads with the same bits; a simulation's solver and steps go into it too.

    The scene is written as it starts: `Simulation.save` keeps where a run has come to. Meshes are written beside it, as
    NAME.BODY.npz. Python functions (motions, forces) and laws of your own cannot be written, and are refused.
    """
    path = as_path(path, "save_scene")
    simulation = scene if isinstance(scene, Simulation) else None
    scene = simulation.scene if simulation else scene  # type: ignore[assignment]
    if not isinstance(scene, Scene):
        raise FileError(f"save_scene: got a {type(scene).__name__}; give a Scene or a Simulation.")
    files: dict[Path, dict[str, np.ndarray]] = {}
    table: dict[str, Any] = {"gravity": scene.gravity.tolist()}
    if simulation:
        table |= describe_run(simulation)
    table["contact"] = describe_contact(scene)
    table["ignore_contact"] = [list(pair) for pair in sorted(scene.apart)] or None
    table |= _describe_outside(path, scene)
    bodies = [body for body in scene.bodies if not isinstance(body, WorldPoints)]
    points = {body.name: points_to_attach(scene, body) for body in bodies if isinstance(body, RigidBody)}
    table["bodies"] = [
        _describe_body(path, body, files) | _describe_points(body, points.get(body.name)) for body in bodies
    ]
    fields_of_distance = [shape for shape in scene.shapes if isinstance(shape, DistanceField)]
    table["bodies"] += [_describe_field(path, shape, files) for shape in fields_of_distance]
    table["obstacles"] = [about for about in describe_shapes(scene) if "surface" not in about]
    links = [_renumbered(link, points) for link in scene.attachments]
    table["attachments"] = [_describe_attachment(path, k, link, files) for k, link in enumerate(links)]
    table["joints"] = [describe_joint(scene, joint) for joint in scene.joints]
    table |= describe_sewing(scene)
    for place, arrays in files.items():
        save_arrays(place, **arrays)
    try:
        path.write_text(toml_text(table), encoding="utf-8")
    except OSError as error:
        raise FileError(f"{path}: the scene cannot be written ({error.strerror or error}).") from None


def describe_run(simulation: Simulation) -> dict[str, Any]:
    """The tables `simulation` and `solver` of a file."""
    settings: dict[str, Any] = {"frame_rate": simulation.frame_rate, "substeps": simulation.substeps}
    settings |= {"precision": simulation.execution.precision, "integrator": simulation.integrator}
    return {"simulation": settings, "solver": describe_solver(simulation.solver)}


# --- bodies ---------------------------------------------------------------------------------------------------------


def _describe_body(path: Path, body: Body, files: dict[Path, dict[str, np.ndarray]]) -> dict[str, Any]:
    if body.kind not in DESCRIPTIONS:
        raise FileError(f"{path}: {body.name} is a {body.kind}, which scene files do not know.")
    if body.forces:
        raise FileError(f"{path}: {body.name} has a Python function as a force, which a scene file cannot hold.")
    place = path.parent / f"{path.stem}.{body.name}.npz"
    if set(body.name) & set('/\\:*?"<>|\0') or place in files:
        raise FileError(f"{path}: the name {body.name!r} cannot be part of a file's; choose letters and digits.")
    about, arrays = DESCRIPTIONS[body.kind](path, body)
    if isinstance(body, Solid):
        about["skins"] = _describe_skins(path, body, files)
    common = {"kind": body.kind, "name": body.name, "mesh": place.name, "colour": body.colour}
    if isinstance(body, MeshObstacleBody | RigidBody):
        if arrays:
            files[place] = arrays
        return {**common, **about}
    if not np.array_equal(arrays["points"], body.initial_positions):
        arrays["positions"] = body.initial_positions
    if body.initial_velocities.any():
        arrays["velocities"] = body.initial_velocities
    files[place] = arrays
    has_start = "positions" in arrays or "velocities" in arrays
    ignored = np.flatnonzero(body.touches_nothing)
    return {
        **common,
        "start": place.name if has_start else None,
        **about,
        "damping": float(body.damping),
        "damping_form": body.damping_form,
        "air_damping": float(body.air_damping),
        "gravity": None if body.gravity is None else body.gravity.tolist(),
        "friction": body.friction,
        "ignore_contact": where_indices(ignored) if len(ignored) else None,
        **{name: _constant(path, f"{body.name}.{name}", getattr(body, name)) for name in _further_settings(body)},
        "holds": describe_holds(path, body),
    }


def _further_settings(body: Body) -> list[str]:
    """Properties of a kind of body that have a key of their own name, where they are not the usual ones."""
    return [name for name in body.settings if name not in ("gravity", "air_damping") and getattr(body, name)]


def _constant(path: Path, name: str, value: Any) -> Any:
    """A number or numbers, or how they change with time; a Python function is refused."""
    if isinstance(value, Schedule):
        return value.options()
    if callable(value):
        raise FileError(f"{path}: {name} is a Python function, which a scene file cannot hold; use a pl.Schedule.")
    return value.tolist() if isinstance(value, np.ndarray) else value


def _describe_outside(path: Path, scene: Scene) -> dict[str, Any]:
    """The tables of the wind and the world's end."""
    wind, box = scene.wind, scene.world_box
    names = ("velocity", "drag", "lift", "air_density")
    return {
        "wind": wind and {name: _constant(path, f"wind.{name}", getattr(wind, name)) for name in names},
        "world_box": box and {"lower": box.lower.tolist(), "upper": box.upper.tolist(), "stiffness": box.stiffness},
    }


def _describe_solid(path: Path, body: Solid) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    material, varying = describe_law(path, body.name, body.material)
    about = {"density": body.density, "element": body.element, "material": material}
    return about, {"points": body.mesh.points, "tets": body.mesh.tets, **varying}


def _describe_skins(path: Path, body: Solid, files: dict[Path, dict[str, np.ndarray]]) -> list[str]:
    """Files of the surfaces embedded in a solid."""
    places = [path.parent / f"{path.stem}.{body.name}.skin{k}.npz" for k in range(len(body.skins))]
    for place, skin in zip(places, body.skins, strict=True):
        files[place] = {"points": skin.mesh.points, "triangles": skin.mesh.triangles}
    return [place.name for place in places]


def _describe_cloth(path: Path, body: Cloth) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    about = {name: getattr(body, name) for name in ("density", "bending", "warp", "weft")}
    about["bending_model"] = body.given_bending_model
    about["warp_direction"] = body.warp_direction.tolist()
    about |= _describe_tearing(body)
    about["material"], varying = describe_law(path, body.name, body.material)
    return about, {"points": body.mesh.points, "triangles": body.mesh.triangles, **varying}


def _describe_yarn_cloth(path: Path, body: YarnSheet) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    warp, material = body.warp_field, body.material
    if (warp != warp[0]).any():
        raise FileError(
            f"{path}: {body.name} has a warp that differs from triangle to triangle, unknown to scene files."
        )
    if material.source is None:
        raise FileError(f"{path}: {body.name} has a yarn cloth that was not read from a file; scene files name files.")
    about = {"density": body.density, "material": material.source, "warp": warp[0].tolist()}
    return about, {"points": body.mesh.points, "triangles": body.mesh.triangles}


def _describe_rigid(path: Path, body: RigidBody) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    about: dict[str, Any] = {
        "density": body.density,
        "position": body.pose[:3].tolist(),
        "orientation": body.pose[3:].tolist(),
        "velocity": body.twist[:3].tolist(),
        "angular_velocity": body.twist[3:].tolist(),
        "friction": body.friction,
        "restitution": body.restitution,
        "gravity": None if body.gravity is None else body.gravity.tolist(),
        "air_damping": float(body.air_damping),
        "pinned": body.is_held and not body.motions,
    }
    for _, motion in body.motions:
        check_kept(path, body.name, motion)
        about["motion"] = {"kind": motion.name.lower(), **motion.options}  # type: ignore[attr-defined]
    if isinstance(body.shape, Primitive):
        return {**about, "mesh": None, "shape": {"kind": body.shape.kind, **body.shape.sizes}}, {}
    points, triangles = body.shape.mesh.points, body.shape.mesh.elements  # type: ignore[attr-defined]
    return about, {"points": points, "tets" if triangles.shape[1] == 4 else "triangles": triangles}


def _describe_springs(path: Path, body: SpringNet) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    arrays = {name: getattr(body, name) for name in ("points", "edges", "lengths", "stiffness", "mass")}
    return {"one_sided": body.one_sided, "bending": body.bending, **_describe_tearing(body)}, arrays


def _describe_particles(path: Path, body: Particles) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    arrays = {"points": body.points, "radius": body.radius}
    if body.births.any():
        arrays["births"] = body.births
    about = {"density": body.density, "spin": body.spin, "rolling_resistance": body.rolling_resistance}
    return about, arrays


def _describe_tearing(body: Cloth | SpringNet) -> dict[str, Any]:
    about = {"tear_at": body.tear_at, "strain_limit": body.strain_limit}
    return {name: value for name, value in about.items() if value is not None}


def _describe_obstacle(path: Path, body: MeshObstacleBody) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    about: dict[str, Any] = {"friction": body.friction}
    for _, motion in body.motions:
        check_kept(path, body.name, motion)
        about["motion"] = {"kind": motion.name.lower(), **motion.options}  # type: ignore[attr-defined]
    return about, {"points": body.mesh.points, "triangles": body.mesh.triangles}


def _describe_field(path: Path, shape: DistanceField, files: dict[Path, dict[str, np.ndarray]]) -> dict[str, Any]:
    """An obstacle with method = "sdf"; its mesh or its animation beside the scene file."""
    place = path.parent / f"{path.stem}.{shape.name}.npz"
    if set(shape.name) & set('/\\:*?"<>|\0') or place in files:
        raise FileError(f"{path}: the name {shape.name!r} cannot be part of a file's; choose letters and digits.")
    about: dict[str, Any] = {"kind": "obstacle", "name": shape.name}
    surface = shape.surface
    if isinstance(surface, Animation):
        files[place] = {"frames": surface.frames, "triangles": surface.triangles, "times": surface.times}
        about |= {"animation": place.name, "repeat": surface.repeat}
    else:
        files[place] = {"points": surface.points, "triangles": surface.triangles}
        about["mesh"] = place.name
    kept = describe_shape(0, shape)
    about |= {"friction": shape.friction, "motion": kept.get("motion"), "method": "sdf"}
    return {**about, "resolution": shape.resolution}


def _describe_attachment(
    path: Path, k: int, link: Attachment, files: dict[Path, dict[str, np.ndarray]]
) -> dict[str, Any]:
    """Single vertices by number; points on edges, faces and in tets by a file of links."""
    about = {"bodies": [link.body_a.name, link.body_b.name], "stiffness": link.stiffness}
    if link.vertices_a.shape[1] == link.vertices_b.shape[1] == 1:
        return {**about, "pairs": np.hstack([link.vertices_a, link.vertices_b]).tolist()}
    place = path.parent / f"{path.stem}.attachment{k}.npz"
    if place in files:
        raise FileError(f"{path}: {place.name} would hold a body and links; give the body another name.")
    files[place] = {name: getattr(link, name) for name in LINKS}
    return {**about, "links": place.name}


def _describe_points(body: Body, points: np.ndarray | None) -> dict[str, Any]:
    if points is None or not len(points):
        return {}
    assert isinstance(body, RigidBody)
    return {"points": body.offsets[points].tolist()}


def _renumbered(link: Attachment, points: dict[str, np.ndarray]) -> Attachment:
    """A link by the numbers that its bodies' points have when they are read: those to attach before those of joints."""
    changed = {}
    for side, body in (("vertices_a", link.body_a), ("vertices_b", link.body_b)):
        vertices = getattr(link, side)
        if isinstance(body, RigidBody):
            first = int(body.mass_vertices[-1]) + 1
            again = first + np.searchsorted(points[body.name], vertices)
            changed[side] = np.where(vertices >= first, again, vertices)
    return replace(link, **changed)


#: What kinds of bodies add to their table, and their arrays.
DESCRIPTIONS: dict[str, Callable[[Path, Any], tuple[dict[str, Any], dict[str, np.ndarray]]]] = {
    "solid": _describe_solid,
    "cloth": _describe_cloth,
    "yarn_cloth": _describe_yarn_cloth,
    "springs": _describe_springs,
    "rigid": _describe_rigid,
    "particles": _describe_particles,
    "obstacle": _describe_obstacle,
}

# --- holds ----------------------------------------------------------------------------------------------------------
