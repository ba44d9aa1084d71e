"""The catalogue of solvers of one step: one file and one line each, in the order in which lists show them.

`contract` is what every solver keeps to, `machinery` what they are built from.
"""

# ruff: noqa: I001
from pliant.solvers.contract.registry import SOLVERS as SOLVERS
from pliant.solvers.vbd import VBD as VBD
from pliant.solvers.avbd import AVBD as AVBD
from pliant.solvers.newton import Newton as Newton
from pliant.solvers.gradient_descent import GradientDescent as GradientDescent
from pliant.solvers.block_jacobi import BlockJacobi as BlockJacobi
from pliant.solvers.nonlinear_cg import NonlinearCG as NonlinearCG
from pliant.solvers.lbfgs import LBFGS as LBFGS
from pliant.solvers.laplacian_quasi_newton import LaplacianQuasiNewton as LaplacianQuasiNewton
from pliant.solvers.projective_dynamics import ProjectiveDynamics as ProjectiveDynamics
from pliant.solvers.xpbd import XPBD as XPBD
from pliant.solvers.gpbd import GPBD as GPBD
from pliant.solvers.velocity_time_stepping import VelocityTimeStepping as VelocityTimeStepping
from pliant.solvers.sequential_positions import SequentialPositions as SequentialPositions
from pliant.solvers.position_based import PositionBased as PositionBased

# accelerators, which wrap another solver
from pliant.solvers.chebyshev import Chebyshev as Chebyshev
from pliant.solvers.nesterov import Nesterov as Nesterov
from pliant.solvers.heavy_ball import HeavyBall as HeavyBall
from pliant.solvers.anderson import Anderson as Anderson
from pliant.solvers.backtracking import Backtracking as Backtracking
from pliant.solvers.multilevel import Multilevel as Multilevel

# the default, which chooses among them
from pliant.solvers.auto import Auto as Auto

# what callers of solvers need
from pliant.solvers.contract import (
    Capabilities as Capabilities,
    Execution as Execution,
    MomentumSolver as MomentumSolver,
    Solver as Solver,
    SolveReport as SolveReport,
    Stop as Stop,
    SweepResult as SweepResult,
    Work as Work,
    register_solver as register_solver,
)
from pliant.solvers.contract.loop import solve as solve
