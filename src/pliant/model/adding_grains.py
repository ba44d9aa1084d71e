"""What a scene has for grains: particles that are there, and emitters."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.body import AnyBody, Body
from pliant.model.contact import Contact
from pliant.model.emission import emitted
from pliant.model.particles import Particles


class AddingGrains(ABC):
    """A part of Scene."""

    _contact: Contact | None
    bodies: list[Body]

    @property
    @abstractmethod
    def gravity(self) -> np.ndarray:
        """(3,) [m/s^2]."""

    @abstractmethod
    def add(self, body: AnyBody) -> AnyBody: ...

    @abstractmethod
    def _free_name(self, name: str | None, kind: type[Body]) -> str: ...

    def add_particles(
        self,
        points: ArrayLike,
        radius: ArrayLike = 0.01,
        density: float = 2500.0,
        friction: float | None = None,
        name: str | None = None,
        spin: bool = False,
        rolling_resistance: float = 0.0,
    ) -> Particles:
        """Add spheres with centres (n, 3) [m]; pl.shapes.packed_spheres fills a space with them.

        radius: [m], one number or one per particle; density: [kg/m^3].
        friction: coefficient, see Body.friction. spin: they turn, so that they roll; without it they only
        slide. rolling_resistance: of particles that turn, the tangent of the slope on which one begins to roll; between
        two bodies of particles the geometric mean.
        Solvers: pl.VelocityTimeStepping, pl.SequentialPositions, pl.PositionBased; without spin also pl.Auto, pl.VBD,
        pl.AVBD, pl.Newton, pl.XPBD and pl.GPBD, in which they meet solids too.
        """
        own = self._free_name(name, Particles)
        body = Particles(own, points, radius, density, spin, rolling_resistance=rolling_resistance)
        body.friction = friction
        return self._add_grains(body)

    def add_emitter(
        self,
        position: ArrayLike,
        rate: float,
        velocity: ArrayLike,
        until: float,
        radius: ArrayLike = 0.01,
        density: float = 2500.0,
        friction: float | None = None,
        name: str | None = None,
        spin: bool = False,
        size: float = 0.0,
        start: float = 0.0,
        seed: int = 0,
        rolling_resistance: float = 0.0,
    ) -> Particles:
        """Add a source of particles: from `start` to `until` [s] it lets go `rate` of them per second, at `velocity`
        (3,) [m/s].

        position: [m] of the middle of its mouth, a disc of radius `size` [m] across the velocity in which each has a
        place of its own at random (`seed`). What does not fit through it is refused.
        radius, density, friction, spin, rolling_resistance: as of add_particles.

        All particles have their numbers from the start; before it comes a particle waits in the mouth, weightless, and
        touches nothing.
        """
        name = self._free_name(name, Particles)
        about = (position, rate, velocity, until, start, size, radius, self.gravity, seed)
        points, births, velocities, radii = emitted(name, *about)
        body = Particles(name, points, radii, density, spin, births, rolling_resistance)
        body.friction = friction
        body.set_velocities(velocities)
        return self._add_grains(body)

    def _add_grains(self, body: Particles) -> Particles:
        self._contact = self._contact or Contact()
        return self.add(body)
