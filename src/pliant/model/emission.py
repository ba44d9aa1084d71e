"""Where and when an emitter lets particles go: through a round mouth, one after another, never into each other."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import SceneError
from pliant.model import checks

TRIES = 400  # places in the mouth that are tried for a particle
MOST = 5_000_000  # particles of one emitter


def emitted(
    name: str,
    position: ArrayLike,
    rate: float,
    velocity: ArrayLike,
    until: float,
    start: float,
    size: float,
    radius: ArrayLike,
    gravity: np.ndarray,
    seed: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Centres (n, 3) [m], times (n,) [s] at which they are let go, velocities (n, 3) [m/s] and radii (n,) [m].

    Particle k comes at start + k / rate, at a random place of a disc of radius `size` across the velocity where no
    particle that came before is, all falling freely.
    """
    centre = checks.vectors(position, None, f"{name}: position", "m")
    v = checks.vectors(velocity, None, f"{name}: velocity", "m/s")
    rate = checks.number(rate, f"{name}: rate", "1/s", positive=True)
    start = checks.real(start, f"{name}: start", "s")
    until = checks.real(until, f"{name}: until", "s")
    size = checks.number(size, f"{name}: size", "m")
    if until <= start:
        raise SceneError(f"{name}: until is {until:g} s, and it starts at {start:g} s: give a later end.")
    particles = (until - start) * rate
    if particles > MOST:
        raise SceneError(f"{name}: it would release {particles:.3g} particles: give a lower rate or an earlier end.")
    n = max(math.ceil(particles - 1e-9), 1)
    r = checks.numbers(radius, n, f"{name}: radius", "particle", "m", positive=True)
    births = start + np.arange(n) / rate
    random = np.random.default_rng(checks.seed(seed, f"{name}: seed"))
    across = _across(v if v.any() else gravity)
    points, reach = np.zeros((n, 3)), 2 * r.max() + 2 * size
    window = min(n, math.ceil(min(rate * _time_to_leave(v, gravity, reach), n)) + 1)
    for k in range(n):
        before = slice(max(0, k - window), k)
        ages = (births[k] - births[before])[:, None]
        others = points[before] + ages * v + 0.5 * ages**2 * gravity
        place = _free_place(random, size, across, others, r[k] + r[before])
        if place is None:
            raise SceneError(
                f"{name}: at a rate of {rate:g} 1/s particle {k} finds no room in the mouth among those before it: "
                f"give a lower rate, a higher speed than {np.linalg.norm(v):g} m/s or a larger size than {size:g} m."
            )
        points[k] = place
    return centre + points, births, np.broadcast_to(v, (n, 3)).copy(), r


def _free_place(
    random: np.random.Generator, size: float, across: np.ndarray, others: np.ndarray, distances: np.ndarray
) -> np.ndarray | None:
    for _ in range(TRIES if size > 0 else 1):
        distance, angle = size * math.sqrt(random.random()), 2 * math.pi * random.random()
        place = distance * (math.cos(angle) * across[0] + math.sin(angle) * across[1])
        if (np.sum((others - place) ** 2, axis=1) >= (distances * (1 - 1e-9)) ** 2).all():
            return place
    return None


def _across(v: np.ndarray) -> np.ndarray:
    """Two unit vectors (2, 3) across v."""
    along = v / np.linalg.norm(v) if v.any() else np.array([0.0, 0.0, 1.0])
    one = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    one /= np.linalg.norm(one)
    return np.stack([one, np.cross(along, one)])


def _time_to_leave(v: np.ndarray, gravity: np.ndarray, reach: float) -> float:
    """[s] after which a particle is farther than `reach` [m] from where it came: by its speed, or by falling."""
    speed, g = float(np.linalg.norm(v)), float(np.linalg.norm(gravity))
    times = [reach / speed] if speed > 0 else []
    times += [math.sqrt(2 * reach / g)] if g > 0 else []
    return 2 * min(times, default=math.inf)
