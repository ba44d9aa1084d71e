"""A rope drawn over a capstan."""

from __future__ import annotations

import numpy as np

import pliant as pl

RADIUS, FRICTION, WEIGHT = 0.1, 0.3, 1.0  # [m], 1, [N] of the load that is lifted
DRAWN = 0.02  # [m]


def capstan(segments: int) -> float:
    """Tension of the drawn end of a rope over that of its load; segments on the half circle that it touches."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact(thickness=1e-3)
    scene.add_cylinder((0, -0.1, 0), (0, 0.1, 0), RADIUS, friction=FRICTION)
    r, edge = RADIUS + 0.5e-3, np.pi * RADIUS / segments
    down = edge * np.arange(1, segments // 4 + 2)
    angle = np.linspace(np.pi, 0, segments + 1)
    left = np.stack([np.full(len(down), -r), 0 * down, -down], axis=1)[::-1]
    arc = r * np.stack([np.cos(angle), 0 * angle, np.sin(angle)], axis=1)
    points = np.concatenate([left, arc, left[::-1] * [-1, 1, 1]])
    edges = np.stack([np.arange(len(points) - 1), np.arange(1, len(points))], axis=1)
    rope = scene.add_springs(points, edges, stiffness=1e3 / edge, mass=1e-4)
    last = len(points) - 1
    rope.pin(np.arange(last + 1), components="y")
    rope.move([last], lambda t: points[last:] - np.array([0, 0, DRAWN * t]), components="z")
    forces = np.zeros_like(points)
    forces[0, 2] = -WEIGHT
    rope.add_force(lambda x, v, t: forces)
    return -float(pl.equilibrium(scene).reaction_force(rope, [last])[2] / WEIGHT)


def capstan_truth() -> float:
    """exp(mu phi), phi = pi (Euler, Eytelwein)."""
    return float(np.exp(FRICTION * np.pi))
