"""From the tables of obstacles in a scene file to a Scene."""

from __future__ import annotations

from typing import Any

from pliant.geometry import TetMesh
from pliant.geometry.animation import Animation
from pliant.io.animations import load_animation
from pliant.model import Body, RigidMotion, Scene, rigid_motion
from pliant.scenes.files import generated
from pliant.scenes.files.meshes import geometry
from pliant.scenes.files.obstacles import MeshObstacleTable
from pliant.scenes.files.source import Source


def rigid_of(motion: Any) -> RigidMotion | None:
    return None if motion is None else rigid_motion(**dict(motion))


def add_obstacle(scene: Scene, about: MeshObstacleTable, source: Source, k: int) -> Body | None:
    """A mesh, whose vertices are a body's, or a field of distances, which is no body."""
    surface = _surface(about, source, k)
    with source.at("bodies", k, "motion"):
        motion = rigid_of(about.motion)
    if about.method == "mesh":
        return scene.add_mesh_obstacle(surface, about.friction, motion, about.name)
    if about.colour is not None:
        raise source.error(("bodies", k, "colour"), "a field of distances has the colour of obstacles; leave it out.")
    scene.add_mesh_obstacle(surface, about.friction, motion, about.name, method="sdf", resolution=about.resolution)
    return None


def _surface(about: MeshObstacleTable, source: Source, k: int) -> Any:
    """A triangle mesh or an animation."""
    if about.animation is None:
        mesh = geometry(about, source, k, generated.SOLID_SHAPES | generated.SHEET_SHAPES)
        return mesh.surface() if isinstance(mesh, TetMesh) else mesh
    with source.at("bodies", k, "animation"):
        if isinstance(about.animation, str):
            return load_animation(source.folder / about.animation, about.frame_rate, about.repeat)
        return Animation.walking_mannequin(**generated.options(about.animation, "kind"))
