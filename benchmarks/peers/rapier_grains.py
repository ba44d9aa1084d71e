"""Spheres in a box by rapier3d 0.36.1."""

from __future__ import annotations

import numpy as np

from benchmarks.step_times import median_times


def run(
    points: np.ndarray, radius: float, box: tuple[float, ...], friction: float, h: float, iterations: int, steps: int
):
    """Positions (n, 3) [m], and median times of the last steps [s]. Bodies never sleep, and do not turn, as ours."""
    import rapier3d as r

    world = r.PhysicsWorld(gravity=(0.0, 0.0, -9.81))
    world.integration_parameters.dt = h
    world.integration_parameters.num_solver_iterations = iterations
    world.integration_parameters.length_unit = 2 * radius  # its tolerances are for bodies of that size
    a, b, c = (0.5 * length for length in box)
    walls = [
        ((0, 0, -0.5), (a + 1, b + 1, 0.5)),
        ((a + 0.5, 0, c), (0.5, b + 1, c)),
        ((-a - 0.5, 0, c), (0.5, b + 1, c)),
    ]
    walls += [((0, b + 0.5, c), (a + 1, 0.5, c)), ((0, -b - 0.5, c), (a + 1, 0.5, c))]
    for place, half in walls:
        world.add_collider(r.Collider.cuboid(*half).translation(place).friction(friction))
    handles = []
    for point in points.tolist():
        body = r.RigidBody.dynamic(translation=tuple(point)).can_sleep(False).enabled_rotations((False, False, False))
        ball = r.Collider.ball(radius).density(2500.0).friction(friction)
        made = world.add_body(body, colliders=[ball])
        handles.append(made[0] if isinstance(made, tuple) else made)
    times = median_times(world.step, steps)
    bodies = [world.rigid_bodies[handle] for handle in handles]
    places = np.array([[body.translation.x, body.translation.y, body.translation.z] for body in bodies])
    return places, times
