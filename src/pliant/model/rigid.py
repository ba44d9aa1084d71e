"""A rigid body: a closed surface whose points one pose carries (see model.carried)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import SceneError
from pliant.geometry import TriMesh, rotations
from pliant.model import checks
from pliant.model.blocks import Block
from pliant.model.body import CARRIED, Body
from pliant.model.carried import mass_points

if TYPE_CHECKING:
    from pliant.model.model import Model

MASS_POINTS = 4


class RigidBody(Body):
    """A rigid body in a scene. Its vertices are those of its mesh, then four points that carry its mass, touch nothing
    and belong to no triangle.

    The mesh is in the body's own axes; its centre of mass is brought to `position`.
    """

    kind = "rigid"
    element_names = ("triangle", "triangles")
    settings = ("gravity", "air_damping")

    def __init__(
        self, name: str, mesh: TriMesh, density: float, position: ArrayLike = (0, 0, 0),
        orientation: ArrayLike = (1, 0, 0, 0), velocity: ArrayLike = (0, 0, 0), angular_velocity: ArrayLike = (0, 0, 0),
    ):  # fmt: skip
        checks.instance(mesh, TriMesh, f"{name}: the mesh", "a closed TriMesh such as pl.load_mesh('teapot.obj')")
        self.mesh = mesh
        self.density = checks.number(density, f"{name}: density", "kg/m^3", positive=True)
        volume, centre, moments = mass_properties(mesh.points, mesh.triangles)
        if not volume > 0:
            raise SceneError(f"{name}: its surface encloses {volume:g} m^3: give a closed mesh with outward triangles.")
        self.mass = self.density * volume  # [kg]
        self.offsets = np.concatenate([mesh.points - centre, mass_points(self.mass, self.density * moments)])
        turn = np.asarray(orientation, float)
        if turn.shape != (4,) or not np.linalg.norm(turn) > 0:
            raise SceneError(
                f"{name}: orientation is {orientation!r}: give a quaternion (w, x, y, z) that is not zero."
            )
        self.pose = np.concatenate(
            [checks.vectors(position, None, f"{name}: position", "m"), rotations.normalised(turn)]
        )
        arms = self.offsets @ rotations.matrices(self.pose[3:]).T
        super().__init__(name, self.pose[:3] + arms, 0.0)
        spin = checks.vectors(angular_velocity, None, f"{name}: angular_velocity", "rad/s")
        self.twist = np.concatenate([checks.vectors(velocity, None, f"{name}: velocity", "m/s"), spin])
        self.initial_velocities = self.twist[:3] + np.cross(spin, arms)
        self.subspace[:] = CARRIED
        self.touches_nothing[-MASS_POINTS:] = True

    def blocks(self, first: int) -> list[Block]:
        return []

    def masses(self) -> np.ndarray:
        masses = np.zeros(self.n_vertices)
        masses[-MASS_POINTS:] = self.mass / MASS_POINTS
        return masses

    def ingredients(self) -> dict[str, Any]:
        return {"mesh": self.mesh, "density": self.density, "position": self.pose[:3], "orientation": self.pose[3:],
                "velocity": self.twist[:3], "angular_velocity": self.twist[3:]}  # fmt: skip

    @property
    def surface(self) -> np.ndarray:
        return self.mesh.triangles


def initial_poses(model: Model, bodies: Sequence[Body]) -> dict[str, Any]:
    """Poses and twists with which a simulation starts, for its State."""
    if model.carried is None:
        return {}
    twists = [body.twist for body in bodies if isinstance(body, RigidBody)]
    return {"poses": model.carried.poses.copy(), "twists": np.stack(twists)}


def mass_properties(points: np.ndarray, triangles: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume [m^3], centre (3,) [m] and second moments about it, int r r^T dV (3, 3) [m^5], inside a closed surface.

    Exact sums over the tets between its outward triangles and the mean of its points.
    """
    middle = points.mean(axis=0)
    a, b, c = np.moveaxis(points[triangles] - middle, 1, 0)
    volumes = np.einsum("ma,ma->m", a, np.cross(b, c)) / 6
    volume = float(volumes.sum())
    if volume == 0.0:
        return volume, middle, np.zeros((3, 3))
    total = a + b + c
    centre = np.einsum("m,ma->a", volumes, total) / (4 * volume)
    squares = sum(np.einsum("m,ma,mb->ab", volumes, v, v) for v in (a, b, c, total)) / 20
    return volume, middle + centre, squares - volume * np.outer(centre, centre)
