"""An obstacle that is a triangle mesh: vertices that move by themselves or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.errors import SceneError
from pliant.geometry import TriMesh
from pliant.geometry.animation import Animation
from pliant.model import checks
from pliant.model.blocks import Block
from pliant.model.body import FIXED, Body
from pliant.model.motions import RigidMotion
from pliant.model.obstacles import MeshObstacle, ObstacleMotion, Placeable

Surface = TriMesh | Animation


class MeshObstacleBody(Placeable, Body):
    """A mesh obstacle in a scene: its vertices follow the bodies' and are moved by its motion."""

    kind = "obstacle"

    def __init__(self, name: str, mesh: Surface, friction: float, motion: ObstacleMotion | None = None):
        if isinstance(mesh, Animation):
            if motion is not None:
                raise SceneError(f"{name}: an animation moves by itself; leave out motion.")
            self._follow(name, mesh, friction)
            return
        checks.instance(mesh, TriMesh, f"{name}: the mesh", "a TriMesh such as pl.load_mesh('ground.obj')")
        obstacle = MeshObstacle(mesh, friction=friction, motion=motion)
        super().__init__(name, obstacle.positions(0.0), 0.0)
        self.mesh, self.friction = mesh, friction
        self.subspace[:] = FIXED
        if motion is not None:
            own = motion.of_points(mesh.points) if isinstance(motion, RigidMotion) else obstacle.positions
            self.motions.append((np.arange(self.n_vertices), own))

    def _follow(self, name: str, animation: Animation, friction: float) -> None:
        """Be where the frames of an animation say."""
        super().__init__(name, animation.positions(0.0), 0.0)
        self.mesh, self.friction = animation.mesh, friction
        self.subspace[:] = FIXED
        self.motions.append((np.arange(self.n_vertices), animation))

    def blocks(self, first: int) -> list[Block]:
        return []

    @property
    def masses(self) -> np.ndarray:
        return np.zeros(self.n_vertices)

    def ingredients(self) -> dict[str, Any]:
        return {"mesh": self.mesh, "friction": self.friction}

    @property
    def surface(self) -> np.ndarray:
        return self.mesh.triangles
