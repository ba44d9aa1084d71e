"""The box of Wang and Yang's Figures 10 and 11: bottom held, top stretched, pressed or twisted, law after law.

The top is led through a row of positions, at each of which Newton's method finds the equilibrium: a step of 1e4 s
leaves nothing of inertia.  The force is what holds the top there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import pliant as pl

SIZE, CELLS = np.array([1.0, 1.0, 2.0]), (4, 4, 8)  # the paper gives neither
S0, S1 = 1e4, 1e6  # the paper's moduli of Equations 13 to 15 [Pa]; it gives no numbers
S2, S3 = 0.5e4, 1.0  # Mooney-Rivlin's and Fung's second modulus [Pa], and the growth of Fung's exponential
STEP = 1e4  # [s]
RESIDUAL = 1e-3  # [m/s^2] when an equilibrium counts as found


def laws() -> dict[str, pl.materials.SolidLaw]:
    """Every law with the same s_0 and s_1: what Mooney-Rivlin and Fung have beside them comes on top.

    s_0 (III^(-1/3) I - 3) has the shear modulus 2 s_0.  s_1 is taken as the bulk modulus.  St. Venant-Kirchhoff has its
    own two moduli in the paper: here the same shear modulus and Poisson's ratio 1/4, because with that of the others,
    0.49, it has no sides left beyond the stretch 1.74.
    """
    mu = 2 * S0
    lam = S1 - 2 * mu / 3
    mooney, fung = 2 * (S0 + S2), 2 * (S0 + S2 * S3)
    return {
        "neo-Hookean": pl.CompressibleNeoHookean(mu, lam),
        "Mooney-Rivlin": pl.MooneyRivlin(mooney, S1 - 2 * mooney / 3, share=S2 / (S0 + S2)),
        "Fung": pl.Fung(fung, S1 - 2 * fung / 3, share=S2 * S3 / (S0 + S2 * S3), growth=S3),
        "St. Venant-Kirchhoff": pl.StVenantKirchhoff(mu, mu),
        "stable neo-Hookean": pl.StableNeoHookean(mu, lam),
        "neo-Hookean, logarithmic": pl.NeoHookean(mu, lam),
        "co-rotated": pl.Corotated(mu, lam),
        "ARAP": pl.ARAP(mu),
    }


@dataclass(frozen=True)
class Curve:
    """A box led through a row of amounts: stretch ratios, or angles of twist [rad]."""

    amounts: np.ndarray  # (k,)
    efforts: np.ndarray  # (k,) force along the amount [N], or torque [N m]; NaN where Newton's method did not converge
    energies: np.ndarray  # (k,) elastic energy [J]
    positions: np.ndarray  # (n, 3) at the last that converged [m]


def led_top(points: np.ndarray, kind: str, amount: float) -> np.ndarray:
    """Positions (k, 3) of the top's vertices."""
    if kind == "twist":
        c, s = np.cos(amount), np.sin(amount)
        return points @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    return points + np.array([0, 0, (amount - 1) * SIZE[2]])


def effort(kind: str, x: np.ndarray, forces: np.ndarray) -> float:
    """What the top is held by: the force up [N], or the torque about the axis [N m]."""
    if kind == "twist":
        return float(np.sum(x[:, 0] * forces[:, 1] - x[:, 1] * forces[:, 0]))
    return float(forces[:, 2].sum())


def load(law: pl.materials.SolidLaw, kind: str, amounts: np.ndarray, cells=CELLS) -> Curve:
    """Lead the top of a box through the amounts; the first is at rest. It ends where a step does not converge."""
    mesh = pl.shapes.box(SIZE, cells, split="kuhn")
    top, bottom = (np.isclose(mesh.points[:, 2], side * SIZE[2] / 2) for side in (1, -1))
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(mesh, law, density=1.0)
    body.pin(bottom)
    body.move(top, lambda t: led_top(mesh.points[top], kind, amounts[min(round(t / STEP), len(amounts) - 1)]))
    sim = pl.Simulation(scene, pl.Newton(iterations=1, start="previous"), frame_rate=1 / STEP, substeps=1)
    efforts, energies, x = np.full(len(amounts), np.nan), np.full(len(amounts), np.nan), mesh.points
    efforts[0] = energies[0] = 0.0
    for k in range(1, len(amounts)):
        problem = sim.problem()
        report = pl.solve(problem, pl.Newton(), x0=_followed(x, mesh.points, kind, amounts[k - 1 : k + 1]),
                          stop=pl.Stop(iterations=60, residual=RESIDUAL / 10))  # fmt: skip
        if report.residual > RESIDUAL:
            break
        x = report.x
        efforts[k] = effort(kind, x[top], problem.gradient(x)[top])
        energies[k] = problem.energies(x)["elastic"]
        sim.state.x[:] = x
        sim.state.v[:] = sim.state.v_previous[:] = 0.0
        sim.state.step += 1
    return Curve(amounts, efforts, energies, x)


def _followed(x: np.ndarray, rest: np.ndarray, kind: str, amounts: np.ndarray) -> np.ndarray:
    """The last equilibrium, carried on in proportion to the height so that no tet is crushed under the top."""
    height = (rest[:, 2:] + SIZE[2] / 2) / SIZE[2]
    if kind == "twist":
        turn = (amounts[1] - amounts[0]) * height[:, 0]
        c, s = np.cos(turn), np.sin(turn)
        return np.column_stack([c * x[:, 0] - s * x[:, 1], s * x[:, 0] + c * x[:, 1], x[:, 2]])
    return x + height * (0, 0, (amounts[1] - amounts[0]) * SIZE[2])
