"""Velocities that a step begins with, and what velocities lead to.

Loops run over vertices as the scene numbers them; numbers: those in the bodies (constraints.numbering).
"""

from __future__ import annotations

import numpy as np

from pliant.constraints.rows import SPHERE_SPIN
from pliant.kernels.threads import share
from pliant.lanes.entry import entry


@entry(nogil=True, error_model="numpy")
def begin_velocities(
    thread, threads, barrier, numbers, is_free, inertia, turns, x, held, h, square, inverse_mass, bodies
):
    """Velocities that lead from x to held (n, 3) [m] within h [s], with the inverse mass of each vertex, also in double
    precision to inverse_mass (n,); of what is not free it is 0. inertia: m / h^2; square: h^2; turns: who has spin.
    """
    first, last = share(0, len(x), thread, threads)
    for vertex in range(first, last):
        i = np.uint64(vertex)
        k = np.uint64(numbers[i])
        w = 1.0 / (inertia[i] * square) if is_free[i] else 0.0
        for axis in range(3):
            bodies.velocity[k, axis] = (held[i, axis] - x[i, axis]) / h
        inverse_mass[i] = w
        bodies.velocity[k, 3] = bodies.inverse_mass[k] = w
        bodies.inverse_inertia[k] = SPHERE_SPIN * w if turns[i] else 0.0


@entry(nogil=True, error_model="numpy")
def write_positions(thread, threads, barrier, numbers, bodies, x_prev, held, h, x):
    """x (n, 3) [m] that velocities lead to from x_prev; what does not move is where it is held."""
    first, last = share(0, len(x), thread, threads)
    for vertex in range(first, last):
        i = np.uint64(vertex)
        k = np.uint64(numbers[i])
        moves = bodies.velocity[k, 3] > 0.0
        for axis in range(3):
            x[i, axis] = x_prev[i, axis] + h * bodies.velocity[k, axis] if moves else held[i, axis]


@entry(nogil=True, error_model="numpy")
def write_velocities(thread, threads, barrier, numbers, bodies, v):
    """v (n, 3) [m/s] of what moves."""
    first, last = share(0, len(v), thread, threads)
    for vertex in range(first, last):
        i = np.uint64(vertex)
        k = np.uint64(numbers[i])
        if bodies.velocity[k, 3] > 0.0:
            for axis in range(3):
                v[i, axis] = bodies.velocity[k, axis]
