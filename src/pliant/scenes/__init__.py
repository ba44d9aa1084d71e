"""Functions that return a Scene: shared by the demo, the tests, the benchmarks and the experiments."""

from pliant.scenes.beams import hanging_beam, twisted_beam
from pliant.scenes.blocks import cube

__all__ = ["cube", "hanging_beam", "twisted_beam"]
