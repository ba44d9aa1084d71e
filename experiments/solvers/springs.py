"""Wang and Yang 2016, Figure 4: descent and projective dynamics on a net of springs.

python -m experiments.solvers.springs
"""

from __future__ import annotations

import numpy as np
from experiments.solvers import curves

import pliant as pl


def net(cells: int = 60) -> pl.IncrementalPotential:
    """A square metre of springs along edges and diagonals, held at two corners, after 10 frames of falling."""
    mesh = pl.shapes.cloth(size=(1, 1), cells=(cells, cells))
    corners = mesh.triangles
    edges = np.unique(
        np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]), axis=1), axis=0
    )
    scene = pl.Scene()
    body = scene.add_springs(mesh.points, edges, stiffness=1000.0, mass=0.2 / len(mesh.points))
    held = np.lexsort((mesh.points[:, 0], mesh.points[:, 1]))[[0, cells]]
    body.pin(held)
    sim = pl.Simulation(scene, pl.Newton(residual=1e-6), frame_rate=30, substeps=1, precision="double")
    for _ in range(10):
        sim.advance()
    return sim.problem()


def solvers() -> dict:
    """The paper's two at the same kind of iteration, with and without Chebyshev; and the direct one."""
    projective = pl.ProjectiveDynamics(200, global_step="jacobi")
    return {
        "ours": pl.GradientDescent(200),
        "ours + Chebyshev": pl.Chebyshev(pl.GradientDescent(200), 0.98),
        "projective, Jacobi": projective,
        "projective, Jacobi + Chebyshev": pl.Chebyshev(projective, 0.98),
        "projective, Gauss-Seidel": pl.ProjectiveDynamics(200, global_step="gauss-seidel"),
        "projective, direct": pl.ProjectiveDynamics(200),
        "projective, direct + Anderson": pl.Anderson(pl.ProjectiveDynamics(200)),
        "VBD": pl.VBD(200),
    }


def run(coarse: bool = False) -> None:
    curves.save("springs", pl.compare(net(12 if coarse else 60), solvers(), threads=1, progress=True))


if __name__ == "__main__":
    run()
