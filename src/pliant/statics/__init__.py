"""Static equilibria: load stepping, a load step, which motions are free, reactions, and the result."""

from pliant.statics.load_stepping import equilibrium
from pliant.statics.result import Equilibrium, StaticReport

__all__ = ["Equilibrium", "StaticReport", "equilibrium"]
