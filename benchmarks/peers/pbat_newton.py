"""Newton's method of pbatoolkit 0.0.11 on the common scene.

It has no integrator for it: its users put one together from its parts, as here. Gradient and Hessian come from
`fem.hyper_elastic_potential`, with negative eigenvalues of elements projected to zero, and a simplicial LDL^T
factorisation with AMD ordering from `math.linalg`, analysed once.

Energy      stable neo-Hookean; l = lam + mu is passed, as in its VBD, so that the energy is ours.
Step        whole, without line search: on this scene none is needed.
Precision   double. Threads: as many as its assembly takes; the factorisation has one.
"""

import importlib.metadata
import time

import numpy as np
import scipy.sparse as sp
from pbatoolkit import pbat

from benchmarks.peers.result import PeerResult, lumped_masses

fem = pbat.fem
TET = {"element": fem.Element.Tetrahedron}


def run(points, tets, *, mu, lam, density, gravity, h, iterations, pinned, velocities=None) -> PeerResult:
    """One implicit Euler step of so many iterations from the inertial target; the mean time of an iteration."""
    n, pinned = len(points), np.asarray(pinned, bool)
    velocities = np.zeros_like(points) if velocities is None else np.where(pinned[:, None], 0.0, velocities)
    masses, _ = lumped_masses(points, tets, density)
    target = points + np.where(pinned[:, None], 0.0, h * velocities + h * h * np.asarray(gravity))
    elements, nodes = np.asfortranarray(tets.T, dtype=np.int64), np.asfortranarray(points.T)
    weights = fem.mesh_quadrature_weights(elements, nodes, **TET).ravel(order="F")
    gradients = fem.shape_function_gradients(elements, nodes, **TET)
    lame = (np.full(len(tets), mu), np.full(len(tets), lam + mu))
    mesh = (elements, n, np.arange(len(tets)), weights, gradients, *lame)
    wanted = fem.ElementElasticityComputationFlags.Gradient | fem.ElementElasticityComputationFlags.Hessian
    options = {"flags": wanted, "spd_correction": fem.HyperElasticSpdCorrection.Projection, **TET}
    inertia, free = np.repeat(masses / h**2, 3), np.flatnonzero(np.repeat(~pinned, 3))
    solver = pbat.math.linalg.SimplicialLdlt_Csc_AMD()
    x = target.ravel().copy()
    began = np.nan
    for k in range(iterations + 1):
        if k == 1:
            began = time.perf_counter()  # the first one analyses the pattern and is not timed
        _, gradient, hessian = fem.hyper_elastic_potential(*mesh, x, **options)
        matrix = (hessian + sp.diags_array(inertia))[free][:, free].tocsc()
        if k == 0:
            solver.analyze(matrix)
        solver.factorize(matrix)
        x[free] -= solver.solve((gradient + inertia * (x - target.ravel()))[free])
    seconds = (time.perf_counter() - began) / iterations
    name = f"pbatoolkit {importlib.metadata.version('pbatoolkit')} Newton"
    note = "double precision, put together from its parts"
    return PeerResult(name, 1, x.reshape(-1, 3), 1e3 * seconds, 0.0, iterations + 1, note)
