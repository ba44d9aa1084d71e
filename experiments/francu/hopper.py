"""Outflow of a silo through a round hole in its flat bottom, over four openings (Beverloo et al. 1961).

    W = C rho sqrt(g) (D - k d)^(5/2)

so that W^(2/5) is linear in the opening D. The silo is 28 diameters wide, openings are 10 to 14.5 diameters.

python -m experiments.francu.hopper
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import pliant as pl

RESULTS = Path(__file__).with_name("results")
R = 0.01
D = 2 * R
OPENINGS = (10.0, 11.5, 13.0, 14.5)  # diameters
RADIUS, HEIGHT = 14 * D, 20 * D  # of the silo and of what fills it [m]
BEGIN, END = 12, 29  # frames of 1/60 s between which it is measured


def bottom(opening: float, segments: int = 64) -> pl.TriMesh:
    """A plate with a hole."""
    angle = 2 * np.pi * np.arange(segments) / segments
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(segments)])
    i, n = np.arange(segments), segments
    j = (i + 1) % n
    triangles = np.concatenate([np.column_stack([i, i + n, j + n]), np.column_stack([i, j + n, j])])
    return pl.TriMesh(np.concatenate([0.5 * opening * ring, 1.3 * RADIUS * ring]), triangles)


def outflow(ratio: float) -> tuple[float, float]:
    """Mass [kg] that runs out in a second through a hole of so many diameters, and the mean diameter [m]."""
    scene = pl.Scene()
    scene.add_mesh_obstacle(bottom(ratio * D), friction=0.3)
    wall = pl.shapes.funnel(opening=2 * RADIUS, radius=1.001 * RADIUS, height=2 * HEIGHT, segments=48)
    scene.add_mesh_obstacle(wall.transformed(translation=(0, 0, HEIGHT)), friction=0.3)
    space = (RADIUS - R, HEIGHT)
    points = pl.shapes.packed_spheres(
        space, radius=R, fill="cylinder", spacing=1.02, jitter=0.8, arrangement="hexagonal"
    )
    radii = np.random.default_rng(1).uniform(0.9 * R, R, len(points))
    points += np.array([0, 0, 1.1 * R - points[:, 2].min()])
    grains = scene.add_particles(points, radius=radii, friction=0.3)
    sim = pl.Simulation(scene, pl.VelocityTimeStepping(), substeps=4)
    out = []
    for _ in range(END + 1):
        sim.advance()
        out.append(float(grains.masses[grains.positions[:, 2] < -D].sum()))
    return (out[END] - out[BEGIN]) / ((END - BEGIN) / 60), 2 * float(radii.mean())


def fit(openings: np.ndarray, rates: np.ndarray, diameter: float) -> tuple[float, float]:
    """k of the law, and the exponent of the effective opening D - k d over all of them."""
    slope, height = np.polyfit(openings, rates**0.4, 1)
    k = -height / slope / diameter
    exponent = np.polyfit(np.log(openings - k * diameter), np.log(rates), 1)[0]
    return float(k), float(exponent)


def main() -> None:
    """Measure all openings."""
    found = [outflow(ratio) for ratio in OPENINGS]
    rates, diameter = np.array([rate for rate, _ in found]), found[0][1]
    k, exponent = fit(np.array(OPENINGS) * D, rates, diameter)
    numbers = {"openings [d]": OPENINGS, "outflow [kg/s]": rates.round(3).tolist(), "k": k, "exponent": exponent}
    (RESULTS / "hopper.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    print(numbers)


if __name__ == "__main__":
    main()
