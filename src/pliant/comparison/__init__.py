"""Solvers beside each other, on the same step or the same motion, measured by the same ruler."""

from pliant.comparison.motion import MotionComparison, compare_motion
from pliant.comparison.step import Comparison, compare
from pliant.comparison.tuning import load_phases, save_phases, tune_chebyshev

__all__ = [
    "Comparison",
    "MotionComparison",
    "compare",
    "compare_motion",
    "load_phases",
    "save_phases",
    "tune_chebyshev",
]
