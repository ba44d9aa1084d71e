"""Spheres in a box by Newton 1.7.0 (`newton.solvers.SolverXPBD`, particles, on Warp's CPU device).

Contacts of particles are found by its own grid in every step and corrected by Jacobi iterations with averaging; walls
are planes. Single precision; one thread: Warp's CPU device runs a launch as a serial loop.
"""

from __future__ import annotations

import newton
import numpy as np
import warp as wp

from benchmarks.step_times import median_times


def run(
    points: np.ndarray, radius: float, box: tuple[float, ...], friction: float, h: float, iterations: int, steps: int
):
    """Positions (n, 3) [m], and median times of the last steps [s]."""
    wp.config.log_level = wp.LOG_WARNING
    mass = 2500.0 * 4 / 3 * np.pi * radius**3
    builder = newton.ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_particles(
        pos=[wp.vec3(*p) for p in points], vel=[wp.vec3()] * len(points), mass=[mass] * len(points),
        radius=[radius] * len(points),
    )  # fmt: skip
    a, b = 0.5 * box[0], 0.5 * box[1]
    for plane in ((0, 0, 1, 0), (1, 0, 0, a), (-1, 0, 0, a), (0, 1, 0, b), (0, -1, 0, b)):  # n . x + d = 0
        builder.add_shape_plane(tuple(map(float, plane)), width=0.0, length=0.0)
    model = builder.finalize(device="cpu")
    model.particle_mu = model.soft_contact_mu = friction
    solver = newton.solvers.SolverXPBD(model, iterations=iterations)
    pipeline = newton.CollisionPipeline(model)
    contacts = pipeline.contacts()
    states, control = [model.state(), model.state()], model.control()

    def step() -> None:
        now, after = states
        now.clear_forces()
        pipeline.collide(now, contacts)
        solver.step(now, after, control, contacts, h)
        states.reverse()

    times = median_times(step, steps)
    return states[0].particle_q.numpy().astype(float), times
