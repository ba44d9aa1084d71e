"""Solvers of one step, and the parts that wrap them."""

from pliant.solvers.chebyshev import Chebyshev
from pliant.solvers.gpbd import GPBD
from pliant.solvers.iterate import Execution, Solver, solve
from pliant.solvers.newton import Newton
from pliant.solvers.stopping import SolveReport, Stop
from pliant.solvers.vbd import VBD
from pliant.solvers.xpbd import XPBD

SOLVERS = {solver.__name__: solver for solver in (VBD, Newton, Chebyshev, XPBD, GPBD)}

__all__ = [
    "GPBD",
    "SOLVERS",
    "VBD",
    "XPBD",
    "Chebyshev",
    "Execution",
    "Newton",
    "SolveReport",
    "Solver",
    "Stop",
    "solve",
]
