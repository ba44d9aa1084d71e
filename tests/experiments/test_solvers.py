"""The experiments on solvers: tables are those of the results, and a small run gives what it is for."""

import numpy as np
from experiments.solvers import curves, springs, tables

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
