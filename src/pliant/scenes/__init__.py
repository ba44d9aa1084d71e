"""Functions that return a Scene: shared by the demo, the tests, the benchmarks and the experiments."""

from pliant.garbage import uncollected

with uncollected():  # the command imports almost all of Pliant from here and from pliant.scenes.plans
    from pliant.scenes.beams import hanging_beam, twisted_beam
    from pliant.scenes.blocks import cube

__all__ = ["cube", "hanging_beam", "twisted_beam"]
