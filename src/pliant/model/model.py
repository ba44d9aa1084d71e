"""A scene frozen into flat arrays: what kernels, energies and solvers read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.errors import SceneError
from pliant.model import checks
from pliant.model.blocks import Block, Solids, merge
from pliant.model.body import FIXED, Motion
from pliant.model.forces import ForceField
from pliant.model.scene import Scene


@dataclass(frozen=True)
class LedVertices:
    """Vertices whose positions a function of time gives."""

    body: str
    vertices: np.ndarray
    motion: Motion

    def positions(self, time: float) -> np.ndarray:
        """Where they are to be at a time [s], checked: the function is the user's."""
        what = f"{self.body}: motion at t = {time:g} s"
        return checks.vectors(self.motion(time), len(self.vertices), what, "m")


@dataclass(frozen=True)
class Model:
    """Vertices of all bodies one after another, and what acts on them."""

    positions: np.ndarray  # (n, 3) at the start [m]
    velocities: np.ndarray  # (n, 3) at the start [m/s]
    mass: np.ndarray  # (n,) [kg]
    gravity: np.ndarray  # (n, 3) [m/s^2]
    air_damping: np.ndarray  # (n,) [1/s]
    damping: np.ndarray  # (n,) k_d [s]
    subspace: np.ndarray  # (n,) dimension of the space a vertex moves in: 3 free, 2 plane, 1 line, 0 fixed
    directions: np.ndarray  # (n, 3) normal of the plane or direction of the line
    led: tuple[LedVertices, ...]
    forces: tuple[ForceField, ...]
    blocks: tuple[Block, ...]
    body_names: tuple[str, ...]
    body_start: np.ndarray  # (bodies + 1,) first vertex of each

    @property
    def n_vertices(self) -> int:
        return len(self.mass)

    @property
    def solids(self) -> tuple[Solids, ...]:
        """The blocks that are tets."""
        return tuple(block for block in self.blocks if isinstance(block, Solids))

    @property
    def n_tets(self) -> int:
        return sum(len(solids.tets) for solids in self.solids)

    @property
    def is_free(self) -> np.ndarray:
        """(n,) which vertices move at all."""
        return self.subspace != FIXED

    def acceleration(self, x: np.ndarray, v: np.ndarray, time: float) -> np.ndarray:
        """(n, 3) [m/s^2] by gravity and the force fields, at positions x, velocities v and a time [s]."""
        if not self.forces:
            return self.gravity
        total = np.zeros_like(x)
        for force in self.forces:
            force.add_to(total, x, v, time)
        return self.gravity + total / self.mass[:, None]

    def project(self, vectors: np.ndarray) -> np.ndarray:
        """The part of (n, 3) vectors along which their vertices may move (VBD 3.4)."""
        along = np.einsum("na,na->n", vectors, self.directions)[:, None] * self.directions
        choices = [np.zeros_like(vectors), along, vectors - along, vectors]
        return np.choose(self.subspace[:, None], choices)

    def describe_vertex(self, vertex: int) -> str:
        """A vertex as its user knows it."""
        body = int(np.searchsorted(self.body_start, vertex, side="right")) - 1
        return f"vertex {vertex - self.body_start[body]} of {self.body_names[body]}"


def build_model(scene: Scene) -> Model:
    """Check the scene as a whole and freeze it."""
    bodies = scene.bodies
    if not bodies:
        raise SceneError("the scene is empty: add a body with scene.add_solid(mesh, material).")
    sizes = [body.n_vertices for body in bodies]
    start = np.concatenate([[0], np.cumsum(sizes)])
    subspace = np.concatenate([body.subspace for body in bodies])
    if (subspace == FIXED).all():
        raise SceneError(
            f"all {len(subspace)} vertices are pinned or moved: nothing is left to simulate. Leave some vertices free."
        )

    placed = list(zip(bodies, start[:-1].tolist(), strict=True))
    led = tuple(
        LedVertices(body.name, first + vertices, motion) for body, first in placed for vertices, motion in body.motions
    )
    forces = tuple(
        ForceField(body.name, first, first + body.n_vertices, force) for body, first in placed for force in body.forces
    )
    return Model(
        np.concatenate([body.initial_positions for body in bodies]),
        np.concatenate([body.initial_velocities for body in bodies]),
        np.concatenate([body.masses() for body in bodies]),
        _each([scene.gravity if body.gravity is None else body.gravity for body in bodies], sizes),
        _each([body.air_damping for body in bodies], sizes),
        _each([body.damping for body in bodies], sizes),
        subspace,
        np.concatenate([body.directions for body in bodies]),
        led,
        forces,
        merge(block for body, first in placed for block in body.blocks(first)),
        tuple(body.name for body in bodies),
        start,
    )


def _each(values: list, sizes: list[int]) -> np.ndarray:
    """Values of bodies at each of their vertices."""
    return np.repeat(np.array(values, dtype=float), sizes, axis=0)
