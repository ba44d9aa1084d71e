"""Grains: spheres that touch each other, obstacles and sheets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.model import checks
from pliant.model.blocks import Block
from pliant.model.body import Body


class Particles(Body):
    """Spheres in a scene. Its vertices are their centres.

    radius: [m], one number or one per particle; density: [kg/m^3]; spin: whether they turn, so that they roll.
    """

    kind = "particles"
    element_names = ("particle", "particles")
    settings = ("gravity", "air_damping")

    def __init__(self, name: str, points: ArrayLike, radius: ArrayLike, density: float, spin: bool = False):
        given = np.asarray(points)
        n = len(given) if given.ndim else 0
        self.points = checks.vectors(points, max(n, 1), f"{name}: points", "m")
        self.radius = checks.numbers(radius, n, f"{name}: radius", "particle", "m", positive=True)
        self.density = checks.number(density, f"{name}: density", "kg/m^3", positive=True)
        self.spin = bool(spin)
        super().__init__(name, self.points, 0.0)

    def blocks(self, first: int) -> list[Block]:
        return []

    @property
    def masses(self) -> np.ndarray:
        return self.density * 4 / 3 * np.pi * self.radius**3

    @property
    def n_elements(self) -> int:
        return self.n_vertices

    def ingredients(self) -> dict[str, Any]:
        return {"points": self.points, "radius": self.radius, "density": self.density, "spin": self.spin}


@dataclass(frozen=True)
class ParticleModel:
    """The particles of all bodies, p in all."""

    vertices: np.ndarray  # (p,) int32 of the scene
    radius: np.ndarray  # (p,) [m]
    spins: np.ndarray  # (p,) bool

    @property
    def has_spin(self) -> bool:
        """Whether any particle turns."""
        return bool(self.spins.any())

    def moments(self, mass: np.ndarray) -> np.ndarray:
        """I (p,) [kg m^2] of particles that turn, of masses (n,) [kg] of the vertices; 0 of the others."""
        return np.where(self.spins, 0.4 * mass[self.vertices] * self.radius**2, 0.0)


def particle_model(placed: Sequence[tuple[Body, int]]) -> ParticleModel | None:
    """The particles among bodies with their first vertices."""
    own = [(body, first) for body, first in placed if isinstance(body, Particles)]
    if not own:
        return None
    return ParticleModel(
        np.concatenate([np.arange(first, first + body.n_vertices, dtype=np.int32) for body, first in own]),
        np.concatenate([body.radius for body, _ in own]),
        np.concatenate([np.full(body.n_vertices, body.spin) for body, _ in own]),
    )
