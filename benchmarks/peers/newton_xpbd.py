"""Newton 1.7.0 (`newton.solvers.SolverXPBD` on Warp's CPU device) on the common scene.

Read in newton/_src/solvers/xpbd of the installed 1.7.0 (kernels.py:487 solve_tetrahedra, solver_xpbd.py:600):

Energy      constraints |F|^2 - 3 with compliance 1 / (V mu) and J - 1 with 1 / (V lam), that is
            V (mu/2 (I - 3)^2 + lam/2 (J - 1)^2): no shear stiffness at rest. Another energy than ours, whatever the
            numbers: positions cannot be compared, times can. The work is alike: two constraints a tet, no 2x2 coupling.
Multipliers none are kept: compliance acts as if every iteration were the first.
Order       Jacobi: corrections added one after another, times soft_body_relaxation (0.9), not divided by valence.
Pinned      particles that are not ACTIVE, as for VBD.
Precision   single. Threads: one, Warp's CPU device runs a launch as a serial loop.
"""

import newton
import numpy as np
import warp as wp

from benchmarks.peers.newton_vbd import build_model
from benchmarks.peers.result import PeerResult, time_iterations


def run(points, tets, *, mu, lam, density, gravity, h, iterations, pinned, repeats=5, velocities=None) -> PeerResult:
    """Time XPBD iterations; arguments as in newton_vbd.run. Positions are those after one step."""
    points, tets, pinned = np.asarray(points, float), np.asarray(tets), np.asarray(pinned, bool)
    velocities = np.zeros_like(points) if velocities is None else np.where(pinned[:, None], 0.0, velocities)
    wp.config.log_level = wp.LOG_WARNING
    model = build_model(
        points, tets, mu=mu, lam=lam, density=density, gravity=gravity, pinned=pinned, velocities=velocities
    )
    solver = newton.solvers.SolverXPBD(model, iterations=iterations)
    start, now, after, control = model.state(), model.state(), model.state(), model.control()

    def reset():
        now.assign(start)

    def step(count):
        solver.iterations = count
        solver.step(now, after, control, None, h)

    step(iterations)
    positions = after.particle_q.numpy().astype(float)
    timing = time_iterations(reset, step, repeats)
    return PeerResult(
        name=f"newton {newton.__version__} SolverXPBD, CPU",
        threads=1,
        positions=positions,
        milliseconds_per_iteration=timing.per_iteration,
        milliseconds_per_step_fixed=timing.fixed,
        n_iterations=iterations,
        note=f"single precision, Jacobi, {timing}",
    )
