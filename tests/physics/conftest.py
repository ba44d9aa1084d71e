"""Problems of statics."""

from collections.abc import Callable

import numpy as np
import pytest

import pliant as pl

LONG = 1e3  # [s] a step in which inertia holds less than a millionth of a millionth of a weight


@pytest.fixture(scope="session")
def at_rest() -> Callable[..., tuple[np.ndarray, dict[str, float]]]:
    """A function: positions (n, 3) and energies in which all forces on a scene balance, from where it starts."""

    def settle(scene: pl.Scene, step: float = LONG, residual: float = 1e-8) -> tuple[np.ndarray, dict[str, float]]:
        problem = pl.Simulation(scene, pl.Newton(), frame_rate=1 / step, substeps=1).problem()
        report = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=60, residual=residual))
        assert report.residual <= residual
        return report.x, problem.energies(report.x)

    return settle
