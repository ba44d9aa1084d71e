"""One step of a stretched beam, solved by three solvers and measured by the same ruler.

python examples/compare_solvers.py [iterations]     writes compare_solvers.png (needs matplotlib)
"""

import sys

import matplotlib
import numpy as np

import pliant as pl
from pliant import scenes

matplotlib.use("Agg")  # draws into a file: no display needed
from matplotlib import pyplot as plt

iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 200
scene = scenes.hanging_beam(cells=(16, 4, 4))
beam = scene.bodies[0]
# Stretched by a tenth along its length, from the end that is held. (Stretched much further, a step has several
# stationary points, and solvers need not end in the same one.)
stretched = np.array(beam.mesh.points)
stretched[:, 0] += 0.1 * (stretched[:, 0] - stretched[:, 0].min())
beam.set_positions(stretched)

problem = pl.Simulation(scene, precision="double").problem()
solvers = {
    "VBD": pl.VBD(iterations=iterations),
    "VBD + Chebyshev, rho 0.9": pl.Chebyshev(pl.VBD(iterations=iterations), rho=0.9),
    "Newton": pl.Newton(iterations=12),
}
reference = pl.solve(problem, pl.Newton(iterations=30))
for name, solver in solvers.items():
    report = pl.solve(problem, solver)
    above = report.energies[-1] - reference.energies[-1]
    print(
        f"{name:<26} {report.iterations:4d} iterations  residual {report.residual:9.2e} m/s^2  energy + {above:.1e} J"
    )
    plt.semilogy(report.measured_at, np.maximum(report.residuals, 1e-12), label=name)
plt.xlabel("iterations")
plt.ylabel("residual [m/s$^2$]")
plt.legend()
plt.savefig("compare_solvers.png", dpi=120)
