"""Reference motions: every step solved by Newton's method until the residual vanishes."""

from __future__ import annotations

import pliant as pl

RESIDUAL = 1e-6  # [m/s^2]


def converged_step(sim: pl.Simulation, residual: float = RESIDUAL) -> pl.SolveReport:
    """Advance a simulation by one step solved to the residual [m/s^2], whatever its own solver is."""
    problem, old = sim.problem(), sim.state
    report = pl.solve(problem, pl.Newton(), stop=pl.Stop(residual=residual, iterations=50))
    if not report.reason.startswith("converged"):
        raise RuntimeError(f"the reference did not converge at t = {sim.time:g} s: {report.reason}.")
    sim.state = pl.State(report.x, (report.x - old.x) / sim.h, old.v, old.step + 1)
    return report
