"""Results on the timeline: at each frame, meshes take the positions of the result's frame that is nearest in time."""

import bpy
import numpy as np
from bpy.app.handlers import persistent

from .results import Result, ResultError

#: Objects remember their result by these properties, which .blend files keep.
PATH, BODY = "pliant_result", "pliant_body"
_opened = {}


def add_result(context, path):
    """An object per body of a result, in a collection of its own; the timeline is set to its length."""
    result = _result(path)
    if not len(result.times):
        raise ResultError(f"{path}: it has no frame.")
    collection = bpy.data.collections.new("Pliant")
    context.scene.collection.children.link(collection)
    objects = [_add_body(collection, result, path, k) for k in range(len(result.names))]
    scene = context.scene
    scene.render.fps, scene.render.fps_base = max(1, round(result.rate)), max(1, round(result.rate)) / result.rate
    scene.frame_start = 0
    scene.frame_end = round(float(result.times[-1]) * result.rate)
    scene.frame_set(0)
    return objects


def _add_body(collection, result, path, body):
    mesh = bpy.data.meshes.new(result.names[body])
    edges, faces = result.edges(body).tolist(), result.faces(body).tolist()
    mesh.from_pydata(result.points(0, body).tolist(), [] if faces else edges, faces)
    material = bpy.data.materials.new(result.names[body])
    material.diffuse_color = (*(float(v) ** 2.2 for v in result.colours[body]), 1.0)
    mesh.materials.append(material)
    made = bpy.data.objects.new(result.names[body], mesh)
    made[PATH], made[BODY] = path, body
    collection.objects.link(made)
    return made


@persistent
def show(scene, *_):
    """Put all bodies of results where they are at the scene's frame."""
    rate = scene.render.fps / scene.render.fps_base
    for shown in scene.objects:
        if PATH not in shown:
            continue
        try:
            result = _result(shown[PATH])
        except ResultError:  # the file has gone: the mesh stays as it was
            continue
        k = int(np.abs(result.times - scene.frame_current / rate).argmin())
        points = result.points(k, shown[BODY])
        if len(points) == len(shown.data.vertices):
            shown.data.vertices.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
            shown.data.update()


def _result(path):
    if path not in _opened:
        _opened[path] = Result(path)
    return _opened[path]


def register():
    bpy.app.handlers.frame_change_post.append(show)


def unregister():
    bpy.app.handlers.frame_change_post.remove(show)
    _opened.clear()
