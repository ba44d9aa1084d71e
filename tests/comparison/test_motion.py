"""Motions by several solvers and by Newton's method to convergence."""

import pliant as pl
from pliant import scenes


def test_more_iterations_come_nearer_to_the_converged_motion():
    """Fifty iterations end within a tenth of the distance that two do; Newton itself within 1e-6."""
    solvers = {"2": pl.VBD(2), "50": pl.VBD(50), "Newton": pl.Newton(iterations=8)}
    result = pl.compare_motion(
        lambda: scenes.hanging_beam(cells=(8, 2, 2)), solvers, frames=4, substeps=2, precision="double"
    )
    few, many, newton = (run.distances for run in result.runs)
    assert len(few) == len(many) == len(newton) == 4
    assert many[-1] < 0.1 * few[-1]
    assert max(newton) < 1e-6
    assert all(run.ended == "did all frames" for run in result.runs)
