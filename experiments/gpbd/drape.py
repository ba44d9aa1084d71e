"""Drape coefficients of yarn cloth after Cusick: a disc of 150 mm radius, held on one of 90 mm, hangs over its edge.

python -m experiments.gpbd.drape [FOLDER [NAME ...]]     with fabrics of Sperl et al., stock1.json and others; else the
                                                         jersey. What is in the file of results already is kept.

The coefficient is the area of the shadow beyond the support over that of the flat ring: 1 is a plate, 0 hangs straight.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.viewer.pictures import Surface, bands, draw

RADIUS, SUPPORT = 0.15, 0.09  # [m]
RINGS, AROUND = 14, 54
SECONDS, FRAME_RATE, SUBSTEPS = 1.5, 60, 3
PIXELS = 600  # along the disc's diameter
RESULTS = Path(__file__).with_name("results")


def disc() -> pl.TriMesh:
    """Rings of vertices, every second one turned by half a cell, so that no direction is that of all edges."""
    radii = np.linspace(0, RADIUS, RINGS + 1)
    points, rings = [[0.0, 0.0, 0.0]], [np.array([0])]
    for k, radius in enumerate(radii[1:], 1):
        count = max(6, round(AROUND * k / RINGS))
        angle = 2 * np.pi * (np.arange(count) + 0.5 * (k % 2)) / count
        rings.append(len(points) + np.arange(count))
        points += np.column_stack([radius * np.cos(angle), radius * np.sin(angle), 0 * angle]).tolist()
    from scipy.spatial import Delaunay

    flat = np.array(points)
    triangles = Delaunay(flat[:, :2]).simplices
    corner = flat[triangles]
    turned = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])[:, 2] < 0
    triangles[turned] = triangles[turned][:, [0, 2, 1]]
    return pl.TriMesh(flat, triangles)


def shadow(points: np.ndarray, triangles: np.ndarray) -> float:
    """Area [m^2] that triangles cover, seen from above: pixels whose centres are in one."""
    cell = 2 * RADIUS / PIXELS
    covered = np.zeros((PIXELS + 2, PIXELS + 2), bool)
    corners = (points[triangles][:, :, :2] + RADIUS) / cell + 1
    for a, b, c in corners:
        low = np.maximum(np.floor(np.minimum(np.minimum(a, b), c)).astype(int), 0)
        high = np.minimum(np.ceil(np.maximum(np.maximum(a, b), c)).astype(int), PIXELS + 2)
        x, y = np.meshgrid(np.arange(low[0], high[0]) + 0.5, np.arange(low[1], high[1]) + 0.5, indexing="ij")
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if area == 0 or not x.size:
            continue
        u = ((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) / area
        v = ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / area
        covered[low[0] : high[0], low[1] : high[1]] |= (u >= 0) & (v >= 0) & (u + v <= 1)
    return float(covered.sum() * cell**2)


def drape(material: pl.YarnCloth, picture: Path) -> dict[str, float | str]:
    """As `draped`; with line search and shorter steps where the run blows up without."""
    try:
        return draped(material, picture, pl.VBD(iterations=30), SUBSTEPS)
    except pl.SimulationError:
        pass
    try:
        return draped(material, picture, pl.VBD(iterations=30, line_search=True), 2 * SUBSTEPS) | {"line_search": 1.0}
    except pl.SimulationError as error:
        return {"blows_up": str(error)}


def draped(material: pl.YarnCloth, picture: Path, solver: pl.Solver, substeps: int) -> dict[str, float | str]:
    """Let the disc fall until it rests; its coefficient, lowest point and speed at the end."""
    mesh = disc()
    scene = pl.Scene()
    sheet = scene.add_cloth(mesh, material, damping=5e-3)
    sheet.air_damping = 4.0
    radius = np.linalg.norm(mesh.points[:, :2], axis=1)
    sheet.pin(radius < SUPPORT + 1e-6)
    start = mesh.points.copy()
    start[:, 2] = np.where(radius > SUPPORT + 1e-6, np.random.default_rng(0).normal(0, 1e-4, len(start)), 0)
    sheet.set_positions(start)
    sim = pl.Simulation(scene, solver=solver, frame_rate=FRAME_RATE, substeps=substeps)
    for _ in sim.frames(round(SECONDS * FRAME_RATE)):
        pass
    x = sheet.positions
    colour = bands(mesh.points, mesh.triangles, 0, 12, (0.28, 0.52, 0.78))
    draw(x, Surface(mesh.triangles, colour), picture, height=360, azimuth=-60, elevation=35)
    flat = shadow(mesh.points, mesh.triangles)
    held = np.pi * SUPPORT**2
    return {
        "drape_coefficient": (shadow(x, mesh.triangles) - held) / (flat - held),
        "lowest_mm": 1e3 * float(x[:, 2].min()),
        "rms_speed_mm_s": 1e3 * float(np.sqrt((sim.velocities**2).sum(axis=1).mean())),
        "density_kg_m2": material.density,
    }


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    names = sys.argv[2:] or (sorted(path.stem for path in folder.glob("*.json")) if folder else ["jersey"])
    kept = RESULTS / "drape.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    for name in names:
        material = pl.YarnCloth(folder / f"{name}.json") if folder else pl.YarnCloth(name)
        found[name] = drape(material, RESULTS / f"drape_{name}.png")
        print(name, found[name], flush=True)
        kept.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
