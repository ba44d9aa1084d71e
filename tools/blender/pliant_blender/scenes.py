"""Scene files from marked objects: a .toml file, and an .npz file with the mesh of each object beside it."""

import json
from pathlib import Path

import bpy
import numpy as np


class SceneError(Exception):
    """Objects that make no scene."""


def write(context, path, duration):
    """Write the marked objects; how many there are."""
    path = Path(path)
    marked = [one for one in context.scene.objects if one.type == "MESH" and one.pliant.kind != "none"]
    if not marked:
        raise SceneError("no object is marked; choose its kind in the panel Pliant of the Physics tab.")
    gravity = tuple(context.scene.gravity) if context.scene.use_gravity else (0.0, 0.0, 0.0)
    rate = context.scene.render.fps / context.scene.render.fps_base
    parts = [
        f"title = {_text(path.stem)}\ngravity = {_numbers(gravity)}\n",
        f"[simulation]\nframe_rate = {rate!r}\nduration = {duration!r}\n",
        "[contact]\n",
    ]
    graph = context.evaluated_depsgraph_get()
    for k, one in enumerate(marked):
        mesh_path = path.with_name(f"{path.stem}-{k}.npz")
        points, triangles = _mesh(one, graph)
        np.savez(mesh_path, points=points, triangles=triangles)
        parts.append(_table(one, mesh_path.name, _centre(points, triangles)))
    parts.append(f"[[outputs]]\nfile = {_text(path.stem + '.npz')}\n")
    path.write_text("\n".join(parts), encoding="utf-8")
    return len(marked)


def _mesh(one, graph):
    """Points (n, 3) of the world [m] and triangles (k, 3), modifiers applied."""
    shown = one.evaluated_get(graph)
    mesh = bpy.data.meshes.new_from_object(shown)
    mesh.calc_loop_triangles()
    points, triangles = np.empty(3 * len(mesh.vertices)), np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.vertices.foreach_get("co", points)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    bpy.data.meshes.remove(mesh)
    if not len(triangles):
        raise SceneError(f"{one.name} has no faces; unmark it.")
    triangles = triangles.reshape(-1, 3)
    place = np.array(shown.matrix_world)
    if np.linalg.det(place[:3, :3]) < 0:  # a mirror turns faces inside out
        triangles = triangles[:, [0, 2, 1]]
    return points.reshape(-1, 3) @ place[:3, :3].T + place[:3, 3], triangles


def _centre(points, triangles):
    """(3,) [m] centre of the volume that triangles enclose; rigid bodies are placed by it."""
    a, b, c = np.moveaxis(points[triangles], 1, 0)
    volumes = np.einsum("ka,ka->k", a, np.cross(b, c))
    whole = volumes.sum()
    return volumes @ (a + b + c) / (4 * whole) if whole else points.mean(axis=0)


def _table(one, mesh, centre):
    settings = one.pliant
    lines = [f"kind = {_text(settings.kind)}", f"name = {_text(one.name)}", f"mesh = {_text(mesh)}"]
    lines.append(f"friction = {settings.friction!r}")
    if settings.kind in ("solid", "cloth"):
        thickness = settings.thickness if settings.kind == "cloth" else 1.0
        modulus, ratio = settings.youngs_modulus * thickness, settings.poissons_ratio
        lines.append(
            f'material = {{ law = "StableNeoHookean", youngs_modulus = {modulus!r}, poissons_ratio = {ratio!r} }}'
        )
        lines.append(f"density = {settings.density * thickness!r}")
    if settings.kind == "solid":
        lines.append(f"edge_length = {settings.edge_length!r}")
    if settings.kind == "cloth":
        lines.append(f"bending = {settings.bending!r}")
    if settings.kind == "rigid":
        lines += [f"density = {settings.density!r}", f"position = {_numbers(centre)}"]
    table = "[[bodies]]\n" + "\n".join(lines) + "\n"
    pinned = _pinned(one) if settings.kind == "cloth" and settings.pinned else []
    if pinned:
        table += f'\n[[bodies.holds]]\nkind = "pin"\nwhere = {{ kind = "indices", indices = {pinned} }}\n'
    return table


def _pinned(one):
    """Vertices of the group that stays."""
    group = one.vertex_groups.get(one.pliant.pinned)
    if group is None:
        raise SceneError(f"{one.name} has no vertex group {one.pliant.pinned!r}; choose one that it has.")
    return [v.index for v in one.data.vertices if any(g.group == group.index and g.weight > 0.5 for g in v.groups)]


def _text(words):
    return json.dumps(words)  # a TOML string is written as one of JSON


def _numbers(values):
    return "[" + ", ".join(repr(float(v)) for v in values) + "]"
