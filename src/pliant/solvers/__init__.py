"""Solvers of one step, and the parts that wrap them."""

from pliant.solvers.anderson import Anderson
from pliant.solvers.backtracking import Backtracking
from pliant.solvers.block_jacobi import BlockJacobi
from pliant.solvers.chebyshev import Chebyshev
from pliant.solvers.contract.loop import Execution, Solver, solve
from pliant.solvers.contract.report import SolveReport, Stop
from pliant.solvers.gpbd import GPBD
from pliant.solvers.gradient_descent import GradientDescent
from pliant.solvers.inertial_momentum import HeavyBall, Nesterov
from pliant.solvers.laplacian_quasi_newton import LaplacianQuasiNewton
from pliant.solvers.lbfgs import LBFGS
from pliant.solvers.newton import Newton
from pliant.solvers.nonlinear_cg import NonlinearCG
from pliant.solvers.projective_dynamics import ProjectiveDynamics
from pliant.solvers.vbd import VBD
from pliant.solvers.xpbd import XPBD

SOLVERS = {
    solver.__name__: solver
    for solver in (
        VBD,
        Newton,
        GradientDescent,
        BlockJacobi,
        NonlinearCG,
        LBFGS,
        LaplacianQuasiNewton,
        ProjectiveDynamics,
        XPBD,
        GPBD,
        Chebyshev,
        Nesterov,
        HeavyBall,
        Anderson,
        Backtracking,
    )
}

__all__ = [
    "GPBD",
    "LBFGS",
    "SOLVERS",
    "VBD",
    "XPBD",
    "Anderson",
    "Backtracking",
    "BlockJacobi",
    "Chebyshev",
    "Execution",
    "GradientDescent",
    "HeavyBall",
    "LaplacianQuasiNewton",
    "Nesterov",
    "Newton",
    "NonlinearCG",
    "ProjectiveDynamics",
    "SolveReport",
    "Solver",
    "Stop",
    "solve",
]
