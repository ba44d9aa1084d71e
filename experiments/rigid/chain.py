"""Figure 22 of the vertex block descent paper: five rigid rings that hold each other by contact alone.

    python -m experiments.rigid.chain

Rings of 0.2 m across, 0.03 m thick, 0.7 kg each; the first is held, the others hang in it and start turned by 0.3 rad
about the first, so that the chain swings. Two seconds; rings are linked as long as the linking number of their
centre lines (Gauss's integral) is 1 in size.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from experiments.rigid.results_of import frames, picture, save

import pliant as pl
from pliant.geometry import rotations

MAJOR, MINOR, COUNT, SECONDS, G = 0.085, 0.015, 5, 2.0, 9.81
SOLVERS = {"VBD, 100 iterations": pl.VBD(iterations=100), "default": None}


def chain() -> tuple[pl.Scene, list[pl.RigidBody]]:
    """Rings in turn along x and y, each in contact with the one above."""
    mesh = pl.shapes.torus(MAJOR, MINOR, cells=2, segments=32)
    apart = 2 * (MAJOR - MINOR) - 3e-3
    tilt = rotations.from_vectors(np.array([0.3, 0, 0]))
    scene, rings = pl.Scene(contact=pl.Contact(friction=0.2)), []
    for k in range(COUNT):
        upright = rotations.from_vectors(np.array([np.pi / 2, 0, 0]))
        turn = rotations.products(rotations.from_vectors(np.array([0, 0, np.pi / 2 * (k % 2)])), upright)
        place = np.array([0, 0, -apart * k])
        if k:
            turn, place = rotations.products(tilt, turn), rotations.matrices(tilt) @ place
        rings.append(scene.add_rigid(mesh, density=5000.0, position=place, orientation=turn, name=f"ring{k}"))
    rings[0].pin()
    return scene, rings


def linking_number(a: pl.RigidBody, b: pl.RigidBody, count: int = 200) -> float:
    """Of the centre lines of two rings."""
    angle = 2 * np.pi * np.arange(count) / count
    circle = MAJOR * np.stack([np.cos(angle), np.sin(angle), np.zeros(count)], 1)
    lines = [circle @ rotations.matrices(ring.orientation).T + ring.position for ring in (a, b)]
    ways = [np.roll(line, -1, axis=0) - line for line in lines]
    middles = [line + 0.5 * way for line, way in zip(lines, ways, strict=True)]
    r = middles[0][:, None] - middles[1][None]
    area = np.einsum("ija,ija->ij", r, np.cross(ways[0][:, None], ways[1][None]))
    return float((area / np.linalg.norm(r, axis=2) ** 3).sum() / (4 * np.pi))


def measure(solver: pl.Solver | None, strip: bool = False) -> dict[str, float]:
    """How well the chain holds, over the motion."""
    scene, rings = chain()
    sim = pl.Simulation(scene, solver)
    linked, deepest, forces = 1.0, 0.0, []
    for _ in frames(sim, round(60 * SECONDS), picture("chain") if strip else None):
        linked = min(linked, *(abs(linking_number(*pair)) for pair in pairwise(rings)))
        deepest = max(deepest, float(sim.contacts.penetrations.max(initial=0.0)))
        forces.append(rings[0].contact_force[2])
    weight = sum(ring.mass for ring in rings[1:]) * G
    return {
        "least linking number": linked,
        "deepest penetration [mm]": 1e3 * deepest,
        "mean force on the held ring in the second half, over the weight": -np.mean(forces[len(forces) // 2 :])
        / weight,
    }


def main() -> None:
    for name, solver in SOLVERS.items():
        save(f"chain_{name.split(',')[0].lower()}", measure(solver, solver is None))


if __name__ == "__main__":
    main()
