"""The solver of a simulation that names none."""

from __future__ import annotations

from typing import Any

from pliant.model import Scene
from pliant.model.particles import Particles
from pliant.solvers import Auto, Solver, VelocityTimeStepping


def default_solver(scene: Scene) -> Solver[Any]:
    """Hard constraints for particles; else as many iterations as a step needs."""
    has_particles = any(isinstance(body, Particles) for body in scene.bodies)
    return VelocityTimeStepping() if has_particles else Auto()
