"""Where VBD with Chebyshev is ahead: the released body of Figure 17 in steps of many lengths.

What matters is h^2 mu / (density dx^2): how many edges a shear wave passes in a step, squared.

python -m experiments.solvers.steps
"""

from __future__ import annotations

import json
import sys

from experiments.solvers import curves, problems
from experiments.solvers.release import RHO, SOFT

import pliant as pl

RATES = {"bunny-1.9k": (3, 10, 30, 100, 300, 1000), "armadillo-15k": (30, 100, 300)}  # steps a second
ACCURACIES = (1e-1, 1e-2)


def solvers() -> dict:
    return {
        "VBD": pl.VBD(1000),
        "VBD + Chebyshev": pl.Chebyshev(pl.VBD(1000), RHO),
        "Laplacian quasi-Newton": pl.LaplacianQuasiNewton(60),
        "nonlinear CG": pl.NonlinearCG(300),
        "L-BFGS": pl.LBFGS(300),
        "Newton, CG": pl.Newton(10, linear="cg"),
    }


def scan(body: problems.Stretched, rates: tuple[int, ...]) -> list[dict]:
    """Of every step: its number, and iterations, time and setup [ms] with which each solver reaches an accuracy."""
    rows = []
    for rate in rates:
        comparison = pl.compare(body.released(rate), solvers(), threads=1)
        rows.append(
            {
                "vertices": len(body.positions),
                "steps_a_second": rate,
                "h2_mu_over_density_dx2": body.step_number(rate),
                "iterations_and_ms_to_error": {
                    f"{a:g}": {run.name: _cell(run.reaches(a)) for run in comparison.runs} for a in ACCURACIES
                },
                "setup_ms": {run.name: 1e3 * run.setup_seconds for run in comparison.runs},
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    return rows


def _cell(reached: tuple[int, float] | None) -> list | None:
    return None if reached is None else [reached[0], 1e3 * reached[1]]


def run(coarse: bool = False) -> None:
    rows = scan(problems.stretched(SOFT, True), RATES["bunny-1.9k"])
    if not coarse:
        rows += scan(problems.stretched(SOFT), RATES["armadillo-15k"])
    curves.FOLDER.mkdir(exist_ok=True)
    (curves.FOLDER / "steps.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    run("--coarse" in sys.argv)
