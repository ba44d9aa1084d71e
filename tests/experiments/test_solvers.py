"""The experiments on solvers: tables are those of the results, and a small run gives what it is for."""

import numpy as np
import pytest
from experiments.solvers import curves, springs, tables
from experiments.solvers.problems import step_number

import pliant as pl


def test_readme_is_up_to_date():
    text = tables.README.read_text()
    assert tables.filled(text) == text, "run python -m experiments.solvers.tables --write"


def test_direct_projection_leads_on_a_net_of_springs():
    """After one iteration it is below an error that Jacobi's does not reach in eight (Wang and Yang, Figure 4)."""
    solvers = {"direct": pl.ProjectiveDynamics(8), "jacobi": pl.ProjectiveDynamics(8, global_step="jacobi")}
    numbers = curves.numbers_of(pl.compare(springs.net(6), solvers, threads=1))
    assert numbers["vertices"] == 49
    direct, jacobi = (numbers["runs"][name] for name in solvers)
    assert direct["iterations_and_ms_to_error"]["0.1"][0] == 1
    assert jacobi["error_after_iterations"]["8"] > 0.1
    assert np.isfinite(direct["error_at_end"])


def test_step_number_of_a_regular_tet():
    """Edges of 2 m, a wave of sqrt(mu / density) = 3 m/s and steps of 1/5 s: (0.6 / 2)^2."""
    points = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) / np.sqrt(2)
    mesh = pl.TetMesh(points, [(0, 1, 2, 3)], orient=True)
    assert step_number(mesh, mu=9000.0, density=1000.0, rate=5.0) == pytest.approx(0.09)
