"""All experiments of this folder and the tables of its README, one after another.

python -m experiments.solvers.run            about half an hour on a quiet machine
python -m experiments.solvers.run --coarse   small meshes, minutes
"""

from __future__ import annotations

import sys

from experiments.solvers import beside_xpbd, descent, release, springs, squishy, starts, steps, tables

if __name__ == "__main__":
    coarse = "--coarse" in sys.argv
    for experiment in (springs, starts, descent, beside_xpbd, squishy, steps, release):
        experiment.run(coarse)
    tables.write()
