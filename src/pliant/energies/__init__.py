"""Energy, gradient and Hessian: written once in double precision, for all solvers and all tests."""

from pliant.energies.potential import IncrementalPotential

__all__ = ["IncrementalPotential"]
