"""The contract of a solver: what its class declares, which methods it has, what it keeps and what a solve reports.

A file of the catalogue imports from here and from `pliant.solvers.machinery`, never from another solver.
"""

from pliant.solvers.contract.capabilities import Capabilities, check_device, check_supports, unsupported_feature
from pliant.solvers.contract.checks import check_count, check_start
from pliant.solvers.contract.execution import Execution
from pliant.solvers.contract.momentum import Momentum
from pliant.solvers.contract.registry import SOLVERS, register_solver
from pliant.solvers.contract.report import SolveReport, Stop, SweepResult
from pliant.solvers.contract.solver import MomentumSolver, Solver, check_solver
from pliant.solvers.contract.step_error import StepError
from pliant.solvers.contract.work import Work

__all__ = [
    "SOLVERS",
    "Capabilities",
    "Execution",
    "Momentum",
    "MomentumSolver",
    "SolveReport",
    "Solver",
    "StepError",
    "Stop",
    "SweepResult",
    "Work",
    "check_count",
    "check_device",
    "check_solver",
    "check_start",
    "check_supports",
    "register_solver",
    "unsupported_feature",
]
