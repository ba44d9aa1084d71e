"""Write src/pliant/materials/jersey.json, the yarn cloth that Pliant ships: a synthetic fit in Sperl et al.'s format.

Stretch and shear are of Fung's type, k / (2 beta) (exp(beta e^2) - 1); bending is quadratic about a curvature at which
the fabric would like to rest, of opposite signs along courses and wales as in jersey, so that free edges curl; stretch
and curvature of one direction are coupled such that a stretched fabric lies flat, and stretch of both directions as
by Poisson's ratio.  Knots are few: this is a test asset, not a measurement.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

SCALES = [0.6, 0.7, 0.6, 200.0, 200.0]
STRETCH = {0: (30.0, 1.5), 1: (8.0, 1.0), 2: (45.0, 1.5)}  # k [N/m] and beta
BENDING = {3: (1.2e-5, -60.0), 4: (1.0e-5, 50.0)}  # B [N m] and the curvature at rest [1/m]
COUPLING = {(0, 2): 10.0, (0, 3): -1.5e-3, (2, 4): 1.2e-3}  # c of c e_i e_j, in the units of their product
OUT = Path(__file__).parent.parent / "src/pliant/materials/jersey.json"


def line(k: int) -> dict:
    """Values and slopes of one strain by its scale; zero at rest."""
    t, scale = np.linspace(-1, 1, 9), SCALES[k]
    e = t * scale
    if k in STRETCH:
        stiffness, beta = STRETCH[k]
        p, slope = stiffness / (2 * beta) * np.expm1(beta * e**2), stiffness * e * np.exp(beta * e**2)
    else:
        stiffness, rest = BENDING[k]
        p, slope = 0.5 * stiffness * ((e - rest) ** 2 - rest**2), stiffness * (e - rest)
    return {"k": k, "t": t.tolist(), "p": p.tolist(), "m": (slope * scale).tolist()}


def surface(pair: tuple[int, int]) -> dict:
    """c u v by the scales."""
    c, t = COUPLING[pair] * SCALES[pair[0]] * SCALES[pair[1]], np.linspace(-1, 1, 5)
    v, u = np.meshgrid(t, t, indexing="ij")
    arrays = {"p": c * u * v, "mu": c * v, "mv": c * u, "muv": c + 0 * u}
    written = {name: array.ravel().tolist() for name, array in arrays.items()}
    return {"k0": pair[0], "k1": pair[1], "tu": t.tolist(), "tv": t.tolist(), **written}


def main() -> None:
    constant = sum(0.5 * stiffness * rest**2 for stiffness, rest in BENDING.values())
    coefficients = {"const": constant, "1D": [line(k) for k in range(5)], "2D": [surface(pair) for pair in COUPLING]}
    document = {
        "density": 0.2,
        "strain scale": SCALES,
        "strain shift": [1, 0, 1, 0, 0],
        "coeffs": coefficients,
    }
    rounded = json.loads(json.dumps(document), parse_float=lambda text: float(f"{float(text):.12g}"))
    OUT.write_text(json.dumps(rounded, indent=None, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
