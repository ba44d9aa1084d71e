"""Figure 23 of the vertex block descent paper: 60 rigid bodies dropped into a teapot.

    python -m experiments.rigid.teapot

The paper drops bodies that it does not describe into the Utah teapot, and one of them stays on the spout. Ours: scene
(c) of benchmarks.rigid, 60 convex meshes of 12 corners, 3 to 5 cm long, above the pot of the gallery, which has a
narrow neck and no spout, with mu = 0.4, default settings, h = 1/300 s. What is measured: how many end in the pot, how
deep a corner was within another body or the pot's wall, and how fast the heap is in the end.
"""

from __future__ import annotations

import numpy as np
from benchmarks.rigid import H, simulation
from benchmarks.rigid_scenes import deepest, teapot
from experiments.rigid.results_of import picture, save

RIM, WIDEST = 0.4, 0.31  # [m] height of the pot's mouth and its largest radius
EVERY = 5  # steps per look and per frame of the picture


def measure(count: int = 60, seconds: float = 1.5, strip: bool = False) -> dict[str, float]:
    """Over the motion, and at its end."""
    about = teapot(count)
    sim, bodies = simulation(about)
    among, anything, iterations = 0.0, 0.0, []
    settled: list[float] = []  # [m] the same, look after look

    def look() -> None:
        nonlocal among, anything
        poses = np.array([b.position for b in bodies]), np.array([b.orientation for b in bodies])
        among = max(among, deepest(about, *poses))
        settled.append(deepest(about, *poses))
        anything = max(anything, float(sim.contacts.penetrations.max(initial=0.0)))

    recorder = sim.record(picture("teapot"), every=10 * EVERY) if strip else None
    for step in range(round(seconds / H)):
        iterations.append(sim.step().iterations)
        if step % EVERY == EVERY - 1:
            look()
    if recorder is not None:
        recorder.close()
    places = np.array([b.position for b in bodies])
    inside = (places[:, 2] < RIM) & (np.linalg.norm(places[:, :2], axis=1) < WIDEST) & (places[:, 2] > 0)
    speeds = np.array([np.linalg.norm(b.velocity) for b in bodies])
    return {
        "bodies": count,
        "in the pot at the end": int(inside.sum()),
        "deepest corner within another body [mm]": 1e3 * among,
        "the same at the end [mm]": 1e3 * settled[-1],
        "deepest contact, the pot included [mm]": 1e3 * anything,
        "median speed at the end [mm/s]": 1e3 * float(np.median(speeds)),
        "largest speed at the end [mm/s]": 1e3 * float(speeds.max()),
        "iterations per step": float(np.mean(iterations)),
    }


def main() -> None:
    save("teapot", measure(strip=True))


if __name__ == "__main__":
    main()
