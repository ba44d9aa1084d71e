"""What a field of distances costs: building it, and asking it for the distance and normal of vertices.

python -m experiments.gpbd.field     CPU time of one thread, the least of some runs
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.contact.primitives.shapes import measure_all
from pliant.lanes.compiled import cached
from pliant.model.distance_field import DistanceField

RESULTS = Path(__file__).with_name("results") / "field.json"
RESOLUTION, RUNS = 128, 7


def least(work) -> float:
    """CPU seconds."""
    found = []
    for _ in range(RUNS + 1):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found[1:])


def main() -> None:
    mesh = pl.shapes.torus(cells=28).surface()
    built = least(lambda: DistanceField(mesh, RESOLUTION))
    field = DistanceField(mesh, RESOLUTION)
    size = np.ptp(mesh.points, axis=0)
    sheet = pl.shapes.cloth(size=(size[0], size[1]), cells=(256, 256)).points + mesh.points.mean(axis=0)
    points = np.ascontiguousarray(sheet + np.array([0, 0, 0.3 * size[2]]))
    shuffled = np.random.default_rng(0).permutation(points)
    distances, normals = np.empty(len(points)), np.empty((len(points), 3))
    query = {
        order: 1e9 * least(lambda p=p: cached(measure_all)(field.kind, field.row(0.0), p, distances, normals)) / len(p)
        for order, p in (("neighbours", points), ("shuffled", shuffled))
    }
    ball = pl.Scene().add_sphere((0, 0, 0), 1.0)
    sphere = least(lambda: cached(measure_all)(ball.kind, ball.row(0.0), points, distances, normals)) / len(points)
    numbers = {"triangles": mesh.n_triangles, "built_s": built, "query_ns": query, "sphere_ns": 1e9 * sphere}
    print(numbers)
    RESULTS.write_text(json.dumps(numbers, indent=1) + "\n")


if __name__ == "__main__":
    main()
