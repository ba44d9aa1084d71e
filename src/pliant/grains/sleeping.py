"""Particles at rest that are left out of a step until something disturbs them.

An island is a set of particles that touch each other, directly or through others. It falls asleep when all of its
particles have been slower than a given speed for AFTER seconds, and touches nothing but itself and obstacles at rest.
It is then held where it is, without velocity, and has no contacts. It wakes as a whole, within the step, when

- a particle, a sheet or a body that is awake comes near enough for a contact with one of its particles,
- any obstacle or any vertex that is moved by a motion moves, whether near or far,
- the force on one of its particles changes, or somebody gives it a velocity or another place.

All of it depends on the state alone, so that it is the same on any number of threads; it is part of checkpoints.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.constraints.rows import Rows
from pliant.geometry.components import connected_components
from pliant.grains.record import Obstacles

AFTER = 0.25  # [s] below the speed
LOOKS = 8  # steps between two looks for islands that may fall asleep
CHANGED = 1e-6  # of the way of a step without contacts: a larger change is one of forces
AWAKE = -1


class Sleepers:
    """Which of n vertices sleep, and in which island."""

    def __init__(self, particles: np.ndarray, n: int, speed: float):
        self.speed = speed  # [m/s]
        self._is_particle = np.zeros(n, bool)
        self._is_particle[particles] = True
        self.island = np.full(n, AWAKE, np.int64)  # (n,) number, or AWAKE
        self._still = np.zeros(n)  # (n,) [s] since when it has been slow
        self._way, self._place = np.zeros((n, 3)), np.zeros((n, 3))  # [m] of those that sleep: y - x, and x
        self._v = np.zeros((n, 3))  # [m/s] at the end of the last step
        self._steps, self._islands = 0, 0

    @property
    def asleep(self) -> np.ndarray:
        """(n,) bool."""
        return self.island != AWAKE

    def wake(self, which: np.ndarray) -> bool:
        """Wake the islands of vertices (k,); whether there were any."""
        found = np.unique(self.island[which])
        found = found[found != AWAKE]
        own = np.isin(self.island, found)
        self.island[own], self._still[own] = AWAKE, 0.0
        return bool(len(found))

    def begin(self, x: np.ndarray, y: np.ndarray, is_free: np.ndarray, obstacles: Obstacles) -> np.ndarray:
        """Wake what forces or people have disturbed since the last step, and all if something is moved; (n,) bool: who
        sleeps. x, y (n, 3) [m]: where all are, and would be at the end of the step.
        """
        asleep = np.flatnonzero(self.asleep)
        if len(asleep):
            is_moved = (y != x).any(axis=1) & ~is_free & ~self._is_particle
            if is_moved.any() or (obstacles.at_start != obstacles.at_end).any():
                self.wake(asleep)
            else:
                change = np.abs(y[asleep] - x[asleep] - self._way[asleep]).max(axis=1)
                least = CHANGED * np.abs(self._way[asleep]).max() + 1e-14 * np.abs(x[asleep]).max()
                self.wake(asleep[(change > least) | (x[asleep] != self._place[asleep]).any(axis=1)])
        return self.asleep

    def wake_touched(self, rows: Rows, base: int, count: int, moves: np.ndarray) -> bool:
        """Wake islands that have contacts, of rows from `base` to `count`, with what moves (n,); whether any have."""
        if not self.asleep.any():
            return False
        v = rows.vertices[base:count]
        is_there = v >= 0
        sleeps, is_awake = self.asleep[v] & is_there, moves[v] & is_there
        touched = sleeps.any(axis=1) & is_awake.any(axis=1)
        return self.wake(v[touched][sleeps[touched]])

    def end(self, rows: Rows, base: int, count: int, moves: np.ndarray, way: np.ndarray, x: np.ndarray,
            v: np.ndarray, spins: np.ndarray, h: float) -> None:  # fmt: skip
        """Let islands fall asleep at the end of a step of h seconds: their velocities v and spins (n, 3) become zero.

        Rows from `base` to `count` are contacts, those before act on bodies that do not sleep. moves: (n,) who does;
        way (n, 3) [m] that the step leads without contacts; x (n, 3) [m] at its end; spins are as long as v, or empty.
        """
        falls = self._falling(rows, base, count, moves, np.linalg.norm(v, axis=1), h)
        self._way[falls], self._place[falls] = way[falls] - h * self._v[falls], x[falls]
        v[falls] = 0.0
        if len(spins):
            spins[falls] = 0.0
        self._v = v.copy()

    def _falling(
        self, rows: Rows, base: int, count: int, moves: np.ndarray, speeds: np.ndarray, h: float
    ) -> np.ndarray:
        """(k,) who falls asleep."""
        self._still = np.where(speeds < self.speed, self._still + h, 0.0)
        self._steps += 1
        ready = self._is_particle & moves & (self._still >= AFTER)
        if self._steps % LOOKS or not ready.any():
            return np.zeros(0, np.int64)
        v, n = rows.vertices[base:count], len(moves)  # -1 in place of a vertex is no one's: see the masks
        is_pair = (v[:, 1] >= 0) & (v[:, 2] < 0)
        count_of, label = connected_components(v[is_pair, :2], n)
        stays = np.zeros(count_of, bool)
        stays[label[moves & ~ready]] = True
        drifts = (v[:, 1] < 0) & (rows.weights[base:count] != 0).any(axis=1)
        moved = (v[:, 2] >= 0) & (moves[v[:, 1:]] & (v[:, 1:] >= 0)).any(axis=1)
        stays[label[v[drifts | moved, 0]]] = True
        stays[label[rows.vertices[:base, :2].ravel()]] = True
        falls = np.flatnonzero(ready & ~stays[label])
        self.island[falls] = self._islands + label[falls]
        self._islands += count_of
        return falls

    def state_dict(self) -> dict[str, Any]:
        """For checkpoints."""
        return {
            "island": self.island.tolist(), "still": self._still.tolist(), "way": self._way.tolist(),
            "place": self._place.tolist(), "v": self._v.tolist(), "steps": self._steps, "islands": self._islands,
        }  # fmt: skip

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        self.island, self._still = np.array(state["island"], np.int64), np.array(state["still"], float)
        self._way, self._place, self._v = (np.array(state[k], float).reshape(-1, 3) for k in ("way", "place", "v"))
        self._steps, self._islands = state["steps"], state["islands"]
