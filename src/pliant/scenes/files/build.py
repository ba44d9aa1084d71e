"""From the tables of a scene file to a Scene."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError, SceneError
from pliant.geometry import TriMesh, shapes
from pliant.geometry.uv import warp_from_uv
from pliant.io.uv import load_uv
from pliant.materials import Invertible, YarnCloth
from pliant.materials.yarn_cloth import SHIPPED
from pliant.model import MOTIONS, PRIMITIVES, Body, Contact, Motor, Scene, Schedule, checks
from pliant.model.wind import Wind
from pliant.model.world_box import WorldBox
from pliant.scenes.files import generated, schema
from pliant.scenes.files.build_garments import add_band, add_seam, panels, sew
from pliant.scenes.files.build_obstacles import add_obstacle, rigid_of
from pliant.scenes.files.fields import nearest
from pliant.scenes.files.meshes import arrays_of, existing, geometry, law_of, placed_points, placed_surface
from pliant.scenes.files.selecting import select
from pliant.scenes.files.source import Source

LINKS = ("vertices_a", "weights_a", "vertices_b", "weights_b")  # arrays of a file of links
_PLACES = ("kind", "where", "until")  # keys of a hold that are not its motion's


def build_scene(table: schema.SceneTable, source: Source) -> Scene:
    """The scene; whatever its parts refuse is told with its place in the file."""
    scene = Scene(gravity=table.gravity)
    moved: list[tuple[int, Any, Any]] = []  # rigid bodies, after joints have added points to them
    about: Any
    for k, about in enumerate(table.bodies):
        with source.at("bodies", k):
            _add_body(scene, about, source, k)
        if isinstance(about, schema.RigidTable) and about.motion is not None:
            moved.append((k, scene.bodies[-1], about.motion))
    obstacle: Any
    for k, obstacle in enumerate(table.obstacles):
        with source.at("obstacles", k):
            options = {name: value for name, value in obstacle if name not in ("kind", "motion")}
            getattr(scene, f"add_{obstacle.kind}")(**options, motion=rigid_of(obstacle.motion))
    if table.contact is not None:
        with source.at("contact"):
            scene.contact = Contact(**dict(table.contact))
    for k, joint in enumerate(table.joints):
        with source.at("joints", k):
            _join(scene, joint)
    for k, attachment in enumerate(table.attachments):
        with source.at("attachments", k):
            _attach(scene, attachment, source)
    for k, body, motion in moved:
        with source.at("bodies", k, "motion"):
            body.move(rigid_of(motion))
    for k, seam in enumerate(table.seams):
        with source.at("seams", k):
            add_seam(scene, seam, _named)
    for k, band in enumerate(table.bands):
        with source.at("bands", k):
            add_band(scene, band, _named)
    for k, names in enumerate(table.ignore_contact):
        with source.at("ignore_contact", k):
            scene.ignore_contact(*_named(scene, names))
    with source.at("wind"):
        scene.wind = None if table.wind is None else Wind(**{name: _in_time(value) for name, value in table.wind})
    with source.at("world_box"):
        scene.world_box = None if table.world_box is None else WorldBox(**dict(table.world_box))
    return scene


def _join(scene: Scene, about: schema.JointTable) -> None:
    """A joint of one or two bodies."""
    bodies: list[Any] = [*_named(scene, about.bodies), None]
    apart = ("kind", "bodies", "stiffness", "motor", "break_force")
    options = {name: value for name, value in about if name not in apart}
    given = {"stiffness": about.stiffness, "break_force": about.break_force}
    options |= {name: math.inf if value is None else value for name, value in given.items()}
    if about.motor is not None:
        options["motor"] = Motor(**{name: value for name, value in about.motor if value is not None})
    scene.add_joint(about.kind, bodies[0], bodies[1], **options)


def _attach(scene: Scene, about: schema.AttachmentTable, source: Source) -> None:
    """Link points of two bodies, as given or each selected vertex with the nearest one."""
    one, other = _named(scene, about.bodies)
    if about.links is not None:
        path = source.folder / about.links
        arrays = arrays_of(path, LINKS)
        if set(arrays) != set(LINKS):
            raise FileError(f"{path}: links need the arrays {', '.join(LINKS)}; it has {list(arrays)}.")
        scene.attach(one, body_b=other, stiffness=about.stiffness, **{name: arrays[name] for name in LINKS})
    elif about.pairs is not None:
        scene.attach(one, [a for a, _ in about.pairs], other, [b for _, b in about.pairs], about.stiffness)
    else:
        vertices = select(one, about.where)
        from scipy.spatial import KDTree  # takes a tenth of a second to import

        _, near = KDTree(other.initial_positions).query(one.initial_positions[vertices])
        scene.attach(one, vertices, other, near, about.stiffness)


def _named(scene: Scene, names: Sequence[str]) -> list[Body]:
    named = {body.name: body for body in scene.bodies}
    for name in names:
        if name not in named:
            raise SceneError(f"there is no body {name!r}.{nearest(name, named)} Bodies are {', '.join(named)}.")
    return [named[name] for name in names]


def _in_time(value: Any) -> Any:
    """A constant as it is; a table as what changes with time."""
    return Schedule(**dict(value)) if isinstance(value, schema.NumberSchedule | schema.VectorSchedule) else value


def _add_body(scene: Scene, about: Any, source: Source, k: int) -> None:
    body = BUILDERS[about.kind](scene, about, source, k)
    if body is None:
        return
    body.colour = about.colour
    if isinstance(about, schema.BodyTable):
        _set_up(body, about, source, k)


def _set_up(body: Body, about: schema.BodyTable, source: Source, k: int) -> None:
    """What a body has beside its matter: settings, where it starts and how it is held."""
    body.air_damping, body.gravity = about.air_damping, about.gravity
    for name in ("friction", "pressure", "viscosity", "cavity_pressure"):
        if name in about.model_fields_set:
            with source.at("bodies", k, name):
                setattr(body, name, _in_time(getattr(about, name)))
    if about.start is not None:
        with source.at("bodies", k, "start"):
            _start_from(body, source.folder / about.start)
    if about.velocity is not None:
        body.set_velocities(about.velocity)
    if about.ignore_contact is not None:
        with source.at("bodies", k, "ignore_contact"):
            body.ignore_contact(select(body, about.ignore_contact))
    for h, hold in enumerate(about.holds):
        with source.at("bodies", k, "holds", h, "where"):
            vertices = select(body, hold.where)
        with source.at("bodies", k, "holds", h):
            _hold(body, hold, vertices)


# --- kinds of bodies ------------------------------------------------------------------------------------------------


def _add_solid(scene: Scene, about: schema.SolidTable, source: Source, k: int) -> Body:
    mesh = geometry(about, source, k, generated.SOLID_SHAPES)
    if about.edge_length is not None:
        with source.at("bodies", k, "edge_length"):
            if not isinstance(mesh, TriMesh):
                raise SceneError("it fills a surface with tets, but the mesh has tets already; leave it out.")
            mesh = mesh.tetrahedralize(about.edge_length)
    material = law_of(about.material, source, k)
    options = (about.density, about.damping, about.name, about.damping_form, about.element)
    body = scene.add_solid(mesh, material, *options)
    for number, skin in enumerate(about.skins):
        with source.at("bodies", k, "skins", number):
            body.embed(placed_surface(existing(source.folder / skin), about.transform))
    return body


def _add_cloth(scene: Scene, about: schema.ClothTable, source: Source, k: int) -> Body:
    garment = panels(about, source, k)
    mesh = geometry(about, source, k, generated.SHEET_SHAPES) if garment is None else garment.mesh
    material = law_of(about.material, source, k)
    if isinstance(material, Invertible):
        raise source.error(("bodies", k, "material"), "a cloth cannot be inverted; leave out the key invertible.")
    names = (
        "density",
        "bending",
        "damping",
        "damping_form",
        "bending_model",
        "warp",
        "weft",
        "warp_direction",
        "tear_at",
        "strain_limit",
    )
    body = scene.add_cloth(mesh, material, name=about.name, **{name: getattr(about, name) for name in names})
    return sew(scene, body, garment, about)


def _add_yarn_cloth(scene: Scene, about: schema.YarnClothTable, source: Source, k: int) -> Body:
    garment = panels(about, source, k)
    mesh = geometry(about, source, k, generated.SHEET_SHAPES) if garment is None else garment.mesh
    with source.at("bodies", k, "material"):
        place = about.material if about.material in SHIPPED else source.folder / about.material
        material = YarnCloth(place)
    with source.at("bodies", k, "warp_from_uv"):
        warp = warp_from_uv(mesh, load_uv(source.folder / str(about.mesh))) if about.warp_from_uv else about.warp
    body = scene.add_cloth(
        mesh, material, about.density, damping=about.damping, warp=warp, name=about.name,
        damping_form=about.damping_form,
    )  # fmt: skip
    return sew(scene, body, garment, about)


def _add_rigid(scene: Scene, about: schema.RigidTable, source: Source, k: int) -> Body:
    if about.shape is None:
        shape: Any = geometry(about, source, k, {})
    else:
        shape = PRIMITIVES[about.shape.kind](**generated.options(about.shape, "kind"))
    names = ("density", "position", "orientation", "velocity", "angular_velocity", "friction", "restitution", "name")
    body = scene.add_rigid(shape, **{name: getattr(about, name) for name in names})
    body.gravity, body.air_damping = about.gravity, about.air_damping
    for place in about.points:
        body.add_point(np.array(place))
    if about.pinned:
        body.pin()
    return body


def _add_springs(scene: Scene, about: schema.SpringsTable, source: Source, k: int) -> Body:
    arrays = _net(about, source, k)
    for name in ("stiffness", "mass"):
        given = getattr(about, name)
        if given is not None:
            arrays[name] = given
        if name not in arrays:
            raise source.error(("bodies", k, name), "this key is missing, and the mesh has no array of this name.")
    if about.lengths is not None:
        arrays["lengths"] = about.lengths
    arrays["points"] = placed_points(arrays["points"], about.transform)
    names = ("damping", "one_sided", "bending", "tear_at", "name", "damping_form", "strain_limit")
    options = {name: getattr(about, name) for name in names}
    return scene.add_springs(**arrays, **options)


def _net(about: schema.SpringsTable, source: Source, k: int) -> dict[str, Any]:
    """Points and edges of springs, from a shape or a file; a file may hold lengths, stiffness and mass of each too."""
    with source.at("bodies", k, "mesh" if about.shape is None else "shape"):
        if about.shape is not None:
            make = generated.NET_SHAPES[about.shape.kind]
            return dict(zip(("points", "edges"), make(**generated.options(about.shape, "kind")), strict=True))
        path = source.folder / str(about.mesh)
        arrays = arrays_of(path, ("points", "edges", "lengths", "stiffness", "mass"))
        if not {"points", "edges"} <= set(arrays):
            raise FileError(f"{path}: springs need the arrays 'points' and 'edges'; it has {list(arrays)}.")
        return arrays


def _add_particles(scene: Scene, about: schema.ParticlesTable, source: Source, k: int) -> Body:
    """Centres from a shape, whose radius they have, or from a file, which may hold a radius of each."""
    with source.at("bodies", k, "mesh" if about.shape is None else "shape"):
        if about.shape is not None:
            arrays: dict[str, Any] = {"points": shapes.packed_spheres(**{n: v for n, v in about.shape if n != "kind"})}
            arrays["radius"] = about.shape.radius
        else:
            path = source.folder / str(about.mesh)
            arrays = arrays_of(path, ("points", "radius", "births"))
            if "points" not in arrays:
                raise FileError(f"{path}: particles need the array 'points'; it has {list(arrays)}.")
    if about.radius is not None:
        arrays["radius"] = about.radius
    if "radius" not in arrays:
        raise source.error(("bodies", k, "radius"), "this key is missing, and the mesh has no array of this name.")
    points = placed_points(arrays["points"], about.transform)
    own = (arrays["radius"], about.density, None, about.name, about.spin, about.rolling_resistance)
    body = scene.add_particles(points, *own)
    if "births" in arrays:
        body.births = checks.numbers(arrays["births"], body.n_vertices, f"{body.name}: births", "particle", "s")
    return body


def _add_emitter(scene: Scene, about: schema.EmitterTable, source: Source, k: int) -> Body:
    with source.at("bodies", k):
        return scene.add_emitter(**{name: value for name, value in about if name not in ("kind", "colour")})


#: Builders of the kinds of bodies, by the name that `schema.BODY_TABLES` gives them.
BUILDERS: dict[str, Callable[[Scene, Any, Source, int], Body | None]] = {
    "solid": _add_solid,
    "cloth": _add_cloth,
    "yarn_cloth": _add_yarn_cloth,
    "springs": _add_springs,
    "rigid": _add_rigid,
    "particles": _add_particles,
    "emitter": _add_emitter,
    "obstacle": add_obstacle,
}


def _start_from(body: Body, path: Path) -> None:
    """Positions and velocities (n, 3) from the arrays of these names in an .npz file; at least one is there."""
    arrays = arrays_of(path, ("positions", "velocities"))
    if not arrays:
        raise FileError(f"{path}: it has neither an array 'positions' nor one 'velocities'.")
    if "positions" in arrays:
        body.set_positions(arrays["positions"])
    if "velocities" in arrays:
        body.set_velocities(arrays["velocities"])


# --- holds ----------------------------------------------------------------------------------------------------------


def _hold(body: Body, hold: Any, vertices: np.ndarray) -> None:
    if hold.kind == "pin":
        body.pin(vertices, until=hold.until)
    elif hold.kind == "line":
        body.constrain_to_line(vertices, hold.direction)
    elif hold.kind == "plane":
        body.constrain_to_plane(vertices, hold.normal)
    else:
        options = {name: value for name, value in hold if name not in _PLACES}
        motion = MOTIONS[hold.kind.capitalize()](body.initial_positions[vertices], **options)
        body.move(vertices, motion, until=hold.until)  # type: ignore[arg-type]
