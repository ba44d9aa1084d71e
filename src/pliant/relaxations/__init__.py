"""Iterative solvers of a ConstraintProblem, each usable in each scheme: one file and one line each."""

# ruff: noqa: I001
from pliant.relaxations.relaxation import RELAXATIONS as RELAXATIONS
from pliant.relaxations.relaxation import Relaxation as Relaxation
from pliant.relaxations.relaxation import relaxation_of as relaxation_of
from pliant.relaxations.improved_jacobi import ImprovedJacobi as ImprovedJacobi
from pliant.relaxations.jacobi import Jacobi as Jacobi
from pliant.relaxations.gauss_seidel import GaussSeidel as GaussSeidel
from pliant.relaxations.improved_gauss_seidel import ImprovedGaussSeidel as ImprovedGaussSeidel
from pliant.relaxations.minimum_residual import MinimumResidual as MinimumResidual
from pliant.relaxations.conjugate_residuals import ConjugateResiduals as ConjugateResiduals
