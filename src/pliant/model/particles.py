"""Grains: spheres that touch each other, obstacles and sheets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import SceneError
from pliant.model import checks
from pliant.model.blocks import Block
from pliant.model.body import Body
from pliant.state import State

ROUNDING = 1e-9  # [s] by which a time may miss that of a step


class Particles(Body):
    """Spheres in a scene. Its vertices are their centres.

    radius: [m], one number or one per particle; density: [kg/m^3]; spin: whether they turn, so that they roll.
    births: [s], one number or one per particle: until then it is not there (Scene.add_emitter).
    rolling_resistance: tangent of the slope on which it begins to roll.
    """

    kind = "particles"
    element_names = ("particle", "particles")
    settings = ("gravity", "air_damping")

    def __init__(
        self, name: str, points: ArrayLike, radius: ArrayLike, density: float, spin: bool = False,
        births: ArrayLike = 0.0, rolling_resistance: float = 0.0,
    ):  # fmt: skip
        self.points = checks.points(points, f"{name}: points", least=1)
        n = len(self.points)
        self.radius = checks.numbers(radius, n, f"{name}: radius", "particle", "m", positive=True)
        self.density = checks.number(density, f"{name}: density", "kg/m^3", positive=True)
        self.spin = checks.flag(spin, f"{name}: spin")
        self.rolling_resistance = checks.number(rolling_resistance, f"{name}: rolling_resistance", "1")
        if self.rolling_resistance > 0 and not self.spin:
            raise SceneError(
                f"{name}: rolling_resistance is {self.rolling_resistance:g}, but its particles do not turn: give "
                "spin=True too."
            )
        self.births = checks.numbers(births, n, f"{name}: births", "particle", "s")
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
        return {
            "points": self.points,
            "radius": self.radius,
            "density": self.density,
            "spin": self.spin,
            "births": self.births,
            "rolling_resistance": self.rolling_resistance,
        }


@dataclass(frozen=True)
class ParticleModel:
    """The particles of all bodies, p in all."""

    vertices: np.ndarray  # (p,) int32 of the scene
    radius: np.ndarray  # (p,) [m]
    spins: np.ndarray  # (p,) bool
    births: np.ndarray  # (p,) [s] when it comes; 0: there from the start
    rolling: np.ndarray  # (p,) coefficient of rolling resistance

    @cached_property
    def is_emitted(self) -> bool:
        """Whether any particle comes later than the start."""
        return bool((self.births > 0).any())

    def absent(self, time: float) -> np.ndarray:
        """(p,) bool: not there yet at a time [s]."""
        return self.births > time + ROUNDING

    def waiting(self, time: float) -> np.ndarray:
        """(k,) vertices that are not there yet at a time [s]."""
        return self.vertices[self.absent(time)] if self.is_emitted else self.vertices[:0]

    def let_come(self, x: np.ndarray, v: np.ndarray, state: State, time: float, h: float) -> None:
        """Start what has come within h [s] before a time [s], from x with v (n, 3), as far on its way as it is late."""
        if not self.is_emitted:
            return
        came = np.flatnonzero((self.births > 0) & ~self.absent(time) & self.absent(time - h))
        own, late = self.vertices[came], (time - self.births[came])[:, None]
        state.x[own] = x[own] + late * v[own]
        state.v[own] = state.v_previous[own] = v[own]

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
        np.concatenate([body.births for body, _ in own]),
        np.concatenate([np.full(body.n_vertices, body.rolling_resistance) for body, _ in own]),
    )
