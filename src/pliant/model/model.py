"""A scene frozen into flat arrays: what kernels, energies and solvers read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements import tet
from pliant.errors import SceneError
from pliant.materials import SolidLaw
from pliant.model import checks
from pliant.model.scene import FIXED, Body, Motion, Scene


@dataclass(frozen=True)
class Solids:
    """All tets of one law, of all bodies."""

    law: type[SolidLaw]
    tets: np.ndarray  # (m, 4) vertices
    gradients: np.ndarray  # (m, 4, 3) shape-function gradients b [1/m]
    volumes: np.ndarray  # (m,) [m^3]
    parameters: np.ndarray  # (m, p) of the law, in its order


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
    gravity: np.ndarray  # (3,) [m/s^2]
    damping: np.ndarray  # (n,) k_d [s]
    subspace: np.ndarray  # (n,) dimension of the space a vertex moves in: 3 free, 2 plane, 1 line, 0 fixed
    directions: np.ndarray  # (n, 3) normal of the plane or direction of the line
    led: tuple[LedVertices, ...]
    solids: tuple[Solids, ...]
    body_names: tuple[str, ...]
    body_start: np.ndarray  # (bodies + 1,) first vertex of each

    @property
    def n_vertices(self) -> int:
        return len(self.mass)

    @property
    def n_tets(self) -> int:
        return sum(len(solids.tets) for solids in self.solids)

    @property
    def is_free(self) -> np.ndarray:
        """(n,) which vertices move at all."""
        return self.subspace != FIXED

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
    start = np.concatenate([[0], np.cumsum([body.n_vertices for body in bodies])])
    subspace = np.concatenate([body.subspace for body in bodies])
    if (subspace == FIXED).all():
        raise SceneError(
            f"all {len(subspace)} vertices are pinned or moved: nothing is left to simulate. Leave some vertices free."
        )

    groups: dict[type[SolidLaw], list[tuple[Body, int]]] = {}
    for body, first in zip(bodies, start[:-1], strict=True):
        groups.setdefault(type(body.material), []).append((body, first))
    solids = tuple(_gather(law, members) for law, members in groups.items())
    density = {
        law: np.concatenate([np.full(len(b.mesh.tets), b.density) for b, _ in members])
        for law, members in groups.items()
    }
    mass = np.zeros(start[-1])
    for group in solids:
        share = group.volumes * density[group.law] / 4
        mass += np.bincount(group.tets.ravel(), np.repeat(share, 4), minlength=len(mass))

    led = tuple(
        LedVertices(body.name, first + vertices, motion)
        for body, first in zip(bodies, start[:-1], strict=True)
        for vertices, motion in body.motions
    )
    return Model(
        np.concatenate([body.initial_positions for body in bodies]),
        np.concatenate([body.initial_velocities for body in bodies]),
        mass,
        scene.gravity,
        np.concatenate([np.full(body.n_vertices, body.damping) for body in bodies]),
        subspace,
        np.concatenate([body.directions for body in bodies]),
        led,
        solids,
        tuple(body.name for body in bodies),
        start,
    )


def _gather(law: type[SolidLaw], members: list[tuple[Body, int]]) -> Solids:
    tets = np.concatenate([body.mesh.tets + first for body, first in members])
    rest = [tet.rest_data(body.mesh.points, body.mesh.tets) for body, _ in members]
    parameters = np.concatenate([np.tile(body.material.parameters, (len(body.mesh.tets), 1)) for body, _ in members])
    return Solids(law, tets, np.concatenate([b for b, _ in rest]), np.concatenate([v for _, v in rest]), parameters)
