"""Wang and Yang 2016, Figures 2c, 3 and 5: descent methods, how often diag(H) is measured, and accelerations.

python -m experiments.solvers.descent
"""

from __future__ import annotations

import sys

from experiments.solvers import curves, problems
from experiments.solvers.release import SOFT

import pliant as pl

ITERATIONS = 200  # the paper shows 96
RATE = 100  # steps a second; at 30, as in release.py, 96 iterations of descent leave 0.77 to 0.9 whatever is done


def methods() -> dict:
    """Figure 2c."""
    n = ITERATIONS
    return {
        "gradient descent": pl.GradientDescent(n),
        "ours (gradient descent + Chebyshev)": pl.Chebyshev(pl.GradientDescent(n), 0.97),
        "nonlinear CG": pl.NonlinearCG(n, preconditioned=False),
        "nonlinear CG, preconditioned": pl.NonlinearCG(n),
        "L-BFGS": pl.LBFGS(n, preconditioned=False),
        "L-BFGS, preconditioned": pl.LBFGS(n),
        "Newton": pl.Newton(10),
    }


def refreshes() -> dict:
    """Figure 3."""
    return {f"M = {m}": pl.Chebyshev(pl.GradientDescent(96, refresh=m), 0.97) for m in (1, 4, 8, 16, 32, 64)}


def accelerations(phases: dict[int, tuple]) -> dict:
    """Figure 5: tuned phases beside one rho, Nesterov and nothing; and Anderson, which the paper does not have."""
    plain = pl.GradientDescent(96)
    tuned = {f"Chebyshev, {k} phases": pl.Chebyshev(plain, found) for k, found in phases.items()}
    return {
        "none": plain,
        "Nesterov": pl.Nesterov(plain),
        **tuned,
        "Anderson": pl.Anderson(plain),
    }


def tuned_phases(problem: pl.IncrementalPotential) -> dict[int, tuple]:
    """Phases for this step, by the tuner's own trials."""
    from pliant.comparison.tuning import tune_on

    return {k: tune_on([problem], pl.GradientDescent(96), k) for k in (1, 2, 4)}


def run(coarse: bool = False) -> None:
    problem = problems.stretched(SOFT, coarse).released(RATE)
    curves.save("descent_methods", pl.compare(problem, methods(), threads=1, progress=True))
    curves.save("descent_refresh", pl.compare(problem, refreshes(), threads=1, progress=True))
    phases = tuned_phases(problem)
    print("tuned:", phases)
    curves.save("descent_acceleration", pl.compare(problem, accelerations(phases), threads=1, progress=True))


if __name__ == "__main__":
    run("--coarse" in sys.argv)
