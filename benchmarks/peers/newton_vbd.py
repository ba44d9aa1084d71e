"""Newton 1.7.0 (`newton.solvers.SolverVBD` on Warp's CPU device) on the common scene.

Read in newton/_src of the installed 1.7.0; in solvers/vbd, K is particle_vbd_kernels.py and S solver_vbd.py:

Energy      K:218-245. Stress mu F + (lam + mu) (J - 1 - mu / (lam + mu)) cof F, that is
            mu/2 (I - 3) - mu (J - 1) + (lam + mu)/2 (J - 1)^2. `k_mu` and `k_lambda` are the Lame parameters
            at rest; Newton adds mu to lambda itself. Nothing to convert.
Block       K:252, without d2J/dF2, which contributes nothing to a vertex block: the exact Newton block.
Mass        as given to the builder; here the sum of density V / 4.
Damping     K:272, `k_damp` of a tet, 0 by default in `add_tetrahedron`; 0 here.
Start       K:1433 forward_step: always the inertial target x + h v + h^2 g. Not selectable.
Accelerator none exists, nor a line search. No contact: contacts=None, self-contact off.
Pinned      K:2749, a particle that is not ACTIVE stays put; it stays in its colour and costs one `if`.
Singular    K:2855, a vertex with |det H| <= 1e-8 (kg/s^2)^3, an absolute number, is silently not moved.
Dropped     sim/builder.py:10640, a tet of volume <= 0 is dropped with a print; `lumped_masses` raises before.
Precision   single. The step's displacement is accumulated; positions are x_t + displacement.
Threads     one: Warp's CPU device runs a launch as a serial loop.
Overwrites  S:3224 and S:3980, a step writes its iterates into `state_in`: reset it before using it again.
            With 0 iterations `state_out` is not written at all.
"""

import newton
import numpy as np
import warp as wp

from benchmarks.peers.result import PeerResult, lumped_masses, time_iterations


def build_model(points, tets, *, mu, lam, density, gravity, pinned, velocities):
    """A coloured newton.Model on the CPU. Pinned particles keep their mass and lose the ACTIVE flag."""
    masses, _ = lumped_masses(points, tets, density)
    active = int(newton.ParticleFlags.ACTIVE)
    builder = newton.ModelBuilder(gravity=tuple(map(float, gravity)))
    builder.add_particles(
        pos=[wp.vec3(*p) for p in points],
        vel=[wp.vec3(*v) for v in velocities],
        mass=masses.tolist(),
        flags=[0 if p else active for p in pinned],
    )
    for i, j, k, l in tets.tolist():
        builder.add_tetrahedron(i, j, k, l, k_mu=mu, k_lambda=lam, k_damp=0.0)
    builder.color()
    model = builder.finalize(device="cpu")
    check_model(model, tets, masses, pinned)
    return model


def check_model(model, tets, masses, pinned):
    """Raise unless Newton holds exactly the tets, masses and pins that were asked for."""
    if not np.array_equal(model.tet_indices.numpy().reshape(-1, 4), tets):
        raise RuntimeError("newton dropped or reordered tets")
    if not np.allclose(model.particle_mass.numpy(), masses, rtol=1e-6, atol=0):
        raise RuntimeError("newton's particle masses are not the lumped masses")
    active = (model.particle_flags.numpy() & int(newton.ParticleFlags.ACTIVE)) != 0
    if not np.array_equal(active, ~pinned):
        raise RuntimeError("newton's inactive particles are not the pinned ones")


def run(
    points, tets, *, mu, lam, density, gravity, h, iterations, pinned, steps=1, repeats=5, velocities=None
) -> PeerResult:
    """`steps` implicit Euler steps of `iterations` VBD iterations each; see PeerResult.

    points (n, 3) [m] are both rest shape and start; tets (m, 4) positively oriented; mu, lam [Pa] Lame
    parameters at rest; density [kg/m^3]; gravity (3,) [m/s^2]; h [s]; pinned (n,) bool, these do not move;
    velocities (n, 3) [m/s], zero if None. repeats=0 skips the timing.
    """
    points, tets, pinned = np.asarray(points, float), np.asarray(tets), np.asarray(pinned, bool)
    velocities = np.zeros_like(points) if velocities is None else np.where(pinned[:, None], 0.0, velocities)
    wp.config.log_level = wp.LOG_WARNING
    model = build_model(
        points, tets, mu=mu, lam=lam, density=density, gravity=gravity, pinned=pinned, velocities=velocities
    )
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
        name=f"newton {newton.__version__} SolverVBD, CPU",
        threads=1,
        positions=positions,
        milliseconds_per_iteration=timing.per_iteration,
        milliseconds_per_step_fixed=timing.fixed,
        n_iterations=iterations,
        note=f"single precision, {len(model.particle_color_groups)} colours, {timing}",
    )
