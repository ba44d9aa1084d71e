"""Newton 1.7.0 (`newton.solvers.SolverVBD` on Warp's CPU device) on the common cloth.

Read in newton/_src of the installed 1.7.0; in solvers/vbd, K is particle_vbd_kernels.py:

Membrane    K:533. mu/2 (I - 2) + (lam + mu)/2 (J - 1 - mu/(lam + mu))^2 a rest area, with I = tr F^T F and the area
            ratio J: pliant's StableNeoHookean as a sheet. `tri_ke` is mu, `tri_ka` is lam [N/m]. Nothing to convert.
Its block   K:620 with the cofactor term clamped at zero, much as pliant leaves out negative stiffness along the normal.
Bending     K:695. `edge_ke` l / 2 (theta - theta_0)^2 with the edge's rest length l: here edge_ke = k w / l with
            pliant's weight w, edge by edge, so that the energies are equal.  Block k dtheta dtheta^T, as pliant's.
Damping     0. Start, singular blocks, precision and threads as in newton_vbd.
"""

import newton
import numpy as np
import warp as wp

from benchmarks.peers.result import PeerResult, time_iterations


def build_model(points, triangles, masses, hinges, stiffness, *, mu, lam, gravity, pinned):
    """A coloured newton.Model on the CPU; stiffness (h,): pliant's k w of each hinge [J]."""
    active = int(newton.ParticleFlags.ACTIVE)
    builder = newton.ModelBuilder(gravity=tuple(map(float, gravity)))
    builder.add_particles(
        pos=[wp.vec3(*p) for p in points],
        vel=[wp.vec3(0.0, 0.0, 0.0)] * len(points),
        mass=masses.tolist(),
        flags=[0 if p else active for p in pinned],
    )
    m, h = len(triangles), len(hinges)
    builder.add_triangles(*triangles.T.tolist(), tri_ke=[mu] * m, tri_ka=[lam] * m, tri_kd=[0.0] * m)
    start, end, left, right = hinges.T
    lengths = np.linalg.norm(points[end] - points[start], axis=1)
    builder.add_edges(
        left.tolist(),
        right.tolist(),
        start.tolist(),
        end.tolist(),
        edge_ke=(stiffness / lengths).tolist(),
        edge_kd=[0.0] * h,
    )
    builder.color(include_bending=True)
    model = builder.finalize(device="cpu")
    if not np.array_equal(model.tri_indices.numpy().reshape(-1, 3), triangles):
        raise RuntimeError("newton dropped or reordered triangles")
    if len(model.edge_indices.numpy()) != h:
        raise RuntimeError("newton dropped hinges")
    return model


def run(
    points, triangles, masses, hinges, stiffness, *, mu, lam, gravity, pinned, h, iterations, steps=1, repeats=5
) -> PeerResult:
    """`steps` implicit Euler steps of `iterations` VBD iterations each; see PeerResult."""
    wp.config.log_level = wp.LOG_WARNING
    model = build_model(points, triangles, masses, hinges, stiffness, mu=mu, lam=lam, gravity=gravity, pinned=pinned)
    solver = newton.solvers.SolverVBD(model, iterations=iterations, particle_enable_self_contact=False)
    start, now, after = model.state(), model.state(), model.state()

    def reset():
        now.assign(start)

    def step(count):
        solver.iterations = count
        solver.step(now, after, None, None, h)

    for _ in range(steps):
        step(iterations)
        now.assign(after)
    positions = now.particle_q.numpy().astype(float)
    timing = time_iterations(reset, step, repeats)
    return PeerResult(
        name=f"newton {newton.__version__} SolverVBD cloth, CPU",
        threads=1,
        positions=positions,
        milliseconds_per_iteration=timing.per_iteration,
        milliseconds_per_step_fixed=timing.fixed,
        n_iterations=iterations,
        note=f"single precision, {len(model.particle_color_groups)} colours, {timing}",
    )
