"""VBD, Figures 17 and 18: an armadillo released from stretch, soft and ten times stiffer, by all solvers.

python -m experiments.solvers.release
"""

from __future__ import annotations

import sys

from experiments.solvers import curves, problems

import pliant as pl

SOFT = 2e5  # mu [Pa]; the paper gives none
RHO = 0.95  # of the accelerated ones, as in the paper


def solvers() -> dict:
    """Those of Figure 17, and the others of this project; iterations so that those that reach 0.01 do so."""
    return {
        "VBD": pl.VBD(2000),
        "VBD + Chebyshev": pl.Chebyshev(pl.VBD(2000), RHO),
        "VBD + Chebyshev, rho 0.99": pl.Chebyshev(pl.VBD(2000), 0.99),
        "gradient descent": pl.GradientDescent(2000),
        "gradient descent + Chebyshev": pl.Chebyshev(pl.GradientDescent(2000), RHO),
        "block Jacobi": pl.BlockJacobi(2000),
        "block Jacobi + Chebyshev": pl.Chebyshev(pl.BlockJacobi(2000), RHO),
        "Newton, Cholesky": pl.Newton(15),
        "Newton, CG": pl.Newton(15, linear="cg"),
        "Laplacian quasi-Newton": pl.LaplacianQuasiNewton(100),
        "nonlinear CG": pl.NonlinearCG(500),
        "L-BFGS": pl.LBFGS(500),
        "VBD + Anderson": pl.Anderson(pl.VBD(300)),
    }


def run(coarse: bool = False) -> None:
    for name, factor in (("soft", 1.0), ("stiff", 10.0)):
        problem = problems.armadillo(factor * SOFT, coarse)
        curves.save(f"release_{name}", pl.compare(problem, solvers(), threads=1, progress=True))


if __name__ == "__main__":
    run("--coarse" in sys.argv)
