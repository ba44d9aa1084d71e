"""pbatoolkit 0.0.11 (`pbatoolkit.sim.vbd`, its CPU integrator) on the common scene.

The wheel is compiled. Read in the public sources, Q-Minh/PhysicsBasedAnimationToolkit, source/pbat (perhaps
not the wheel's commit), and confirmed on the wheel by `check_same_work.py`, which agrees to 1e-15:

Energy      physics/StableNeoHookeanEnergy.h, StableNeoHookeanEnergy<3>::Eval:
            mu/2 (I - 3) - mu (J - 1) + l/2 (J - 1)^2 with l as it comes. What it calls the second Lame
            coefficient is not Lame's lambda at rest, which is l - mu. So l = lam + mu is passed.
Block       sim/vbd/Kernels.h: 9x9 Hessian contracted with the shape gradients, unprojected: the exact block.
Mass        sim/vbd/Data.cpp, Construct: consistent mass matrix with rows summed, the sum of density V / 4.
            Its quadrature tables have six digits: masses `m` and volumes `wg` are off by 2e-6. Checked, then
            overwritten with exact ones.
Damping     Rayleigh, kD = 0 by default; set to 0.
Start       Kernels.h, InitialPositionsForSolve. `Inertia` is x + h v WITHOUT gravity; the inertial target
            x + h v + h^2 g is `KineticEnergyMinimum`, used here. The default is `AdaptivePbat`.
Accelerator `Base`, none, is the default; others are chosen on `Data`. Checked.
Pinned      Data.cpp, Construct: velocity and acceleration zeroed, vertices taken out of the colours: neither
            moved nor visited. `input_sorted=True` is assumed, not checked; flatnonzero is sorted.
Singular    Kernels.h, IntegratePositions: a vertex with |det H| <= 1e-7 is silently not moved; set to 0.
Orientation not checked by pbatoolkit; `lumped_masses` raises on an inverted tet.
Precision   double. Layout 3 x n and 4 x m, column-major.
Threads     TBB over the vertices of a colour, as many as the CPU affinity allows. No setting in Python: run
            under `taskset -c 0` for one thread.
"""

import importlib.metadata
import os

import numpy as np
from pbatoolkit import pbat

from benchmarks.peers.result import PeerResult, lumped_masses, time_iterations

vbd = pbat.sim.vbd


def build_integrator(points, tets, *, mu, lam, density, gravity, pinned, velocities):
    """A vbd.Integrator with the common scene, checked against what was asked for."""
    masses, volumes = lumped_masses(points, tets, density)
    each = np.ones(len(tets))
    data = (
        vbd.Data()
        .with_volume_mesh(np.asfortranarray(points.T), np.asfortranarray(tets.T, dtype=np.int64))
        .with_velocity(np.asfortranarray(velocities.T))
        .with_acceleration(np.asfortranarray(np.tile(np.asarray(gravity, float)[:, None], len(points))))
        .with_material(density * each, mu * each, (lam + mu) * each)
        .with_dirichlet_vertices(np.flatnonzero(pinned))
        .with_initialization_strategy(vbd.InitializationStrategy.KineticEnergyMinimum)
        .with_rayleigh_damping(0.0)
        .with_hessian_determinant_zero(0.0)
        .construct(validate=True)
    )
    check_data(data, tets, masses, volumes, pinned)
    data.m, data.wg = masses, volumes
    return vbd.Integrator(data)


def check_data(data, tets, masses, volumes, pinned):
    """Raise unless pbatoolkit holds exactly the tets, masses and pins asked for, unaccelerated."""
    if not (np.array_equal(data.E.T, tets) and np.allclose(data.wg, volumes, rtol=1e-5, atol=0)):
        raise RuntimeError("pbatoolkit dropped, reordered or reweighted tets")
    if not np.allclose(data.m, masses, rtol=1e-5, atol=0):
        raise RuntimeError("pbatoolkit's masses are not the lumped masses")
    if not np.array_equal(np.sort(data.Padj), np.flatnonzero(~pinned)):
        raise RuntimeError("pbatoolkit does not visit exactly the free vertices")
    if data.accelerator != vbd.AccelerationStrategy.Base or data.kD != 0:
        raise RuntimeError("pbatoolkit is accelerated or damped")


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
    integrator = build_integrator(
        points, tets, mu=mu, lam=lam, density=density, gravity=gravity, pinned=pinned, velocities=velocities
    )

    def reset():
        integrator.x, integrator.v = np.asfortranarray(points.T), np.asfortranarray(velocities.T)

    def step(count):
        integrator.step(h, count, 1)

    for _ in range(steps):
        step(iterations)
    positions = np.array(integrator.x.T)
    timing = time_iterations(reset, step, repeats)
    return PeerResult(
        name=f"pbatoolkit {importlib.metadata.version('pbatoolkit')} vbd.Integrator",
        threads=len(os.sched_getaffinity(0)),
        positions=positions,
        milliseconds_per_iteration=timing.per_iteration,
        milliseconds_per_step_fixed=timing.fixed,
        n_iterations=iterations,
        note=f"double precision, {integrator.data.colors.max() + 1} colours, {timing}",
    )
