"""pbatoolkit 0.0.11 (`pbatoolkit.sim.xpbd`, its CPU integrator) on the common scene.

Read in the public sources, Q-Minh/PhysicsBasedAnimationToolkit, source/pbat/sim/xpbd (perhaps not the wheel's commit):

Energy      Macklin and Mueller's two constraints |F| and J - 1 - mu / l. As in its VBD, l = lam + mu is passed, so that
            the energy is ours; in the same order of elements its steps equal ours to rounding (benchmarks.xpbd), so it
            solves both constraints of a tet together.
Order       Gauss-Seidel over partitions of independent tets, given by the caller: our colours of elements.
Multipliers kept during a step, reset at its start.
Pinned      inverse mass zero.
Precision   double. Threads: TBB over a partition, as many as the CPU affinity allows.
"""

import importlib.metadata
import os

import numpy as np
from pbatoolkit import pbat

import pliant as pl
from benchmarks.peers.result import PeerResult, lumped_masses, time_iterations
from pliant.geometry.colouring import colour_elements

xpbd = pbat.sim.xpbd


def build_integrator(points, tets, *, mu, lam, density, gravity, pinned, velocities):
    """An xpbd.Integrator with the common scene."""
    masses, _ = lumped_masses(points, tets, density)
    colours = colour_elements(tets, len(points))
    order = np.argsort(colours, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(colours))])
    surface = np.asarray(pl.TetMesh(points, tets).surface_triangles)  # it wants one, for contact that never happens
    lame = np.repeat([[mu], [lam + mu]], len(tets), axis=1)
    data = (
        xpbd.Data()
        .with_volume_mesh(np.asfortranarray(points.T), np.asfortranarray(tets.T, dtype=np.int64))
        .with_surface_mesh(np.unique(surface), np.asfortranarray(surface.T, dtype=np.int64))
        .with_bodies(np.zeros(len(points), np.int64))
        .with_velocity(np.asfortranarray(velocities.T))
        .with_acceleration(np.asfortranarray(np.tile(np.asarray(gravity, float)[:, None], len(points))))
        .with_mass_inverse(np.where(pinned, 0.0, 1 / masses))
        .with_elastic_material(np.asfortranarray(lame))
        .with_dirichlet_vertices(np.flatnonzero(pinned))
        .with_partitions(starts.tolist(), order.tolist())
        .construct()
    )
    return xpbd.Integrator(data), len(starts) - 1


def run(points, tets, *, mu, lam, density, gravity, h, iterations, pinned, repeats=5, velocities=None) -> PeerResult:
    """One step, and the time of its iterations; arguments as in pbat_vbd.run."""
    points, tets, pinned = np.asarray(points, float), np.asarray(tets), np.asarray(pinned, bool)
    velocities = np.zeros_like(points) if velocities is None else np.where(pinned[:, None], 0.0, velocities)
    scene = {"mu": mu, "lam": lam, "density": density, "gravity": gravity, "pinned": pinned, "velocities": velocities}
    integrator, colours = build_integrator(points, tets, **scene)
    start_x, start_v = np.array(integrator.x), np.array(integrator.v)

    def reset():
        integrator.x, integrator.v = start_x, start_v

    def step(count):
        integrator.step(h, count, 1)

    step(iterations)
    positions = np.array(integrator.x).T
    timing = time_iterations(reset, step, repeats)
    return PeerResult(
        name=f"pbatoolkit {importlib.metadata.version('pbatoolkit')} XPBD, CPU",
        threads=len(os.sched_getaffinity(0)),
        positions=positions,
        milliseconds_per_iteration=timing.per_iteration,
        milliseconds_per_step_fixed=timing.fixed,
        n_iterations=iterations,
        note=f"double precision, {colours} colours, {timing}",
    )
